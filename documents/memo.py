"""What a search found, as JSON documents: its groups, their members, goals and winners."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

from ..algebra.properties import DeliveredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import Group, Winner
from ..notation.names import Names
from ..optimizer import Optimization
from ..optimizer.extraction import delivered_by_winners
from ..optimizer.goals import Choice, Goal
from ..optimizer.steps import in_order
from ..optimizer.why import goals_of
from ..planning.planner import Planned
from .trace import choice_document

Delivered = dict[tuple[int, Any], DeliveredProperties]


def groups(planned: Planned) -> list[dict[str, Any]]:
    """All groups of the memo, by their numbers."""
    search = planned.optimization.search
    names = Names(planned.catalog.time_unit)
    delivered = delivered_by_winners(search)
    asked: dict[int, list[Goal]] = {}
    for goal in search.goals:
        asked.setdefault(goal.group, []).append(goal)
    return [
        _group(group, asked.get(group.id, []), planned.optimization, names, delivered)
        for group in search.memo.groups
    ]


def chosen(planned: Planned) -> list[dict[str, Any]]:
    """By node of the plan: the goal that it is the winner of, and the expression that it runs.

    The expression of an enforcer is null, and what is required is where the time was up before
    any goal was reached.
    """
    found = planned.optimization
    names = Names(planned.catalog.time_unit)
    required = found.required
    goals = {} if required is None else goals_of(found.search, found.best, required)
    return [
        {
            "node": node,
            "group": step.group,
            "required": names.required(goals[node].required) if node in goals else None,
            "expression": _expression(step.source),
        }
        for node, (step, _) in enumerate(in_order(found.best))
    ]


def _group(
    group: Group,
    goals: Sequence[Goal],
    found: Optimization,
    names: Names,
    delivered: Delivered,
) -> dict[str, Any]:
    search = found.search
    return {
        "id": group.id,
        "columns": group.properties.width,
        "reads": [f"{leaf.stream}.{leaf.label}" for leaf in search.side.leaves(group.properties)],
        "estimate": _estimate(search.estimate(group.id)),
        "expressions": [
            {
                "id": e.id,
                "text": names.over(e.operator, e.inputs),
                "inputs": list(e.inputs),
                "rule": e.rule or None,
                "source": e.source.id if e.source is not None else None,
            }
            for e in group.expressions
        ],
        "winners": sorted(
            (
                _winner(
                    names.required(required), winner, names, delivered.get((group.id, required))
                )
                for required, winner in group.winners.items()
            ),
            key=lambda winner: str(winner["required"]),
        ),
        "goals": sorted(
            (_goal(goal, found, names) for goal in goals),
            key=lambda goal: str(goal["required"]),
        ),
    }


def _estimate(estimate: Characteristics) -> dict[str, Any]:
    return {
        "rate": estimate.arrival_rate,
        "interval": _finite(estimate.validity),
        "population": estimate.population,
        "distinct": list(estimate.distinct),
    }


def _winner(
    required: str, winner: Winner, names: Names, delivers: DeliveredProperties | None
) -> dict[str, Any]:
    assert isinstance(winner.choice, Choice)
    inputs = [group for group, _ in winner.inputs]
    return {
        "required": required,
        **choice_document(winner.choice, inputs, names),
        "cost": winner.cost,
        "local": winner.local,
        "inputs": [
            {"group": group, "required": names.required(asked)} for group, asked in winner.inputs
        ],
        "delivers": None if delivers is None else _delivered(delivers),
    }


def _delivered(delivers: DeliveredProperties) -> dict[str, Any]:
    return {
        "distribution": str(delivers.distribution),
        "coalesced": delivers.coalesced,
        "update_pattern": delivers.update_pattern,
        "convention": delivers.convention,
    }


def _goal(goal: Goal, found: Optimization, names: Names) -> dict[str, Any]:
    # No way was looked at where all that reads the goal was too dear without it.
    ways = found.search.ways(goal) if goal.best is not None or goal.failed >= 0 else ()
    return {
        "required": names.required(goal.required),
        "done": goal.done,
        "at_least": _finite(goal.at_least),
        "ways": [_way(choice, inputs, names) for choice, inputs in ways],
    }


def _way(choice: Choice, inputs: Sequence[Goal], names: Names) -> dict[str, Any]:
    at_least = sum([below.at_least for below in inputs], choice.local)
    return {
        **choice_document(choice, [below.group for below in inputs], names),
        "inputs": [
            {"group": below.group, "required": names.required(below.required)} for below in inputs
        ],
        "local": choice.local,
        "at_least": _finite(at_least),
        "exact": all(below.done for below in inputs),
    }


def _expression(source: int | None) -> int | None:
    return None if source is None or source < 0 else source


def _finite(value: float) -> float | None:
    return None if isinf(value) else value

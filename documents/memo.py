"""What a search found, as JSON documents: its groups, their members, goals and winners."""

from __future__ import annotations

from math import isinf
from typing import Any

from ..algebra.properties import DeliveredProperties
from ..costmodel.characteristics import Characteristics
from ..memo import Winner
from ..notation.names import Names
from ..optimizer.goals import Choice
from ..optimizer.result import FoundAlternative, FoundGoal, FoundGroup
from ..optimizer.steps import in_order
from ..planning.planner import Planned
from .search import choice_document


def groups(planned: Planned) -> list[dict[str, Any]]:
    """All groups of the memo, by their numbers."""
    names = Names(planned.catalog.time_unit)
    return [_group(group, names) for group in planned.optimization.space.groups()]


def chosen(planned: Planned) -> list[dict[str, Any]]:
    """By node of the plan: the goal that it is the winner of, and the expression that it runs.

    The expression of an enforcer is null, and so is the requirement where the time was up before
    any goal was reached.
    """
    found = planned.optimization
    names = Names(planned.catalog.time_unit)
    required = found.requirements()
    return [
        {
            "node": node,
            "group": step.group,
            "required": names.required(required[node]) if node in required else None,
            "expression": _expression(step.source),
        }
        for node, (step, _) in enumerate(in_order(found.best))
    ]


def _group(group: FoundGroup, names: Names) -> dict[str, Any]:
    return {
        "id": group.id,
        "columns": group.width,
        "reads": [f"{scan.stream}.{scan.label}" for scan in group.scans],
        "estimate": _estimate(group.estimate),
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
                _winner(names.required(required), winner, names, delivers)
                for required, (winner, delivers) in group.winners.items()
            ),
            key=lambda winner: str(winner["required"]),
        ),
        "goals": sorted(
            (_goal(goal, names) for goal in group.goals),
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


def _goal(goal: FoundGoal, names: Names) -> dict[str, Any]:
    return {
        "required": names.required(goal.required),
        "done": goal.done,
        "at_least": _finite(goal.at_least),
        "ways": [_alternative(alternative, names) for alternative in goal.alternatives],
    }


def _alternative(found: FoundAlternative, names: Names) -> dict[str, Any]:
    return {
        **choice_document(found.choice, [group for group, _ in found.inputs], names),
        "inputs": [
            {"group": group, "required": names.required(required)}
            for group, required in found.inputs
        ],
        "local": found.choice.local,
        "at_least": _finite(found.at_least),
        "exact": found.exact,
    }


def _expression(source: int | None) -> int | None:
    return None if source is None or source < 0 else source


def _finite(value: float) -> float | None:
    return None if isinf(value) else value

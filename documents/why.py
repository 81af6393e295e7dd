"""The reasons for the chosen plan, node by node."""

from __future__ import annotations

from math import isclose, isinf
from typing import Literal

from ..memo import GroupExpression, Memo
from ..notation.names import Names
from ..optimizer import why
from ..planning.planner import Planned
from .model import Document, finite

Decided = Literal["own cost", "inputs", "order", "only way", "bound", "budget"]


class Ancestor(Document):
    """An expression, and the rule that made it."""

    rule: str | None
    id: int
    group: int
    text: str


class RunnerUp(Document):
    """The next best alternative for the same rows."""

    text: str
    rule: str
    enforcers: tuple[str, ...]
    cost: float | None
    exact: bool
    at_least: float
    difference: float | None
    own: float
    inputs: float | None


class Reason(Document):
    """The reason for an operator: its rules, its alternatives, and what decided."""

    group: int
    required: str
    text: str
    rule: str
    cost: float
    local: float
    lineage: tuple[Ancestor, ...]
    ways: int
    mirrored: int
    runner_up: RunnerUp | None
    decided: Decided


def reason_documents(planned: Planned) -> dict[str, Reason]:
    """The reason of each node of the plan, by its id.

    There is none where the time was up before anything was costed: the query runs as written.
    """
    found = planned.optimization
    names = Names(planned.catalog.time_unit)
    return {
        str(node): _reason(reason, names, found.memo) for node, reason in found.reasons().items()
    }


def _reason(reason: why.Reason, names: Names, memo: Memo) -> Reason:
    choice, other = reason.choice, reason.runner_up
    return Reason(
        group=reason.group,
        required=names.required(reason.required),
        text=names.over(choice, [group for group, _ in reason.winner.inputs]),
        rule=choice.rule,
        cost=reason.winner.cost,
        local=reason.winner.local,
        lineage=tuple(_ancestor(e, names, memo) for e in reason.lineage),
        ways=reason.alternatives,
        mirrored=reason.mirrored,
        runner_up=None if other is None else _runner_up(other, names),
        decided=_decided(reason),
    )


def _ancestor(expression: GroupExpression, names: Names, memo: Memo) -> Ancestor:
    # The expression may have been removed since, and its groups merged: name what they are now.
    return Ancestor(
        rule=expression.rule or None,
        id=expression.id,
        group=memo.find(expression.group),
        text=names.over(expression.operator, [memo.find(i) for i in expression.inputs]),
    )


def _runner_up(other: why.RunnerUp, names: Names) -> RunnerUp:
    inputs = tuple(map(names.goal, other.choice.inputs, other.required))
    return RunnerUp(
        text=names.show(other.choice, inputs),
        rule=other.choice.rule,
        enforcers=tuple(enforcer.operator.op for enforcer in other.enforcers),
        cost=finite(other.cost),
        exact=other.exact,
        at_least=other.at_least,
        difference=finite(other.difference),
        own=other.own,
        inputs=finite(other.inputs),
    )


def _decided(reason: why.Reason) -> Decided:
    """What decided for the winner.

    ``order``: the costs are equal, and the first plan found is kept. ``bound``: the other way is
    only known to cost more. ``budget``: the search ended before it costed the other way.
    """
    other = reason.runner_up
    if other is None:
        return "only way"
    if isinf(other.cost):
        return "bound"
    if isclose(other.cost, reason.winner.cost, rel_tol=1e-9):
        return "order"
    if other.difference < 0:
        return "budget"
    return "own cost" if other.own >= other.inputs else "inputs"

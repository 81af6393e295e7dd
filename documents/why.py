"""The reasons for the chosen plan, node by node."""

from __future__ import annotations

from math import isclose, isinf
from typing import Literal

from ..memo import GroupExpression, Memo
from ..notation.names import Names
from ..optimizer import SearchResult, why
from ..planning.planner import Planned
from .model import Document, finite

Decided = Literal["own cost", "inputs", "order", "only way", "bound", "budget", "margin", "sharing"]


class Ancestor(Document):
    """An expression, and the rule that added it."""

    rule: str | None
    id: int
    group: int
    text: str


class RunnerUp(Document):
    """The cheapest other alternative of a goal; costs are in microseconds per time unit.

    Attributes:
        text: the operator over its inputs.
        rule: the rule that proposed the operator.
        enforcers: the names of the enforcers above it, the outermost first.
        cost: the cost of the alternative; null for an infinite one.
        exact: whether ``cost`` is exact; false for a pruned alternative.
        at_least: a lower bound of the cost.
        difference: the cost minus the winner's cost; null for an infinite one.
        own: the part of the difference from the operators themselves.
        inputs: the part of the difference from the inputs; null for an infinite one.
    """

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
    """The reason for an operator: its rules, its alternatives, and the deciding difference.

    Attributes:
        group: the group of the goal.
        required: the properties required of the group.
        text: the operator over its input groups.
        rule: the rule that proposed the operator.
        cost: the cost of the winner, in microseconds per time unit.
        local: the cost of the operator alone, in the same unit.
        lineage: the expressions from the query as written to this one.
        ways: the number of alternatives.
        mirrored: the number of alternatives that only swap inputs.
        runner_up: the cheapest other alternative, if any.
        decided: the deciding difference to the runner-up.
    """

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
    """Returns the reason for each node of the plan, by node id.

    Returns no reasons if the search found no cheaper plan than its start plan or the query as
    written.
    """
    result = planned.optimization
    names = Names(planned.catalog.time_unit)
    return {str(node): _reason(reason, names, result) for node, reason in result.reasons().items()}


def _reason(reason: why.Reason, names: Names, result: SearchResult) -> Reason:
    choice, other = reason.choice, reason.runner_up
    return Reason(
        group=reason.group,
        required=names.required(reason.required),
        text=names.over(choice, [group for group, _ in reason.winner.inputs]),
        rule=choice.rule,
        cost=reason.winner.cost,
        local=reason.winner.local,
        lineage=tuple(_ancestor(e, names, result.memo) for e in reason.lineage),
        ways=reason.alternatives,
        mirrored=reason.mirrored,
        runner_up=None if other is None else _runner_up(other, names),
        decided=_decided(reason, result),
    )


def _ancestor(expression: GroupExpression, names: Names, memo: Memo) -> Ancestor:
    # A later merge may have removed the expression: name the groups that its groups became.
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


def _decided(reason: why.Reason, result: SearchResult) -> Decided:
    """Returns the deciding difference between the winner and the runner-up.

    ``order``: the costs are equal, and the first plan stays. ``bound``: the runner-up was pruned,
    and only a lower bound of its cost is known. ``budget``: the search ended before it costed the
    runner-up. ``margin``: the runner-up is cheaper, but the plan as written is kept. ``sharing``:
    the tree of the runner-up is cheaper, but its plan has the greater shared cost.
    """
    other = reason.runner_up
    if other is None:
        return "only way"
    if isinf(other.cost):
        return "bound"
    if isclose(other.cost, reason.winner.cost, rel_tol=1e-9):
        return "order"
    if other.difference < 0:
        if result.winners is None:
            return "budget"
        return "sharing" if result.kept_as_written is None else "margin"
    return "own cost" if other.own >= other.inputs else "inputs"

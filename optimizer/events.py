"""The events of a search, in order, and their listeners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..algebra.properties import RequiredProperties
from ..memo import Group, GroupExpression, GroupId, MemoListener, Winner
from ..memo.pattern import Match
from .goals import Alternative, Choice, Goal


@dataclass(frozen=True, slots=True)
class GroupAdded:
    """A new group."""

    step: int
    group: GroupId


@dataclass(frozen=True, slots=True)
class ExpressionAdded:
    """A new member of a group."""

    step: int
    group: GroupId
    expression: GroupExpression


@dataclass(frozen=True, slots=True)
class GroupsMerged:
    """Two groups were found equal."""

    step: int
    survivor: GroupId
    absorbed: GroupId


@dataclass(frozen=True, slots=True)
class RuleApplied:
    """A rule was applied to one binding.

    Attributes:
        step: the number of the event.
        rule: the name of the rule.
        matched: the ids of the bound expressions.
        results: the number of expressions that the rule yielded.
        new: the number of yielded expressions that were not in the memo.
        known: the ids of the yielded expressions that were in the memo.
    """

    step: int
    rule: str
    matched: tuple[int, ...]
    results: int
    new: int
    known: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WinnerChanged:
    """A cheaper plan was found for a goal.

    Attributes:
        step: the number of the event.
        group: the group of the goal.
        required: the required properties of the goal.
        winner: the cheaper plan.
        inputs: the costs per time unit of the plans that the winner reads.
        before: the cost per time unit of the replaced plan; None for the first plan.
    """

    step: int
    group: GroupId
    required: RequiredProperties
    winner: Winner
    inputs: tuple[float, ...]
    before: float | None

    @property
    def cost(self) -> float:
        """The cost of the plan per time unit."""
        return self.winner.cost


@dataclass(frozen=True, slots=True)
class AlternativePruned:
    """An alternative of a goal was left because it costs more than a bound.

    Attributes:
        step: the number of the event.
        group: the group of the goal.
        required: the required properties of the goal.
        choice: the operator of the alternative.
        cost: the cost of the alternative per time unit, or a lower bound of the cost.
        exact: whether ``cost`` is the cost itself.
        bound: the cost per time unit below which a plan would win.
    """

    step: int
    group: GroupId
    required: RequiredProperties
    choice: Choice
    cost: float
    exact: bool
    bound: float


@dataclass(frozen=True, slots=True)
class CostsForgotten:
    """All winners were forgotten, since groups merged after they were costed."""

    step: int


Event = (
    GroupAdded
    | ExpressionAdded
    | GroupsMerged
    | RuleApplied
    | WinnerChanged
    | AlternativePruned
    | CostsForgotten
)


class Listener(Protocol):
    """Receives every event, in order."""

    def __call__(self, event: Event, /) -> None:
        """Handles an event."""
        ...


@dataclass(slots=True)
class EventLog:
    """A listener that keeps every event."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event, /) -> None:
        """Keeps an event."""
        self.events.append(event)


class Events(MemoListener):
    """Numbers the events of one search and passes them to its listeners."""

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self._listeners = tuple(listeners)
        self._step = 0
        self.wanted = bool(listeners)
        """Whether anyone listens; if not, callers need not prepare events."""

    def group_added(self, group: Group) -> None:
        """Reports a new group."""
        if self.wanted:
            self._tell(GroupAdded, group.id)

    def expression_added(self, expression: GroupExpression) -> None:
        """Reports a new member."""
        if self.wanted:
            self._tell(ExpressionAdded, expression.group, expression)

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Reports a merge of groups."""
        if self.wanted:
            self._tell(GroupsMerged, survivor.id, absorbed.id)

    def rule_applied(
        self, rule: str, match: Match, results: int, new: int, known: Sequence[int]
    ) -> None:
        """Reports the application of a rule."""
        if self.wanted:
            matched = tuple(e.id for e in match.expressions)
            self._tell(RuleApplied, rule, matched, results, new, tuple(known))

    def winner_changed(
        self, group: GroupId, goal: Goal, inputs: Sequence[Goal], before: float | None
    ) -> None:
        """Reports a cheaper plan for a goal of the group."""
        if self.wanted and goal.best is not None:
            costs = tuple([below.best.cost for below in inputs if below.best is not None])
            self._tell(WinnerChanged, group, goal.required, goal.best, costs, before)

    def pruned(self, goal: Goal, alternative: Alternative, cost: float, bound: float) -> None:
        """Reports that an alternative was pruned at ``cost``, as it cannot be the cheapest."""
        if self.wanted:
            choice, inputs = alternative
            costs = [below.best.cost for below in inputs if below.done and below.best is not None]
            exact = len(costs) == len(inputs) and cost == sum(costs, choice.local)
            self._tell(AlternativePruned, goal.group, goal.required, choice, cost, exact, bound)

    def costs_forgotten(self) -> None:
        """Reports that all winners were forgotten."""
        if self.wanted:
            self._tell(CostsForgotten)

    def _tell(self, kind: Callable[..., Event], *details: object) -> None:
        self._step += 1
        event = kind(self._step, *details)
        for listener in self._listeners:
            listener(event)


@dataclass(slots=True)
class RuleStatistics:
    """Counts of one rule: bindings tried, results, results already in the memo, milliseconds."""

    bindings: int = 0
    fired: int = 0
    duplicates: int = 0
    ms: float = 0.0

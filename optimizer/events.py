"""The events of a search, in order, and those who listen to them."""

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

    ``matched`` are the ids of the expressions bound, ``results`` the number of expressions that
    the rule yielded, ``new`` how many of them were not in the memo, and ``known`` the ids of those
    that were.
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

    ``inputs`` are the costs of the plans that the winner reads, ``before`` the cost of the plan
    that it replaces, None for the first one.
    """

    step: int
    group: GroupId
    required: RequiredProperties
    winner: Winner
    inputs: tuple[float, ...]
    before: float | None

    @property
    def cost(self) -> float:
        """What the plan costs per time unit."""
        return self.winner.cost


@dataclass(frozen=True, slots=True)
class AlternativePruned:
    """An alternative of a goal was not followed to the end.

    It costs ``cost``, or at least that if not ``exact``; plans win only below ``bound``.
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
    """Is told of every event, in order."""

    def __call__(self, event: Event, /) -> None:
        """Takes note of an event."""
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
        """Tells of a new group."""
        if self.wanted:
            self._tell(GroupAdded, group.id)

    def expression_added(self, expression: GroupExpression) -> None:
        """Tells of a new member."""
        if self.wanted:
            self._tell(ExpressionAdded, expression.group, expression)

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Tells that groups merged."""
        if self.wanted:
            self._tell(GroupsMerged, survivor.id, absorbed.id)

    def rule_applied(
        self, rule: str, match: Match, results: int, new: int, known: Sequence[int]
    ) -> None:
        """Tells that a rule was applied."""
        if self.wanted:
            matched = tuple(e.id for e in match.expressions)
            self._tell(RuleApplied, rule, matched, results, new, tuple(known))

    def winner_changed(
        self, group: GroupId, goal: Goal, inputs: Sequence[Goal], before: float | None
    ) -> None:
        """Tells that a cheaper plan was found for a goal of the group."""
        if self.wanted and goal.best is not None:
            costs = tuple([below.best.cost for below in inputs if below.best is not None])
            self._tell(WinnerChanged, group, goal.required, goal.best, costs, before)

    def pruned(self, goal: Goal, alternative: Alternative, cost: float, bound: float) -> None:
        """Tells that an alternative was left at ``cost``, as it cannot be the cheapest."""
        if self.wanted:
            choice, inputs = alternative
            costs = [below.best.cost for below in inputs if below.done and below.best is not None]
            exact = len(costs) == len(inputs) and cost == sum(costs, choice.local)
            self._tell(AlternativePruned, goal.group, goal.required, choice, cost, exact, bound)

    def costs_forgotten(self) -> None:
        """Tells that all winners were forgotten."""
        if self.wanted:
            self._tell(CostsForgotten)

    def _tell(self, kind: Callable[..., Event], *details: object) -> None:
        self._step += 1
        event = kind(self._step, *details)
        for listener in self._listeners:
            listener(event)


@dataclass(slots=True)
class RuleStatistics:
    """Counts of one rule: bindings tried, results, known ones among them, and milliseconds."""

    bindings: int = 0
    fired: int = 0
    duplicates: int = 0
    ms: float = 0.0

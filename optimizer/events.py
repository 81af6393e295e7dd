"""What happens during a search, as ordered deltas, and who listens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ..algebra.properties import RequiredProperties
from ..memo import GroupExpression, GroupId
from .goals import Choice


@dataclass(frozen=True, slots=True)
class GroupAdded:
    """A new group."""

    step: int
    group: GroupId


@dataclass(frozen=True, slots=True)
class ExpressionAdded:
    """A new member of a group, and what made it."""

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
    """A rule was applied to one binding; ``results`` of them, ``new`` ones among them.

    ``known`` are the members that it found although they were there.
    """

    step: int
    rule: str
    matched: tuple[int, ...]
    results: int
    new: int
    known: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WinnerChanged:
    """A cheaper plan was found for a goal."""

    step: int
    group: GroupId
    required: RequiredProperties
    cost: float
    before: float | None


@dataclass(frozen=True, slots=True)
class WayLeft:
    """A way to a goal was left: it costs ``cost``, or that at least if not ``exact``, and only
    plans for less than ``bound`` are of use."""

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
    | WayLeft
    | CostsForgotten
)


class Listener(Protocol):
    """Is told of every event, in order."""

    def __call__(self, event: Event, /) -> None:
        """Takes note of an event."""
        ...


@dataclass(slots=True)
class Trace:
    """A listener that keeps everything."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event, /) -> None:
        """Keeps an event."""
        self.events.append(event)


@dataclass(slots=True)
class RuleStatistics:
    """What one rule did: bindings tried, results, how many of them were known, and its time."""

    bindings: int = 0
    fired: int = 0
    duplicates: int = 0
    ms: float = 0.0

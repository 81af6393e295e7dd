"""How a search came to its plan: what each step changed, in order.

A delta is what one step did: the query entered a group, a rule was applied, or a cheaper plan
was found for a goal. Deltas are immutable and say what was added or replaced, so they can be
followed in both directions. Rule applications that change nothing are only counted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from algebra.properties import RequiredProperties
from memo import GroupExpression, GroupId, Memo, Winner
from optimizer.events import (
    Event,
    ExpressionAdded,
    GroupAdded,
    GroupsMerged,
    RuleApplied,
    WinnerChanged,
)

MOST_STEPS = 1000
"""How many deltas a trace keeps of rules, and how many of plans; those beyond are counted."""


@dataclass(frozen=True, slots=True)
class Member:
    """A group expression as it was at a step."""

    id: int
    group: GroupId
    operator: Hashable
    inputs: tuple[GroupId, ...]


@dataclass(frozen=True, slots=True)
class PlanFound:
    """A plan for a group under required properties, and its cost per time unit.

    ``winner`` names the inputs' goals; ``inputs`` are what those cost then. ``before`` is the
    cost of the plan that it replaces; None for the first one. ``again``: there was a plan, but
    groups merged after they were costed, so that all costs were made anew.
    """

    group: GroupId
    required: RequiredProperties
    winner: Winner
    inputs: tuple[float, ...]
    before: float | None
    again: bool


@dataclass(frozen=True, slots=True)
class Delta:
    """What one step changed.

    ``rule`` is the transformation rule, empty for the query as it was written and for plans.
    ``matched`` are the expressions that it was applied to, as they were before. ``added`` are
    new members, of which those in ``groups`` are in new groups; ``merged`` are pairs of the
    group that remains and the one found equal to it.
    """

    step: int
    rule: str = ""
    matched: tuple[Member, ...] = ()
    added: tuple[Member, ...] = ()
    groups: tuple[GroupId, ...] = ()
    merged: tuple[tuple[GroupId, GroupId], ...] = ()
    plan: PlanFound | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The deltas of a search, how many ``more`` there were, and how many rule applications
    found only what was ``known``."""

    deltas: tuple[Delta, ...]
    more: int
    known: int


class Recorder:
    """A listener that makes a trace of the search over one memo.

    It keeps at most ``most`` deltas of the query and rules, and as many of plans.
    """

    def __init__(self, memo: Memo, most: int = MOST_STEPS) -> None:
        self._memo = memo
        self._room = {"rules": most, "plans": most}
        self._deltas: list[Delta] = []
        self._steps = 0
        self._known = 0
        self._members: dict[int, tuple[GroupExpression, Member]] = {}
        self._costed: set[tuple[GroupId, RequiredProperties]] = set()
        self._clear()

    def __call__(self, event: Event) -> None:
        """Takes an event; those that one step caused come before the one that closes it."""
        match event:
            case GroupAdded(group=group):
                self._groups.append(group)
            case ExpressionAdded(expression=expression):
                self._added.append(self._member(expression))
                if not expression.rule:
                    self._close()
            case GroupsMerged(survivor=survivor, absorbed=absorbed):
                self._merged.append((survivor, absorbed))
            case RuleApplied(rule=rule, matched=matched):
                self._close(rule, matched)
            case WinnerChanged():
                self._close()
                self._plan(event)

    @property
    def trace(self) -> Trace:
        """What was recorded up to now."""
        return Trace(tuple(self._deltas), self._steps - len(self._deltas), self._known)

    def _clear(self) -> None:
        self._groups: list[GroupId] = []
        self._added: list[Member] = []
        self._merged: list[tuple[GroupId, GroupId]] = []

    def _close(self, rule: str = "", matched: tuple[int, ...] = ()) -> None:
        added, groups, merged = tuple(self._added), tuple(self._groups), tuple(self._merged)
        self._clear()
        if not (added or merged):
            self._known += bool(rule)
            return
        self._steps += 1
        if not self._takes("rules"):
            return
        before = tuple(self._members[k][1] for k in matched)
        self._deltas.append(Delta(self._steps, rule, before, added, groups, merged))
        if merged:
            # Members of merged groups, and what reads them, are other ones now.
            for expression, _ in tuple(self._members.values()):
                self._member(expression)

    def _plan(self, event: WinnerChanged) -> None:
        self._steps += 1
        if not self._takes("plans"):
            return
        group = self._memo.group(event.group)
        winner = group.winners[event.required]
        inputs = tuple(self._memo.group(g).winners[below].cost for g, below in winner.inputs)
        goal = (group.id, event.required)
        again = event.before is None and goal in self._costed
        self._costed.add(goal)
        found = PlanFound(group.id, event.required, winner, inputs, event.before, again)
        self._deltas.append(Delta(self._steps, plan=found))

    def _takes(self, kind: str) -> bool:
        """Whether there is room for a delta of a kind, which it then takes."""
        self._room[kind] -= 1
        return self._room[kind] >= 0

    def _member(self, e: GroupExpression) -> Member:
        member = Member(e.id, e.group, e.operator, e.inputs)
        self._members[e.id] = (e, member)
        return member

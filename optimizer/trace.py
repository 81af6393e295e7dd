"""How a search came to its plan: what each step changed, in order.

A delta is what one step did: the query entered a group, a rule was applied, or a cheaper plan
was found for a goal. Deltas are immutable and say what was added or replaced, so they can be
followed in both directions. What was tried in vain (a rule that found only what was there, a way
to a goal that costs too much) changes nothing: it is kept only if asked for, and has the number
of the step before it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from ..algebra.properties import RequiredProperties
from ..memo import GroupExpression, GroupId, Memo, Winner
from .events import (
    CostsForgotten,
    Event,
    ExpressionAdded,
    GroupAdded,
    GroupsMerged,
    RuleApplied,
    WayLeft,
    WinnerChanged,
)

MOST_STEPS = 1000
"""How many deltas a trace keeps of each kind; those of rules and plans beyond are counted."""


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
    """What one step changed, or was tried in vain.

    ``rule`` is the transformation rule, empty for the query as it was written and for plans.
    ``matched`` are the expressions that it was applied to, as they were before. ``added`` are
    new members, of which those in ``groups`` are in new groups; ``merged`` are pairs of the
    group that remains, which has the members of both, and the one found equal to it.
    ``changed`` are members that are over other groups since, ``removed`` the numbers of those
    that came to equal another member, or to read their own group. ``known`` are members that
    the rule found although they were there. ``left`` is a way to a goal that was not followed.
    ``forgets``: all plans were forgotten, to be costed anew.
    """

    step: int
    rule: str = ""
    matched: tuple[Member, ...] = ()
    added: tuple[Member, ...] = ()
    groups: tuple[GroupId, ...] = ()
    merged: tuple[tuple[GroupId, GroupId], ...] = ()
    plan: PlanFound | None = None
    changed: tuple[Member, ...] = ()
    removed: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    left: WayLeft | None = None
    forgets: bool = False

    @property
    def kind(self) -> Literal["rules", "plans", "known", "left"] | None:
        """What it counts as where there is room for so many of each; forgetting is free."""
        if self.plan is not None:
            return "plans"
        if self.left is not None:
            return "left"
        if self.forgets:
            return None
        return "rules" if self.added or self.merged else "known"


@dataclass(frozen=True, slots=True)
class Trace:
    """The deltas of a search, how many ``more`` steps there were, how many rule applications
    found only what was ``known``, and how many ways to goals were ``left``."""

    deltas: tuple[Delta, ...]
    more: int
    known: int
    left: int

    def first(self, most: int) -> Trace:
        """The trace with at most so many deltas of each kind."""
        room = dict.fromkeys(("rules", "plans", "known", "left"), most)
        kept: list[Delta] = []
        more = self.more
        for delta in self.deltas:
            kind = delta.kind
            if kind is not None:
                room[kind] -= 1
            if kind is None or room[kind] >= 0:
                kept.append(delta)
            else:
                more += kind in ("rules", "plans")
        return Trace(tuple(kept), more, self.known, self.left)


@dataclass(frozen=True, slots=True)
class Tracing:
    """What a trace is to hold: at most ``most`` deltas of the query and rules, and as many of
    plans; with ``tried`` also of what was tried in vain, as many of each kind."""

    most: int = MOST_STEPS
    tried: bool = False


class Recorder:
    """A listener that makes a trace of the search over one memo."""

    def __init__(self, memo: Memo, what: Tracing = Tracing()) -> None:
        self._memo = memo
        most, tried = what.most, what.tried
        in_vain = most if tried else 0
        self._room = {"rules": most, "plans": most, "known": in_vain, "left": in_vain}
        self._tried = tried
        self._deltas: list[Delta] = []
        self._kept = 0
        self._steps = 0
        self._known = 0
        self._left = 0
        self._members: dict[int, tuple[GroupExpression, Member]] = {}
        self._around: dict[GroupId, set[int]] = {}
        self._removed: set[int] = set()
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
            case RuleApplied():
                self._close(event)
            case WinnerChanged():
                self._close()
                self._plan(event)
            case WayLeft():
                self._left += 1
                if self._takes("left"):
                    self._deltas.append(Delta(self._steps, left=event))
            case CostsForgotten():
                if self._tried and self._costed:
                    self._close()
                    self._deltas.append(Delta(self._steps, forgets=True))

    @property
    def trace(self) -> Trace:
        """What was recorded up to now."""
        more = self._steps - self._kept
        return Trace(tuple(self._deltas), more, self._known, self._left)

    def _clear(self) -> None:
        self._groups: list[GroupId] = []
        self._added: list[Member] = []
        self._merged: list[tuple[GroupId, GroupId]] = []

    def _close(self, applied: RuleApplied | None = None) -> None:
        added, groups, merged = tuple(self._added), tuple(self._groups), tuple(self._merged)
        self._clear()
        if not (added or merged):
            self._known += applied is not None
            if applied is not None and self._takes("known"):
                self._deltas.append(
                    Delta(self._steps, applied.rule, self._before(applied), known=applied.known)
                )
            return
        self._steps += 1
        matched = () if applied is None else self._before(applied)
        changed, removed = self._follow(merged)
        if self._takes("rules"):
            self._kept += 1
            rule = "" if applied is None else applied.rule
            known = () if applied is None else applied.known
            delta = Delta(self._steps, rule, matched, added, groups, merged)
            self._deltas.append(replace(delta, changed=changed, removed=removed, known=known))

    def _before(self, applied: RuleApplied) -> tuple[Member, ...]:
        return tuple(self._members[k][1] for k in applied.matched)

    def _follow(
        self, merged: tuple[tuple[GroupId, GroupId], ...]
    ) -> tuple[tuple[Member, ...], tuple[int, ...]]:
        """The members changed and removed since groups merged: some of those in or over them."""
        touched: set[int] = set()
        for into, gone in merged:
            around = self._around.setdefault(into, set())
            around |= self._around.pop(gone, set())
            touched |= around
        changed: list[Member] = []
        removed: list[int] = []
        for k in sorted(touched - self._removed):
            expression, before = self._members[k]
            if not expression.alive:
                removed.append(k)
                continue
            now = self._member(expression)
            if (now.operator, now.inputs) != (before.operator, before.inputs):
                changed.append(now)
        self._removed.update(removed)
        return tuple(changed), tuple(removed)

    def _plan(self, event: WinnerChanged) -> None:
        self._steps += 1
        if not self._takes("plans"):
            return
        self._kept += 1
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
        for group in (e.group, *e.inputs):
            self._around.setdefault(group, set()).add(e.id)
        return member

"""The trace of a search: what each step changed, in order.

A delta is the change of one step: the query entered a group, a rule was applied, or a cheaper plan
was found for a goal. Deltas are immutable and record added and replaced values, so a reader can
follow them in both directions. A rule whose results were all in the memo and a pruned alternative
change nothing: the trace keeps them only on request, with the number of the step before.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from ..algebra.properties import RequiredProperties
from ..memo import GroupExpression, GroupId, Winner
from .events import (
    AlternativePruned,
    CostsForgotten,
    Event,
    ExpressionAdded,
    GroupAdded,
    GroupsMerged,
    RuleApplied,
    WinnerChanged,
)

MOST_STEPS = 1000
"""The most deltas of each kind in a trace; further deltas of rules and plans are counted."""


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

    Attributes:
        group: the group.
        required: the required properties.
        winner: the plan, with the goals of its inputs.
        inputs: the costs of the input goals at that step, per time unit.
        before: the cost per time unit of the replaced plan; None for the first plan.
        again: whether there was an earlier plan, forgotten because groups merged after they were
            costed.
    """

    group: GroupId
    required: RequiredProperties
    winner: Winner
    inputs: tuple[float, ...]
    before: float | None
    again: bool


@dataclass(frozen=True, slots=True)
class Delta:
    """The change of one step, or something tried without one.

    Attributes:
        step: the number of the step.
        rule: the transformation rule; empty for the query as it was written and for plans.
        matched: the expressions that the rule was applied to, as they were before.
        added: new members.
        groups: the new groups that the new members belong to.
        merged: pairs of the group that remains, which has the members of both, and the group
            found equal to it.
        plan: a plan found for a goal.
        changed: members that read other groups since.
        removed: the ids of members that came to equal another one, or to read their own group.
        known: the ids of the rule's results that were members already.
        pruned: an alternative of a goal that was not followed to the end.
        forgets: whether all plans were forgotten, to be costed anew.
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
    pruned: AlternativePruned | None = None
    forgets: bool = False

    @property
    def kind(self) -> Literal["rules", "plans", "known", "pruned"] | None:
        """The kind whose limit the delta counts against; None if the delta forgets all plans."""
        if self.plan is not None:
            return "plans"
        if self.pruned is not None:
            return "pruned"
        if self.forgets:
            return None
        return "rules" if self.added or self.merged else "known"


@dataclass(frozen=True, slots=True)
class Trace:
    """The deltas of a search.

    ``more`` counts the steps that were not kept, ``known`` the rule applications whose results
    were all in the memo, and ``pruned`` the pruned alternatives.
    """

    deltas: tuple[Delta, ...]
    more: int
    known: int
    pruned: int

    def first(self, most: int) -> Trace:
        """The trace with at most ``most`` deltas of each kind."""
        room = dict.fromkeys(("rules", "plans", "known", "pruned"), most)
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
        return Trace(tuple(kept), more, self.known, self.pruned)


@dataclass(frozen=True, slots=True)
class Tracing:
    """Limits of a trace: at most ``most`` deltas of the query and rules, and ``most`` of plans.

    With ``tried`` the trace also has up to ``most`` rule applications without new members, and up
    to ``most`` pruned alternatives.
    """

    most: int = MOST_STEPS
    tried: bool = False


class Recorder:
    """A listener that makes a trace of one search."""

    def __init__(self, tracing: Tracing = Tracing()) -> None:
        most, tried = tracing.most, tracing.tried
        in_vain = most if tried else 0
        self._room = {"rules": most, "plans": most, "known": in_vain, "pruned": in_vain}
        self._tried = tried
        self._deltas: list[Delta] = []
        self._kept = 0
        self._steps = 0
        self._known = 0
        self._pruned = 0
        self._members: dict[int, tuple[GroupExpression, Member]] = {}
        self._around: dict[GroupId, set[int]] = {}
        self._removed: set[int] = set()
        self._costed: set[tuple[GroupId, RequiredProperties]] = set()
        self._clear()

    def __call__(self, event: Event) -> None:
        """Records an event; the event that closes a step follows the events of the step."""
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
            case AlternativePruned():
                self._pruned += 1
                if self._takes("pruned"):
                    self._deltas.append(Delta(self._steps, pruned=event))
            case CostsForgotten():
                if self._tried and self._costed:
                    self._close()
                    self._deltas.append(Delta(self._steps, forgets=True))

    @property
    def trace(self) -> Trace:
        """The trace of the events so far."""
        more = self._steps - self._kept
        return Trace(tuple(self._deltas), more, self._known, self._pruned)

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
        """The members in or over merged groups that the merges changed or removed."""
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
        goal = (event.group, event.required)
        again = event.before is None and goal in self._costed
        self._costed.add(goal)
        plan = PlanFound(*goal, event.winner, event.inputs, event.before, again)
        self._deltas.append(Delta(self._steps, plan=plan))

    def _takes(self, kind: str) -> bool:
        """Takes the room for a delta of a kind; returns false if there is none."""
        self._room[kind] -= 1
        return self._room[kind] >= 0

    def _member(self, e: GroupExpression) -> Member:
        member = Member(e.id, e.group, e.operator, e.inputs)
        self._members[e.id] = (e, member)
        for group in (e.group, *e.inputs):
            self._around.setdefault(group, set()).add(e.id)
        return member

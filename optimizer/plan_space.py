"""The plan spaces of a memo: logical, and physical under required properties.

A physical plan has enforcers only where a property is asked for that the operators below do
not deliver, and an exchange never where rows lie as asked, so no plan says the same twice. To
count each once, a goal of this space names what is *delivered* exactly, where the search's
goals name what is at least required.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..algebra.physical import Retract, ToKernel
from ..algebra.properties import ANY, BROADCAST, Convention
from ..memo import Alternative, GroupExpression, GroupId, PlanSpace
from .enforcers import exchange_to
from .goals import Choice
from .placements import DIVIDED, Place, distributions, placements
from .search import Search


@dataclass(frozen=True, slots=True)
class PlanGoal:
    """A group whose plans are to be coalesced (or not; or None, as they come), at a place.

    Without a place its rows are a kernel's, each on one partition. ``unmoved``: no exchange is
    to deliver it, for another one reads it. ``marked``: rows of a scan with deletions, as it
    gives them.
    """

    group: GroupId
    coalesced: bool | None = None
    place: Place | None = None
    unmoved: bool = False
    marked: bool = False


def logical_space(search: Search) -> PlanSpace[GroupId, GroupExpression]:
    """The complete logical plans; plans that differ in the order of a join's inputs differ."""
    memo = search.memo

    def alternatives(group: GroupId) -> Sequence[Alternative[GroupId, GroupExpression]]:
        return [Alternative(e, e.inputs) for e in memo.group(group).expressions]

    return PlanSpace(alternatives, check=search.budget.check)


def physical_space(search: Search) -> PlanSpace[PlanGoal, Choice]:
    """The complete physical plans."""
    space = _Physical(search)
    return PlanSpace(space.alternatives, lambda goal: goal.group, search.budget.check)


Found = Alternative[PlanGoal, Choice]


class _Physical:
    def __init__(self, search: Search) -> None:
        self._search = search
        self._parallelism = search.options.parallelism

    def alternatives(self, goal: PlanGoal) -> Sequence[Found]:
        """The ways to a goal, each with exact goals of what it reads."""
        if goal.place is not None:
            return [*self._operators(goal, goal.place), *self._enforcers(goal, goal.place)]
        width = self._search.memo.group(goal.group).properties.width
        spreads = distributions(width, self._parallelism)
        goals = [replace(goal, place=Place(d)) for d in spreads if d != BROADCAST]
        return [found for exact in goals for found in self.alternatives(exact)]

    def _operators(self, goal: PlanGoal, place: Place) -> Iterator[Found]:
        search, n = self._search, self._parallelism
        for choice in search.implementations(goal.group):
            if choice.operator.marks is not goal.marked:
                continue
            widths = search.widths(choice)
            asked: bool | None = True if choice.operator.ends_deletions else None
            if goal.coalesced is not None:
                # What passes the property on is as coalesced as its input.
                if choice.operator.keeps_coalesced(widths):
                    asked = goal.coalesced
                elif choice.operator.coalesces is not goal.coalesced:
                    continue
            for placement in placements(choice.operator, widths, n):
                if placement.output != place:
                    continue
                placed = choice
                if n > 1:
                    divided = tuple([p.divided(n) for p in placement.inputs])
                    local = search.placed_cost(choice, goal.group, divided, place.divided(n))
                    placed = replace(choice, local=local)
                below = zip(choice.inputs, placement.inputs, strict=True)
                inputs = tuple([PlanGoal(search.memo.find(i), asked, p) for i, p in below])
                yield Alternative(placed, inputs, placed.local)

    def _enforcers(self, goal: PlanGoal, place: Place) -> Iterator[Found]:
        here, enforcing = place.distribution, self._search.enforcing
        if place.convention is Convention.SPARK_SQL or enforcing.is_final(goal.group):
            return
        if goal.coalesced and (self._parallelism == 1 or here != ANY):
            choice = enforcing.choice(enforcing.coalesce(goal.group), goal.group, here, here)
            uncoalesced = PlanGoal(goal.group, coalesced=False, place=place)
            yield Alternative(choice, (uncoalesced,), choice.local)
        if (
            not (goal.coalesced or goal.marked)
            and enforcing.retracts(goal.group)
            and here in enforcing.where_edges_meet(here)
        ):
            choice = enforcing.choice(Retract(), goal.group, here, here)
            marked = PlanGoal(goal.group, place=place, marked=True)
            yield Alternative(choice, (marked,), choice.local)
        if not goal.coalesced and enforcing.converts(goal.group, here):
            choice = enforcing.choice(ToKernel(), goal.group, here, here)
            in_sql = replace(goal, place=replace(place, convention=Convention.SPARK_SQL))
            yield Alternative(choice, (in_sql,), choice.local)
        if self._parallelism > 1 and here != ANY and not goal.unmoved:
            width = self._search.memo.group(goal.group).properties.width
            for there in distributions(width, self._parallelism):
                if there.spread in DIVIDED and there != here:
                    choice = enforcing.choice(exchange_to(here), goal.group, there, here)
                    moved = replace(goal, place=Place(there), unmoved=True)
                    yield Alternative(choice, (moved,), choice.local)

"""The plan spaces of a memo: logical, and physical under required properties.

A physical plan has enforcers only where the operators below do not deliver a required property,
and no exchange where rows have the required distribution already, so all plans differ. To count
each plan once, a goal of this space names the *delivered* properties exactly. A goal of the search
names the properties that are required at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..algebra.properties import ANY, BROADCAST, SINGLE, Convention, Distribution, Spread
from ..memo import Alternative, GroupExpression, GroupId, Memo, PlanSpace
from . import enforcers
from .coster import Coster
from .goals import Choice
from .physical_properties import MOST_COALESCED, coalesced_inputs
from .placements import DIVIDED, Place, Placement, distributions, placements


@dataclass(frozen=True, slots=True)
class PlanGoal:
    """A group with the exact properties of its plans.

    Attributes:
        group: the group to compute.
        coalesced: whether the rows are coalesced; None for either.
        place: the place of the rows; None for each row on one partition, computed by a kernel.
        unmoved: whether an exchange reads the goal, so that no exchange may deliver it.
        marked: whether the rows are those of a scan with deletions before RETRACT.
    """

    group: GroupId
    coalesced: bool | None = None
    place: Place | None = None
    unmoved: bool = False
    marked: bool = False


def logical_space(memo: Memo, check: Callable[[], None]) -> PlanSpace[GroupId, GroupExpression]:
    """The complete logical plans; plans that differ in the order of a join's inputs differ."""

    def alternatives(group: GroupId) -> Sequence[Alternative[GroupId, GroupExpression]]:
        return [Alternative(e, e.inputs) for e in memo.group(group).expressions]

    return PlanSpace(alternatives, check=check)


def physical_space(coster: Coster, check: Callable[[], None]) -> PlanSpace[PlanGoal, Choice]:
    """The complete physical plans."""
    return PlanSpace(partial(_alternatives, coster), lambda goal: goal.group, check)


def different_space(coster: Coster, check: Callable[[], None]) -> PlanSpace[PlanGoal, Choice]:
    """The complete physical plans, of which mirror images and equal-cost duplicates are one.

    Two alternatives of a goal are one if they have the same kind of operator over the same goals,
    in any order, at the same cost: the inputs of a join are swapped, or a path is walked backwards.
    """

    return PlanSpace(
        lambda goal: _different(_alternatives(coster, goal)), lambda goal: goal.group, check
    )


def spaces(
    coster: Coster, check: Callable[[], None]
) -> tuple[PlanSpace[PlanGoal, Choice], PlanSpace[PlanGoal, Choice]]:
    """The complete physical plans and the different ones; both price each operator once."""
    priced: dict[PlanGoal, Sequence[Found]] = {}

    def alternatives(goal: PlanGoal) -> Sequence[Found]:
        if goal not in priced:
            priced[goal] = tuple(_alternatives(coster, goal))
        return priced[goal]

    def different(goal: PlanGoal) -> Sequence[Found]:
        return _different(alternatives(goal))

    every, folded = (
        PlanSpace(one, lambda goal: goal.group, check) for one in (alternatives, different)
    )
    return every, folded


def _different(alternatives: Sequence[Found]) -> Sequence[Found]:
    """One alternative of those with the same kind of operator over the same goals at one cost."""
    different: dict[Hashable, Found] = {}
    for one in alternatives:
        inputs = frozenset(Counter(one.inputs).items())
        # The costs of mirror images are sums in another order.
        key = type(one.choice.operator), inputs, f"{one.cost:.12g}"
        different.setdefault(key, one)
    return tuple(different.values())


Found = Alternative[PlanGoal, Choice]


def _alternatives(coster: Coster, goal: PlanGoal) -> Sequence[Found]:
    """The alternatives of a goal, each over exact goals."""
    if goal.place is not None:
        return [
            *_operators(coster, goal, goal.place),
            *_enforcers(coster, goal, goal.place),
        ]
    spreads = _distributions(coster, goal)
    goals = [replace(goal, place=Place(d)) for d in spreads if d != BROADCAST]
    return [alternative for exact in goals for alternative in _alternatives(coster, exact)]


def _distributions(coster: Coster, goal: PlanGoal) -> tuple[Distribution, ...]:
    return distributions(coster.groups[goal.group].properties.width, coster.parallelism)


def _operators(coster: Coster, goal: PlanGoal, place: Place) -> Iterator[Found]:
    n = coster.parallelism
    for choice in coster.choices(goal.group):
        if choice.operator.marks is not goal.marked:
            continue
        widths = coster.widths(choice)
        coalesced: bool | None = True if choice.operator.ends_deletions else None
        if goal.coalesced is not None:
            # An operator that passes the property on is as coalesced as its input.
            if choice.operator.keeps_coalesced(widths):
                coalesced = goal.coalesced
            elif choice.operator.coalesces is not goal.coalesced:
                continue
        for placement in placements(choice.operator, widths, n):
            if placement.output != place:
                continue
            divided = tuple([p.divided(n) for p in placement.inputs])
            for exact in _exactly(coster, choice, widths, placement, coalesced):
                read = tuple([one is True for one in exact])
                placed = coster.placed(choice, goal.group, divided, place.divided(n), read)
                below = zip(choice.inputs, exact, placement.inputs, strict=True)
                inputs = tuple([PlanGoal(coster.groups.find(i), c, p) for i, c, p in below])
                yield Alternative(placed, inputs, placed.local)


def _exactly(
    coster: Coster,
    choice: Choice,
    widths: tuple[int, ...],
    placement: Placement,
    coalesced: bool | None,
) -> Iterator[tuple[bool | None, ...]]:
    """For each input whether it is coalesced, in all ways that the search tries."""
    every_row = [choice.operator.reads_every_row(k) for k in range(len(widths))]
    if coalesced is not None or choice.operator.keeps_coalesced(widths):
        yield tuple([None if one else coalesced for one in every_row])
        return
    repeats = tuple(
        [
            repeating and place.convention is Convention.KERNEL and not every
            for repeating, place, every in zip(
                coster.repeats(choice), placement.inputs, every_row, strict=True
            )
        ]
    )
    if sum(repeats) > MOST_COALESCED:
        yield (None,) * len(widths)
        return
    for chosen in coalesced_inputs(repeats):
        yield tuple(
            [one if repeating else None for one, repeating in zip(chosen, repeats, strict=True)]
        )


def _enforcers(coster: Coster, goal: PlanGoal, place: Place) -> Iterator[Found]:
    here, group = place.distribution, goal.group
    if place.convention is Convention.SPARK_SQL or enforcers.is_final(coster, group):
        return
    gathered = here != ANY and here.spread is not Spread.HYPERCUBE
    if goal.coalesced and (coster.parallelism == 1 or gathered):
        choice = enforcers.coalesce(coster, group, here)
        yield _over(choice, PlanGoal(group, coalesced=False, place=place))
    if (
        not (goal.coalesced or goal.marked)
        and enforcers.retracts(coster, group)
        and here in enforcers.where_edges_meet(coster, here)
    ):
        choice = enforcers.retract(coster, group, here)
        yield _over(choice, PlanGoal(group, place=place, marked=True))
    if not goal.coalesced and enforcers.converts(coster, group, here):
        in_sql = replace(place, convention=Convention.SPARK_SQL)
        yield _over(enforcers.to_kernel(coster, group, here), replace(goal, place=in_sql))
    if coster.parallelism > 1 and here != ANY and not goal.unmoved:
        on_one = enforcers.lies_on_one(coster, group)
        for there in _distributions(coster, goal):
            if (there == SINGLE if on_one else there.spread in DIVIDED) and there != here:
                choice = enforcers.exchange(
                    coster, group, there, here, coalesced=goal.coalesced is True
                )
                yield _over(choice, replace(goal, place=Place(there), unmoved=True))


def _over(enforcer: Choice, goal: PlanGoal) -> Found:
    return Alternative(enforcer, (goal,), enforcer.local)

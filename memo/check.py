"""The invariants of a memo, checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

from .expression import Digest, GroupExpression, GroupId
from .group import Group, Groups, Winner
from .operators import MemoError, Operators

Goal = tuple[GroupId, Hashable]
Alternatives = Callable[[GroupId, Hashable], Iterator[tuple[float, tuple[Goal, ...]]]]
"""The alternatives of a group under some properties: own cost, and the goals that are read."""


def demand(holds: bool, otherwise: str) -> None:
    """Raises a :class:`MemoError` unless something holds."""
    if not holds:
        raise MemoError(otherwise)


def check_structure(
    groups: Groups, digests: Mapping[Digest, GroupExpression], operators: Operators
) -> None:
    """Checks owners of digests, canonical forms, living inputs, members and parents of groups.

    Raises:
        MemoError: for the first expression or group that breaks an invariant.
    """
    seen: dict[Digest, GroupExpression] = {}
    for group in groups:
        demand(bool(group.expressions), f"G{group.id} is empty")
        demand(groups.find(group.id) == group.id, f"G{group.id} was merged away")
        for e in group.expressions:
            demand(e.alive and e.group == group.id, f"{e} is not of G{group.id}")
            demand(e.digest not in seen, f"{e} has a twin")
            demand(digests.get(e.digest) is e, f"{e} is not under its digest")
            form = operators.canonical(e.operator, e.inputs)
            demand(form == e.digest, f"{e} is not canonical: {form}")
            demand(group.id not in e.inputs, f"{e} reads its own group")
            for i in e.inputs:
                demand(i in groups.alive, f"{e} reads the dead G{i}")
                demand(groups[i].parents.get(e.id) is e, f"G{i} forgot {e}")
            seen[e.digest] = e
        _check_around(group, digests)
    cyclic = sum(len(group.cyclic) for group in groups)
    demand(len(seen) + cyclic == len(digests), "a digest has no expression")


def _check_around(group: Group, digests: Mapping[Digest, GroupExpression]) -> None:
    logged = {e.id for log in group.logs for members in log.by_type.values() for e in members}
    demand(logged >= {e.id for e in group.expressions}, f"the logs of G{group.id} lack a member")
    for parent in group.parents.values():
        indexed = digests.get(parent.digest) is parent
        demand(indexed and group.id in parent.inputs, f"{parent} is not a parent of G{group.id}")
    for cyclic in group.cyclic:
        demand(group.id in cyclic.inputs, f"{cyclic} does not read its own G{group.id}")
        demand(digests.get(cyclic.digest) is cyclic, f"{cyclic} is not under its digest")


def check_winners(groups: Groups, alternatives: Alternatives) -> None:
    """Checks that each winner is the cheapest alternative, with the cost of its own plan.

    Raises:
        MemoError: for the first winner that breaks an invariant.
    """

    def winner_of(goal: Goal) -> Winner | None:
        return groups[goal[0]].winners.get(goal[1])

    def cost_of(local: float, inputs: tuple[Goal, ...]) -> float | None:
        below = [winner_of(goal) for goal in inputs]
        if None in below:
            return None
        return sum([w.cost for w in below if w is not None], local)

    for group in groups:
        for properties, winner in group.winners.items():
            name = f"the winner of G{group.id} for {properties}"
            cost = cost_of(winner.local, winner.inputs)
            demand(cost is not None, f"{name} has an input without a winner")
            demand(cost == winner.cost, f"{name} costs {cost}, not {winner.cost}")
            offered = list(alternatives(group.id, properties))
            demand((winner.local, winner.inputs) in offered, f"{name} is not a member")
            for local, inputs in offered:
                rival = cost_of(local, inputs)
                demand(
                    rival is None or rival >= winner.cost,
                    f"{name} is not the cheapest: {inputs} costs {rival}",
                )

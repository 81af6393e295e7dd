"""Chooses the groups whose atoms are joined at once although they form no cycle.

A multiway join holds and emits no intermediate result, but it enters each row of an atom into more
indexes than a binary join, and finds the rows of an intermediate result anew for each arriving row.
So it pays only where each tree of binary joins has an intermediate result with many rows. Where
columns are independent, the intermediate results of a forest are large only if its result is larger
still, and the rows of the result cost about the same in every plan.

Even then it is left out if the work that it has in any order of its variables costs more than the
group's cheapest tree, since a search would price it in vain: most of its price is the choice of the
orders. Plans may have enforcers and shared indexes, which both sides leave aside, so it has to cost
more by a margin.

The last join of a group shows whether that is so, and the groups below it are asked themselves:
if a join with small inputs is among the members of a group, the multiway join of the group can
save little beside that join over the best plans of its inputs.
"""

from __future__ import annotations

from ..algebra.logical import MultiwayPattern, Pattern
from ..memo import GroupId
from .coster import Coster
from .tree_costs import TreeCosts

OF_ATOMS = 0.5
"""The least rate of intermediate results, as a multiple of the atoms' rates together."""
OF_RESULT = 0.25
"""The least rate of intermediate results, as a multiple of the result's rate."""
DEARER = 1.25
"""The multiple of the cost of a group's cheapest tree at which a join at once is left out."""


class LargeIntermediates:
    """The groups of one memo all of whose binary joins read large intermediate results."""

    def __init__(self, coster: Coster) -> None:
        self._coster = coster
        self._trees = TreeCosts(coster)
        self._refused: set[GroupId] = set()
        self._rates: dict[GroupId, float] = {}

    def are_large(self, group: GroupId) -> bool:
        """Whether each binary join of a group reads intermediate results that are large beside the
        rows of the atoms and of the result; a group with small ones keeps them."""
        coster = self._coster
        group = coster.groups.find(group)
        if group in self._refused:
            return False
        joins = [join.inputs for join in coster.groups[group].members(Pattern)]
        least = min([sum(map(self._held, read)) for read in joins])
        # All joins of a group have the same atoms.
        atoms = [part for below in joins[0] for part in coster.algebra.flat.atoms_below(below)]
        of_atoms = sum([coster.estimate(part).arrival_rate for part in atoms])
        result = coster.estimate(group).arrival_rate
        large = least >= OF_ATOMS * of_atoms and least >= OF_RESULT * result
        if not large:
            self._refused.add(group)
        return large

    def _held(self, number: GroupId) -> float:
        """The rows per time unit of a group that are intermediate results: none of an atom."""
        rate = self._rates.get(number)
        if rate is None:
            atom = len(self._coster.algebra.flat.atoms_below(number)) == 1
            rate = 0.0 if atom else self._coster.estimate(number).derivation_rate
            self._rates[number] = rate
        return rate

    def may_pay(self, group: GroupId, join: MultiwayPattern, inputs: tuple[GroupId, ...]) -> bool:
        """Whether a join of a group's atoms at once may cost less than the group's trees."""
        trees = self._trees
        bound = self._coster.least_cost(join, group, inputs) + sum(map(trees.cost, inputs))
        pays = bound <= DEARER * trees.cost(group)
        if not pays:
            self._refused.add(self._coster.groups.find(group))
        return pays

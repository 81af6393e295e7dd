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

from math import inf

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

    def are_large(self, group: GroupId) -> bool:
        """Whether each binary join of a group reads intermediate results that are large beside the
        rows of the atoms and of the result; a group with small ones keeps them."""
        coster = self._coster
        group = coster.groups.find(group)
        if group in self._refused:
            return False
        flat = coster.algebra.flat
        least, atoms = inf, 0.0
        for join in coster.groups[group].members(Pattern):
            atoms = intermediate = 0.0
            for below in join.inputs:
                parts = flat.atoms_below(below)
                if len(parts) == 1:
                    atoms += coster.estimate(below).arrival_rate
                else:
                    intermediate += coster.estimate(below).derivation_rate
                    atoms += sum([coster.estimate(part).arrival_rate for part in parts])
            least = min(least, intermediate)
        result = coster.estimate(group).arrival_rate
        large = least >= OF_ATOMS * atoms and least >= OF_RESULT * result
        if not large:
            self._refused.add(group)
        return large

    def may_pay(self, group: GroupId, join: MultiwayPattern, inputs: tuple[GroupId, ...]) -> bool:
        """Whether a join of a group's atoms at once may cost less than the group's trees."""
        trees = self._trees
        bound = self._coster.least_cost(join, group, inputs) + sum(map(trees.cost, inputs))
        pays = bound <= DEARER * trees.cost(group)
        if not pays:
            self._refused.add(self._coster.groups.find(group))
        return pays

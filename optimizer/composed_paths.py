"""Chooses the paths of a group that rules compose into longer ones.

A concatenation of n parts has 2^(n-1) segmentations into single steps and joins, and a PATH follows
each. Of two PATHs of one group that continue with the same steps the cheaper one stays the cheaper
one if it has no more inputs: the longer PATH pays for the same results, and for no more states. The
inputs' own costs are not yet known when rules are applied. The cheapest joins of the memo so far
stand for them, so the choice is a heuristic. A few PATHs that look worse are composed as well.
"""

from __future__ import annotations

from math import inf

from ..algebra.logical import Path
from ..memo import GroupExpression, GroupId
from .coster import Coster

ALL_COMPOSED = 32
"""The members of a group up to which all its paths are composed: a concatenation of six parts."""
MOST_BETTER = 3
"""The most paths that may be as cheap, with no more inputs, as a path that is composed."""


class ComposedPaths:
    """The paths of one memo's groups that are composed into longer ones."""

    def __init__(self, coster: Coster) -> None:
        self._coster = coster
        self._costs: dict[GroupId, float] = {}
        self._composed: dict[GroupId, dict[int, tuple[int, float]]] = {}
        self._refused: set[int] = set()

    def composes(self, path: GroupExpression) -> bool:
        """Whether rules compose a PATH into longer ones; a PATH that is refused remains so."""
        if path.id in self._refused:
            return False
        group = self._coster.groups[path.group]
        if len(group.expressions) <= ALL_COMPOSED:
            return True
        composed = self._composed.setdefault(group.id, {})
        if path.id in composed:
            return True
        inputs, cost = len(path.inputs), self._cost_of(path)
        better = sum(1 for least, cheap in composed.values() if least <= inputs and cheap <= cost)
        if better > MOST_BETTER:
            self._refused.add(path.id)
            return False
        composed[path.id] = inputs, cost
        return True

    def _cost_of(self, expression: GroupExpression) -> float:
        inputs = [self._cost(group) for group in expression.inputs]
        return sum(inputs, self._coster.least_local(expression))

    def _cost(self, number: GroupId) -> float:
        """The cost of a group's cheapest members other than PATHs, as the memo has them now."""
        group = self._coster.groups[number]
        if group.id not in self._costs:
            self._costs[group.id] = inf  # a group that reads itself is not its cheapest member
            members = [e for e in group.expressions if not isinstance(e.operator, Path)]
            self._costs[group.id] = min(map(self._cost_of, members), default=inf)
        return self._costs[group.id]

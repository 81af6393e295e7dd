"""Chooses the paths of a group that enter the memo, and those that rules compose into longer ones.

A concatenation of n parts has 2^(n-1) segmentations into single steps and joins, and a PATH follows
each. Small queries have all of them. Of a larger one, two PATHs of one group continue with the same
steps. The PATH whose inputs are no more, cost no more and have no more rows stays the cheaper one:
the longer PATH pays for the same results, for no more states, and for no more edges. So the other
PATH is left out. The inputs' costs are those of the cheapest members that their groups have so far,
so the choice is a heuristic.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ..algebra.logical import Path
from ..memo import Expression, GroupExpression, GroupId
from .coster import Coster
from .tree_costs import TreeCosts

ALL_KEPT = 128
"""The paths that rules make in a search up to which all are kept and composed. A concatenation of
six parts has 99 in all its groups."""


class ComposedPaths:
    """The paths of one memo's groups that are kept, and that are composed into longer ones."""

    def __init__(self, coster: Coster) -> None:
        self._coster = coster
        self._trees = TreeCosts(coster)
        self._made: set[Expression] = set()
        self._kept: dict[GroupId, list[_Worth]] = {}
        self._composed: dict[GroupId, list[_Worth]] = defaultdict(list)
        self._composes: dict[int, bool] = {}
        self._inputs: dict[GroupId, tuple[float, float]] = {}
        """The cost of each input, and its rows per time unit."""

    @property
    def _all(self) -> bool:
        """Whether the search is small so far, so that it has all paths."""
        return len(self._made) <= ALL_KEPT

    def makes(self, number: GroupId, inputs: tuple[GroupId, ...]) -> bool:
        """Whether a rule is to make a PATH over some inputs for a group, unless the group has it.

        A PATH that is left out would be neither composed nor the cheapest member of its group.
        """
        if self._all:
            return True
        kept = self._kept.get(number)
        if kept is None:
            members = self._coster.groups[number].members(Path)
            kept = self._kept[number] = [self._worth(member.inputs) for member in members]
        return _entered(kept, self._worth(inputs))

    def made(self, path: Expression) -> None:
        """Counts a PATH that a rule made."""
        if self._all:
            self._made.add(path)

    def composes(self, path: GroupExpression) -> bool:
        """Whether rules compose a PATH into longer ones; a PATH that is refused remains so."""
        answer = self._composes.get(path.id)
        if answer is None:
            if self._all:
                return True
            worth = self._worth(path.inputs)
            # A better path may have been kept after this one.
            beaten = _is_beaten(self._kept.get(path.group, []), worth)
            answer = not beaten and _entered(self._composed[path.group], worth)
            self._composes[path.id] = answer
        return answer

    def _worth(self, inputs: tuple[GroupId, ...]) -> _Worth:
        cost = rate = 0.0
        for group in inputs:
            own = self._inputs.get(group)
            if own is None:
                own = self._trees.cost(group), self._coster.estimate(group).arrival_rate
                self._inputs[group] = own
            cost += own[0]
            rate += own[1]
        return _Worth(len(inputs), cost, rate)


class _Worth(NamedTuple):
    """The number of a path's inputs, the inputs' costs together, and their rows per time unit."""

    inputs: int
    cost: float
    rate: float


def _entered(paths: list[_Worth], path: _Worth) -> bool:
    """Enters a path into the paths of a group, unless one of them is as good in every respect."""
    if path in paths or _is_beaten(paths, path):
        return False
    paths.append(path)
    return True


def _is_beaten(paths: list[_Worth], path: _Worth) -> bool:
    """Whether another path is as good in every respect, and better in one."""
    inputs, cost, rate = path
    for other in paths:
        of_inputs, of_cost, of_rate = other
        if of_cost <= cost and of_inputs <= inputs and of_rate <= rate and other != path:
            return True
    return False

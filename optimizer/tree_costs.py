"""The costs of the trees that a memo has so far, while the search still explores it.

Rules that compare expressions by cost need them before the search finds winners.
"""

from __future__ import annotations

from math import inf

from ..memo import GroupId
from .coster import Coster


class TreeCosts:
    """The tree costs of groups on one partition, without enforcers, each computed once."""

    def __init__(self, coster: Coster) -> None:
        self._coster = coster
        self._costs: dict[GroupId, float] = {}

    def cost(self, number: GroupId) -> float:
        """The cost of a group's cheapest members, as the memo has them at the first call."""
        cost = self._costs.get(number)
        if cost is None:
            self._costs[number] = inf  # a group that reads itself is not its cheapest member
            members = self._coster.groups[number].expressions
            least_local = self._coster.least_local
            costs = [sum(map(self.cost, e.inputs), least_local(e)) for e in members]
            cost = self._costs[number] = min(costs, default=inf)
        return cost

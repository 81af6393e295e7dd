"""The cheapest plan of every goal, where goals may read each other in a circle.

A goal has alternatives; an alternative costs its own cost plus those of the goals that it reads.
The algorithm is Knuth's generalization of Dijkstra's (D. E. Knuth, "A generalization of
Dijkstra's algorithm", Information Processing Letters 6(1), 1977): the cheapest alternative all of
whose inputs are settled settles its goal.

Why that is right, and ends: no cost is negative, and adding floats is monotone, so an alternative
never costs less than any of its inputs, rounding included. An alternative that becomes ready later
costs at least what was just settled, so a settled cost is final. A goal is settled once and an
alternative becomes ready once, so with n goals and m inputs of alternatives there are at most
n + m steps, each with one operation on a heap. A winner reads only goals that were settled before
its own, so no plan reads itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf
from typing import Generic, TypeVar

G = TypeVar("G", bound=Hashable)
Priced = tuple[float, tuple[G, ...]]
"""An alternative of a goal: its own cost, not negative, and the goals that it reads."""


@dataclass(frozen=True, slots=True)
class Settled(Generic[G]):
    """A goal, the cost of its cheapest plan, and the number of that plan's alternative.

    The number is None for a goal whose cost the caller gave."""

    goal: G
    cost: float
    alternative: int | None


def cheapest(
    alternatives: Mapping[G, Sequence[Priced[G]]], priced: Mapping[G, float] | None = None
) -> Iterator[Settled[G]]:
    """Settles goals, the cheapest first; a goal without a plan of finite cost is left out.

    Args:
        alternatives: the goals to settle, each with its alternatives.
        priced: the costs of other goals, which alternatives may read.

    Of alternatives with equal costs the first one wins that was ready, then the first in order.
    """
    costs: dict[G, float] = {}
    readers: dict[G, list[tuple[int, G, int]]] = defaultdict(list)
    unsettled: dict[tuple[int, int], int] = {}
    # Entries are (cost, number of the goal, number of the alternative, the goal).
    ready: list[tuple[float, int, int, G]] = []
    for number, (goal, choices) in enumerate(alternatives.items()):
        for index, (local, inputs) in enumerate(choices):
            different = set(inputs)
            unsettled[number, index] = len(different)
            for below in different:
                readers[below].append((number, goal, index))
            if not different and local < inf:
                ready.append((local, number, index, goal))
    for goal, cost in (priced or {}).items():
        if cost < inf:
            ready.append((cost, -1, len(ready), goal))
    heapify(ready)
    while ready:
        cost, number, index, goal = heappop(ready)
        if goal in costs:
            continue
        costs[goal] = cost
        yield Settled(goal, cost, None if number < 0 else index)
        for above, reader, index in readers[goal]:
            unsettled[above, index] -= 1
            if unsettled[above, index] or reader in costs:
                continue
            local, inputs = alternatives[reader][index]
            total = sum([costs[below] for below in inputs], local)
            if total < inf:
                heappush(ready, (total, above, index, reader))

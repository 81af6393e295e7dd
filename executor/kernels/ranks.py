"""A place in an ordered bag, for percentiles: a node, and how many copies of values are before it.

The place follows additions and removals. So the value of a rank is a few nodes away if the number
of values and the rank have changed little since the last one.

A place is a triple: the root of the bag, the node, and the number of copies of lesser values. The
bag is exact (:mod:`headrace.executor.kernels.ordered`).
"""

from __future__ import annotations

from ..batch import IntArray
from . import exact_sums, ordered
from .compiling import kernel
from .ordered import BITS, COPIES, KIND, LEFT, RIGHT, Nodes, side_of
from .tables import EMPTY
from .vertices import INTEGER

UNITS = 10**9
"""The parts of a percentile, and of the distance between two values."""

Place = tuple[int, int, int]


@kernel
def add(bags: Nodes, place: Place, kind: int, bits: int) -> Place:
    """Adds a copy of a number; there is a free node. Returns the place with the new root."""
    root, cursor, before = place
    root = ordered.add(bags, root, kind, bits, True)
    if cursor == EMPTY:
        return root, root, 0
    if side_of(bags, kind, bits, cursor, True) < 0:
        before += 1
    return root, cursor, before


@kernel
def take(bags: Nodes, place: Place, kind: int, bits: int) -> Place:
    """Removes a copy of a number that the bag has; a place that is removed moves to a neighbour."""
    root, cursor, before = place
    side = side_of(bags, kind, bits, cursor, True)
    if side < 0:
        before -= 1
    elif side == 0 and bags.nodes[cursor, COPIES] == 1:
        # A node keeps its number until its own last copy goes.
        cursor = neighbour(bags, root, cursor, RIGHT)
        if cursor == EMPTY:
            cursor = neighbour(bags, root, ordered.end_of(bags, root, RIGHT), LEFT)
            before -= bags.nodes[cursor, COPIES] if cursor != EMPTY else 0
    root = ordered.take(bags, root, kind, bits, True)
    return root, cursor, before


@kernel
def neighbour(bags: Nodes, root: int, node: int, side: int) -> int:
    """The node of the next greater value (RIGHT) or the next lesser one (LEFT); EMPTY for none."""
    kind, bits = bags.nodes[node, KIND], bags.nodes[node, BITS]
    nearest, at = EMPTY, root
    while at != EMPTY:
        direction = side_of(bags, kind, bits, at, True)
        if (direction < 0) if side == RIGHT else (direction > 0):
            nearest = at
            at = bags.nodes[at, LEFT if side == RIGHT else RIGHT]
        else:
            at = bags.nodes[at, side]
    return nearest


@kernel
def moved(bags: Nodes, place: Place, rank: int) -> tuple[int, int]:
    """The node of the value with a rank from 0 on, and the number of copies before that node."""
    root, cursor, before = place
    while rank < before:
        cursor = neighbour(bags, root, cursor, LEFT)
        before -= bags.nodes[cursor, COPIES]
    while rank >= before + bags.nodes[cursor, COPIES]:
        before += bags.nodes[cursor, COPIES]
        cursor = neighbour(bags, root, cursor, RIGHT)
    return cursor, before


@kernel
def between(
    bags: Nodes, place: Place, rank: int, rest: int, pair: IntArray, scratch: IntArray
) -> int:
    """The bits of the float nearest to the number ``rest`` billionths of the way to the next value.

    Args:
        bags: the bags.
        place: the place of the value with the rank.
        rank: the rank of the first value.
        rest: from 0 to 10^9 - 1; with 0 there need not be a next value.
        pair: int64[1, LIMBS].
        scratch: int64[LIMBS].

    Returns:
        The bits, or -1 if the number is not finite.
    """
    root, cursor, before = place
    following = cursor
    if rest > 0 and rank + 1 == before + bags.nodes[cursor, COPIES]:
        following = neighbour(bags, root, cursor, RIGHT)
    for k in range(exact_sums.LIMBS):
        pair[0, k] = 0
    high, low = 0, 0
    for node, weight in ((cursor, UNITS - rest), (following, rest)):
        bits = bags.nodes[node, BITS]
        if bags.nodes[node, KIND] == INTEGER:
            high += weight * (bits >> 32)
            low += weight * (bits & 0xFFFFFFFF)
        elif weight > 0:
            if exact_sums.is_infinite(bits):
                return -1
            exact_sums.add_float(pair, 0, bits, weight)
    return exact_sums.quotient(pair, 0, high, low, UNITS, scratch)

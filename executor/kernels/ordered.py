"""Ordered bags of values: a treap for each bag, over nodes that all bags share.

Numbers come before strings, strings before truth values. An integer and a number may be equal: then
they share a node, which has the value that came first. In an *exact* bag each has its own node, the
integer first. The number of a node determines its priority in the heap order of the treap.

A bag of pairs is ordered by the first values; below the node of such a value are the second ones.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .exact_sums import compared
from .tables import EMPTY, mixed
from .vertices import BOOLEAN, INTEGER, LENGTH, NUMBER, START, STRING, Bytes

# Fields of a node: the kind of its value; its bits, or the code of a string; the number of copies;
# the nodes below it; and in a bag of pairs the root of the bag of second values. A free node has
# the next free node as LEFT.
KIND, BITS, COPIES, LEFT, RIGHT, SECONDS, NODE_FIELDS = range(7)

# The header: nodes in use, the first free node, and the nodes from which on none was ever used.
USED, FREE, TOP, NODE_HEADER_FIELDS = range(4)


class Nodes(NamedTuple):
    """The nodes of all bags, and the dictionary's arrays with the strings.

    Attributes:
        header: int64[NODE_HEADER_FIELDS].
        nodes: int64[capacity, NODE_FIELDS].
        entries: the entries of the dictionary.
        strings: the bytes of the dictionary's strings.
    """

    header: IntArray
    nodes: IntArray
    entries: IntArray
    strings: Bytes


@kernel
def order(bags: Nodes, kind: int, bits: int, other_kind: int, other: int) -> int:
    """A negative number, 0 or a positive one as a value is less, equal or greater than another."""
    rank, other_rank = _rank(kind), _rank(other_kind)
    if rank != other_rank:
        return rank - other_rank
    if kind == other_kind and bits == other:
        return 0
    if kind == STRING:
        return _order_of_strings(bags, bits, other)
    if kind == INTEGER and other_kind == NUMBER:
        return compared(bits, other)
    if kind == NUMBER and other_kind == INTEGER:
        return -compared(other, bits)
    if kind == NUMBER:  # flipped bits of negative floats rise with the float
        bits = bits ^ 0x7FFFFFFFFFFFFFFF if bits < 0 else bits
        other = other ^ 0x7FFFFFFFFFFFFFFF if other < 0 else other
    return -1 if bits < other else 1


@kernel
def _rank(kind: int) -> int:
    return 1 if kind == STRING else 2 if kind == BOOLEAN else 0


@kernel
def _order_of_strings(bags: Nodes, code: int, other: int) -> int:
    """The order of bytes in UTF-8, which is that of code points."""
    length, other_length = bags.entries[code, LENGTH], bags.entries[other, LENGTH]
    at, other_at = bags.entries[code, START], bags.entries[other, START]
    for k in range(min(length, other_length)):
        byte, other_byte = bags.strings[at + k], bags.strings[other_at + k]
        if byte != other_byte:
            return -1 if byte < other_byte else 1
    return length - other_length


@kernel
def side_of(bags: Nodes, kind: int, bits: int, node: int, exact: bool) -> int:
    """A negative number, 0 or a positive one as a value is before, at or after a node."""
    own = bags.nodes[node, KIND]
    side = order(bags, kind, bits, own, bags.nodes[node, BITS])
    return own - kind if exact and side == 0 else side


@kernel
def add(bags: Nodes, root: int, kind: int, bits: int, exact: bool) -> int:
    """Adds a copy of a value to a bag; there is a free node. Returns the bag's root."""
    h, nodes = bags.header, bags.nodes
    at = root
    while at != EMPTY:
        side = side_of(bags, kind, bits, at, exact)
        if side == 0:
            nodes[at, COPIES] += 1
            return root
        at = nodes[at, LEFT if side < 0 else RIGHT]
    node = h[FREE]
    if node == EMPTY:
        node = h[TOP]
        h[TOP] += 1
    else:
        h[FREE] = nodes[node, LEFT]
    h[USED] += 1
    nodes[node, KIND], nodes[node, BITS], nodes[node, COPIES] = kind, bits, 1
    nodes[node, LEFT] = nodes[node, RIGHT] = nodes[node, SECONDS] = EMPTY
    return _insert(bags, root, node, exact)


@kernel
def _priority(node: int) -> int:
    return mixed(mixed(node) + 1)


@kernel
def _insert(bags: Nodes, root: int, node: int, exact: bool) -> int:
    """Puts a node above the nodes of lower priority, and splits these between its two sides."""
    nodes, kind, bits = bags.nodes, bags.nodes[node, KIND], bags.nodes[node, BITS]
    above, above_side, at = EMPTY, LEFT, root
    while at != EMPTY and _priority(at) >= _priority(node):
        less = side_of(bags, kind, bits, at, exact) < 0
        above, above_side = at, LEFT if less else RIGHT
        at = nodes[at, above_side]
    root = _linked(nodes, root, above, above_side, node)
    left, left_side, right, right_side = node, LEFT, node, RIGHT
    while at != EMPTY:
        if side_of(bags, kind, bits, at, exact) > 0:
            nodes[left, left_side] = at
            left, left_side = at, RIGHT
            at = nodes[at, RIGHT]
        else:
            nodes[right, right_side] = at
            right, right_side = at, LEFT
            at = nodes[at, LEFT]
    nodes[left, left_side] = EMPTY
    nodes[right, right_side] = EMPTY
    return root


@kernel
def _linked(nodes: IntArray, root: int, above: int, side: int, below: int) -> int:
    """Puts ``below`` at a side of ``above``, or at the root; returns the root."""
    if above == EMPTY:
        return below
    nodes[above, side] = below
    return root


@kernel
def take(bags: Nodes, root: int, kind: int, bits: int, exact: bool) -> int:
    """Removes a copy of a value that a bag has. Returns the bag's root."""
    h, nodes = bags.header, bags.nodes
    above, above_side, at = EMPTY, LEFT, root
    side = side_of(bags, kind, bits, at, exact)
    while side != 0:
        above, above_side = at, LEFT if side < 0 else RIGHT
        at = nodes[at, above_side]
        side = side_of(bags, kind, bits, at, exact)
    nodes[at, COPIES] -= 1
    if nodes[at, COPIES] > 0:
        return root
    left, right = nodes[at, LEFT], nodes[at, RIGHT]
    while EMPTY not in (left, right):
        takes_left = _priority(left) >= _priority(right)
        below = left if takes_left else right
        root = _linked(nodes, root, above, above_side, below)
        above = below
        if takes_left:
            above_side, left = RIGHT, nodes[below, RIGHT]
        else:
            above_side, right = LEFT, nodes[below, LEFT]
    root = _linked(nodes, root, above, above_side, left if left != EMPTY else right)
    h[USED] -= 1
    nodes[at, LEFT] = h[FREE]
    h[FREE] = at
    return root


@kernel
def end_of(bags: Nodes, root: int, side: int) -> int:
    """The node of the least value (LEFT) or of the greatest one (RIGHT) of a bag that has one."""
    while bags.nodes[root, side] != EMPTY:
        root = bags.nodes[root, side]
    return root


@kernel
def add_pair(bags: Nodes, root: int, kind: int, bits: int, second_kind: int, second: int) -> int:
    """Adds a pair to a bag of pairs; there are two free nodes. Returns the bag's root."""
    root = add(bags, root, kind, bits, False)
    node = _node_of(bags, root, kind, bits)
    seconds = add(bags, bags.nodes[node, SECONDS], second_kind, second, False)
    bags.nodes[node, SECONDS] = seconds
    return root


@kernel
def take_pair(bags: Nodes, root: int, kind: int, bits: int, second_kind: int, second: int) -> int:
    """Removes a copy of a pair that a bag of pairs has. Returns the bag's root."""
    node = _node_of(bags, root, kind, bits)
    seconds = take(bags, bags.nodes[node, SECONDS], second_kind, second, False)
    bags.nodes[node, SECONDS] = seconds
    return take(bags, root, kind, bits, False)


@kernel
def last_second(bags: Nodes, root: int) -> int:
    """The node of the greatest second value of the greatest first one; the bag has a pair."""
    return end_of(bags, bags.nodes[end_of(bags, root, RIGHT), SECONDS], RIGHT)


@kernel
def _node_of(bags: Nodes, root: int, kind: int, bits: int) -> int:
    """The node of a value that a bag has."""
    at = root
    side = side_of(bags, kind, bits, at, False)
    while side != 0:
        at = bags.nodes[at, LEFT if side < 0 else RIGHT]
        side = side_of(bags, kind, bits, at, False)
    return at

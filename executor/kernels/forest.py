"""The state of S-PATH: product nodes, and a column of trees at each node.

The spanning forest of the thesis (Definitions 36 and 37) is kept by *column*: each product
node (vertex, automaton state) has a small hash table from the root of a tree to the expiry
of the widest path that leads from that root to the node, which is the largest one over all
paths of the smallest edge expiry on the path. So a column is at the same time the inverted
index from a node to the trees that hold it. Roots themselves, (x, start), are implied.

Columns lie in blocks of a common pool, each block a power of two slots of (root, expiry);
free blocks are chained by size. The node that a value came through, which gives the path
itself, would be a third field of a slot.

Over a stream with deletions there is also the index from a root to the nodes of its tree, as
a list of *members*: what leads to a node in a tree is found from the tree or from the node,
whichever is smaller (:mod:`headrace.executor.kernels.path_deletion`). A node is in the list
once for each time that its value came anew into its column; expired values stay in it until
a sweep.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .tables import EMPTY, find, mixed

# The header: product nodes, used slots of the pool, values in all columns, members of all trees,
# whether the stream has deletions, which need the members, the input with the pairs to report
# (EMPTY: all pairs are reported), and the number of these pairs.
NODES, POOL_TOP, VALUES, MEMBERS, WITH_DELETIONS, PAIR_INPUT, PAIRS, HEADER_FIELDS = range(8)

# Fields of a product node: its column (BLOCK, CAPACITY, USED), and its data in the search number
# SEEN: the WIDTH of the widest path to it, and the trees of that path (arena[FROM:UNTIL]).
CODE, STATE, BLOCK, CAPACITY, USED, SEEN, WIDTH, FROM, UNTIL, NODE_FIELDS = range(10)

# Fields of a member: its node, and the member of the same tree that was listed before.
NODE, PREVIOUS, MEMBER_FIELDS = range(3)

SMALLEST_BLOCK = 4
BLOCK_SIZES = 48


class Forest(NamedTuple):
    """The arrays of a forest.

    Attributes:
        header: counts.
        nodes: a product node in each row.
        node_map: the node of a (vertex, state).
        pool: slots of (root, expiry).
        free: the first free block of each size; a block's first slot leads to the next.
        trees: the member of a root's tree that was listed last, by (root, 0).
        members: a member of a tree in each row.
        pairs: the expiry of each pair to report, by (root, vertex).
    """

    header: IntArray
    nodes: IntArray
    node_map: IntArray
    pool: IntArray
    free: IntArray
    trees: IntArray
    members: IntArray
    pairs: IntArray


@kernel
def slot_of(pool: IntArray, block: int, capacity: int, root: int) -> int:
    """The slot of a root in a column, or the free slot for it."""
    mask = capacity - 1
    offset = mixed(root) & mask
    while pool[block + offset, 0] != EMPTY and pool[block + offset, 0] != root:
        offset = (offset + 1) & mask
    return block + offset


@kernel
def _size_class(capacity: int) -> int:
    size = 0
    while 1 << size < capacity:
        size += 1
    return size


@kernel
def _new_block(forest: Forest, capacity: int) -> int:
    """An empty block; the caller ensures that there is room at the end of the pool."""
    h, pool, free = forest.header, forest.pool, forest.free
    size = _size_class(capacity)
    block = free[size]
    if block == EMPTY:
        block = h[POOL_TOP]
        h[POOL_TOP] += capacity
    else:
        free[size] = pool[block, 1]
    for slot in range(block, block + capacity):
        pool[slot, 0] = EMPTY
    return block


@kernel
def _valid_in(pool: IntArray, block: int, capacity: int, now: int) -> int:
    valid = 0
    for slot in range(block, block + capacity):
        if pool[slot, 0] != EMPTY and pool[slot, 1] > now:
            valid += 1
    return valid


@kernel
def _copy_valid(
    pool: IntArray, block: int, capacity: int, now: int, to: IntArray, to_block: int, to_size: int
) -> None:
    for slot in range(block, block + capacity):
        root = pool[slot, 0]
        if root != EMPTY and pool[slot, 1] > now:
            there = slot_of(to, to_block, to_size, root)
            to[there, 0] = root
            to[there, 1] = pool[slot, 1]


@kernel
def pool_room(capacity: int, entries: int) -> int:
    """An upper bound for the pool slots that a column uses up until it holds ``entries``.

    0 if they fit at a load of 3/4. Else the column moves at most once within its size, and then
    doubles up to the target: at most twice the target in total.
    """
    if 4 * entries <= 3 * capacity:
        return 0
    target = max(capacity, SMALLEST_BLOCK)
    while 4 * entries > 3 * target:
        target *= 2
    return 2 * target


@kernel
def make_room(forest: Forest, node: int, now: int) -> None:
    """Moves the valid values of a full column to a block of the same or of twice the size."""
    nodes, pool, free = forest.nodes, forest.pool, forest.free
    block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
    valid = _valid_in(pool, block, capacity, now)
    size = max(capacity, SMALLEST_BLOCK)
    if 2 * valid > used:
        size = 2 * capacity
    new = _new_block(forest, size)
    _copy_valid(pool, block, capacity, now, pool, new, size)
    if capacity > 0:
        pool[block, 1] = free[_size_class(capacity)]
        free[_size_class(capacity)] = block
    nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED] = new, size, valid
    forest.header[VALUES] += valid - used


@kernel
def node_of(forest: Forest, code: int, state: int) -> int:
    """Finds or adds a product node; EMPTY if there is no room for it."""
    h, nodes, node_map = forest.header, forest.nodes, forest.node_map
    slot = find(node_map, code, state)
    if node_map[slot, 2] != EMPTY:
        return node_map[slot, 2]
    node = h[NODES]
    if node == nodes.shape[0]:
        return EMPTY
    h[NODES] = node + 1
    node_map[slot, 0], node_map[slot, 1], node_map[slot, 2] = code, state, node
    nodes[node, CODE], nodes[node, STATE] = code, state
    nodes[node, BLOCK] = nodes[node, CAPACITY] = nodes[node, USED] = nodes[node, SEEN] = 0
    return node


@kernel
def _fitting(entries: int) -> int:
    capacity = SMALLEST_BLOCK
    while 5 * capacity < 8 * entries:
        capacity *= 2
    return capacity


@kernel
def list_member(forest: Forest, root: int, node: int) -> None:
    """Adds a node to the members of a root's tree; the caller ensures that there is room."""
    trees, members = forest.trees, forest.members
    member = forest.header[MEMBERS]
    forest.header[MEMBERS] = member + 1
    slot = find(trees, root, 0)
    members[member, NODE], members[member, PREVIOUS] = node, trees[slot, 2]
    trees[slot, 0], trees[slot, 1], trees[slot, 2] = root, 0, member


@kernel
def count_valid(forest: Forest, now: int) -> tuple[int, int, int, int]:
    """The nodes, pool slots and values that :func:`copy_valid` keeps, and the values that never
    expire."""
    nodes, pool = forest.nodes, forest.pool
    node_count = slots = values = lasting = 0
    for node in range(forest.header[NODES]):
        block, capacity = nodes[node, BLOCK], nodes[node, CAPACITY]
        valid = _valid_in(pool, block, capacity, now)
        if valid > 0:
            node_count += 1
            slots += _fitting(valid)
            values += valid
            lasting += _valid_in(pool, block, capacity, FOREVER - 1)
    return node_count, slots, values, lasting


@kernel
def copy_valid(old: Forest, fresh: Forest, now: int) -> None:
    """Copies the values valid after ``now`` into fresh arrays under the same header."""
    h, nodes, pool = fresh.header, fresh.nodes, fresh.pool
    count = h[NODES]
    h[NODES] = h[POOL_TOP] = h[VALUES] = h[MEMBERS] = 0
    fresh.free[:] = EMPTY
    for number in range(count):
        block, capacity = old.nodes[number, BLOCK], old.nodes[number, CAPACITY]
        valid = _valid_in(old.pool, block, capacity, now)
        if valid > 0:
            node = node_of(fresh, old.nodes[number, CODE], old.nodes[number, STATE])
            size = _fitting(valid)
            new = _new_block(fresh, size)
            _copy_valid(old.pool, block, capacity, now, pool, new, size)
            nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED] = new, size, valid
            h[VALUES] += valid
            if h[WITH_DELETIONS] != 0:
                for slot in range(new, new + size):
                    if pool[slot, 0] != EMPTY:
                        list_member(fresh, pool[slot, 0], node)

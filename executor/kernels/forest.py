"""The state of S-PATH: edges, product nodes, and a column of trees at each node.

The spanning forest of the thesis (Definitions 36 and 37) is kept by *column*: each product
node (vertex, automaton state) has a small hash table from the root of a tree to the expiry
of the widest path that leads from that root to the node, which is the largest one over all
paths of the smallest edge expiry on the path. So a column is at the same time the inverted
index from a node to the trees that hold it. Roots themselves, (x, start), are implied.

Columns lie in blocks of a common pool, each block a power of two slots of (root, expiry);
free blocks are chained by size. The node that a value came through, which gives the path
itself, would be a third field of a slot.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .tables import EMPTY, find, mixed, put

# The header: counts, and the cursors of executor.kernels.path.
(
    EDGES,
    NODES,
    POOL_TOP,
    ENTRIES,  # values held in all columns
    ADDED,  # edges and values added since the last sweep
    SWEEP_AT,  # a sweep is due from this time on,
    SWEEP_AFTER,  # once so much was added
    NEED,  # how much room was missing
    ROW,  # the input row in work
    MOVE,  # the next of its moves; EMPTY: the row is not begun
    NEW_EDGE,  # the edge that it brought
    SEARCH,  # the number of the search in work
    EXPANDING,  # the node whose successors are being looked at, or EMPTY
    IMPROVED_FROM,  # the trees that it improved, in the arena
    IMPROVED_TO,
    HEAP_SIZE,
    ARENA_TOP,
    OUT,  # result rows written
    SIGNED,  # whether values may be taken back: what a new one replaces is then said, too
    HEADER_LENGTH,
) = range(20)

# Fields of an edge.
SOURCE, TARGET, INPUT, EXPIRY, NEXT_OUT, NEXT_IN, EDGE_FIELDS = range(7)
# Fields of a product node: its column (BLOCK, CAPACITY, USED), and what the search SEEN in
# last knows of it: the widest way to it, and the trees (in the arena) that came that way.
CODE, STATE, BLOCK, CAPACITY, USED, SEEN, WIDTH, FROM, UNTIL, NODE_FIELDS = range(10)

SMALLEST_BLOCK = 4
BLOCK_SIZES = 48


@kernel
def slot_of(pool: IntArray, block: int, capacity: int, root: int) -> int:
    """The slot of a root in a column, or the free slot in which it belongs."""
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
def _new_block(h: IntArray, pool: IntArray, free: IntArray, capacity: int) -> int:
    """A block without values; the caller has seen to room at the pool's end."""
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
    """Slots at the pool's end that a column may need until it holds ``entries``.

    0 if they fit as it is; else at most one move within its size, and then doublings.
    """
    if 4 * entries <= 3 * capacity:
        return 0
    target = max(capacity, SMALLEST_BLOCK)
    while 4 * entries > 3 * target:
        target *= 2
    return 2 * target


@kernel
def make_room(
    h: IntArray, nodes: IntArray, pool: IntArray, free: IntArray, node: int, now: int
) -> None:
    """Moves a full column to a block of the same size or of twice that, without the expired."""
    block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
    valid = _valid_in(pool, block, capacity, now)
    size = max(capacity, SMALLEST_BLOCK)
    if 2 * valid > used:
        size = 2 * capacity
    new = _new_block(h, pool, free, size)
    _copy_valid(pool, block, capacity, now, pool, new, size)
    if capacity > 0:
        pool[block, 1] = free[_size_class(capacity)]
        free[_size_class(capacity)] = block
    nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED] = new, size, valid
    h[ENTRIES] += valid - used


@kernel
def node_of(h: IntArray, nodes: IntArray, node_map: IntArray, code: int, state: int) -> int:
    """The product node, made if there is none yet; EMPTY if there is no room for it."""
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
def link(edges: IntArray, heads: IntArray, walked: IntArray, edge: int) -> None:
    """Puts an edge into the adjacency lists that the automaton walks.

    ``heads`` knows the first edge by (vertex, 2 · input + inverse), ``walked`` says which
    of ``2 · input + inverse`` occur in a move.
    """
    for inverse in range(2):
        key = 2 * edges[edge, INPUT] + inverse
        if walked[key] != 0:
            vertex = edges[edge, SOURCE + inverse]
            slot = find(heads, vertex, key)
            edges[edge, NEXT_OUT + inverse] = heads[slot, 2]
            heads[slot, 0], heads[slot, 1], heads[slot, 2] = vertex, key, edge


@kernel
def edge_key(target: int, number: int, inputs: int) -> int:
    """The second half of an edge's key; the first is its source."""
    return target * inputs + number


@kernel
def _fitting(entries: int) -> int:
    capacity = SMALLEST_BLOCK
    while 5 * capacity < 8 * entries:
        capacity *= 2
    return capacity


@kernel
def count_valid(
    h: IntArray, edges: IntArray, nodes: IntArray, pool: IntArray, now: int
) -> tuple[int, int, int, int, int]:
    """What :func:`sweep` will keep.

    Edges, nodes and pool slots; how many edges and values never expire; the latest expiry
    of the others.
    """
    edge_count = node_count = slots = lasting = 0
    latest = now
    for edge in range(h[EDGES]):
        if edges[edge, EXPIRY] > now:
            edge_count += 1
            if edges[edge, EXPIRY] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, edges[edge, EXPIRY])
    for node in range(h[NODES]):
        block, capacity = nodes[node, BLOCK], nodes[node, CAPACITY]
        valid = _valid_in(pool, block, capacity, now)
        if valid > 0:
            node_count += 1
            slots += _fitting(valid)
            lasting += _valid_in(pool, block, capacity, FOREVER - 1)
    return edge_count, node_count, slots, lasting, latest


@kernel
def sweep(
    h: IntArray,
    walked: IntArray,
    free: IntArray,
    old_edges: IntArray,
    old_nodes: IntArray,
    old_pool: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    now: int,
) -> None:
    """Copies what is valid after ``now`` into fresh arrays."""
    edge_count, node_count = h[EDGES], h[NODES]
    h[EDGES] = h[NODES] = h[POOL_TOP] = h[ENTRIES] = h[ADDED] = 0
    for size in range(free.shape[0]):
        free[size] = EMPTY
    for old in range(edge_count):
        if old_edges[old, EXPIRY] > now:
            edge = h[EDGES]
            h[EDGES] += 1
            for part in range(EDGE_FIELDS):
                edges[edge, part] = old_edges[old, part]
            key = edge_key(edges[edge, TARGET], edges[edge, INPUT], walked.shape[0] // 2)
            put(edge_map, edges[edge, SOURCE], key, edge)
            link(edges, heads, walked, edge)
    for old in range(node_count):
        block, capacity = old_nodes[old, BLOCK], old_nodes[old, CAPACITY]
        valid = _valid_in(old_pool, block, capacity, now)
        if valid > 0:
            node = node_of(h, nodes, node_map, old_nodes[old, CODE], old_nodes[old, STATE])
            size = _fitting(valid)
            new = _new_block(h, pool, free, size)
            _copy_valid(old_pool, block, capacity, now, pool, new, size)
            nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED] = new, size, valid
            h[ENTRIES] += valid

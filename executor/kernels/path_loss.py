"""RAPQ's other half: what a path loses when one of its edges ends early or lasts less long.

The values of a tree that may rest on the edge are those that equal what the edge gives, and
those that equal what such a value gives onwards. They are all forgotten first; then each is
found again from what remains, longest first: the largest expiry over all ways that are left,
as in the growth of :mod:`headrace.executor.kernels.path`. Keyed on expiry, not on edge times, this
holds for edges of several windows and for derived ones.

To look back at a node its edges are listed by both of their ends
(:func:`headrace.executor.kernels.forest.link` with all of ``walked`` set).
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .forest import (
    BLOCK,
    CAPACITY,
    CODE,
    EXPIRY,
    NEXT_OUT,
    SOURCE,
    STATE,
    TARGET,
    edge_key,
    slot_of,
)
from .path import MOVE_INPUT, MOVE_INVERSE, MOVE_NEXT, MOVE_STATE
from .tables import EMPTY, find

# Why the kernel stopped; after an enlargement it is called again and goes on.
DONE, LOST_FULL, HEAP_FULL = range(3)

# The header: what is being done, how many values are lost, how far they were looked at, and
# the size of the heap.
STAGE, LOST, AT, HEAP_SIZE, HEADER_LENGTH = range(5)
SEEDING, SPREADING, SEEKING, FILLING = range(4)

# Fields of a lost value.
ROOT, NODE, BEFORE, LOST_FIELDS = range(4)


@kernel
def _push(heap: IntArray, size: int, width: int, root: int, node: int) -> None:
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above, 0] >= width:
            break
        for part in range(3):
            heap[at, part] = heap[above, part]
        at = above
    heap[at, 0], heap[at, 1], heap[at, 2] = width, root, node


@kernel
def _pop(heap: IntArray, size: int) -> None:
    last = size - 1
    width, root, node = heap[last, 0], heap[last, 1], heap[last, 2]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and heap[below + 1, 0] > heap[below, 0]:
            below += 1
        if heap[below, 0] <= width:
            break
        for part in range(3):
            heap[at, part] = heap[below, part]
        at = below
    heap[at, 0], heap[at, 1], heap[at, 2] = width, root, node


@kernel
def _slot(nodes: IntArray, pool: IntArray, node: int, root: int) -> int:
    """Where a node's value in a tree is; EMPTY if it never had one."""
    if node == EMPTY or nodes[node, CAPACITY] == 0:
        return EMPTY
    slot = slot_of(pool, nodes[node, BLOCK], nodes[node, CAPACITY], root)
    return slot if pool[slot, 0] == root else EMPTY


@kernel
def _lose(
    h: IntArray, nodes: IntArray, pool: IntArray, lost: IntArray, node: int, root: int,
    given: int, now: int,
) -> None:  # fmt: skip
    """Forgets a value if it may rest on a way that gave as much."""
    slot = _slot(nodes, pool, node, root)
    if slot != EMPTY and pool[slot, 1] == given and given > now:
        at = h[LOST]
        lost[at, ROOT], lost[at, NODE], lost[at, BEFORE] = root, node, given
        h[LOST] += 1
        pool[slot, 1] = 0


@kernel
def _seed(
    h: IntArray,
    edge: IntArray,
    move: IntArray,
    now: int,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    lost: IntArray,
) -> bool:
    """The values that a move over the edge may have given; False if ``lost`` has no room."""
    inverse = move[MOVE_INVERSE]
    behind, ahead = edge[SOURCE + inverse], edge[TARGET - inverse]
    to = node_map[find(node_map, ahead, move[MOVE_NEXT]), 2]
    if to == EMPTY:
        return True
    if move[MOVE_STATE] == 0:
        if h[LOST] == lost.shape[0]:
            return False
        _lose(h, nodes, pool, lost, to, behind, edge[EXPIRY], now)
        return True
    source = node_map[find(node_map, behind, move[MOVE_STATE]), 2]
    if source == EMPTY:
        return True
    block = nodes[source, BLOCK]
    for slot in range(block, block + nodes[source, CAPACITY]):
        if pool[slot, 0] != EMPTY and pool[slot, 1] > now:
            if h[LOST] == lost.shape[0]:
                return False
            given = min(pool[slot, 1], edge[EXPIRY])
            _lose(h, nodes, pool, lost, to, pool[slot, 0], given, now)
    return True


@kernel
def _spread(
    h: IntArray,
    at: int,
    now: int,
    moves: IntArray,
    moves_of_state: IntArray,
    edges: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    lost: IntArray,
) -> bool:
    """The values that a lost one may have given; False if ``lost`` has no room."""
    root, node, before = lost[at, ROOT], lost[at, NODE], lost[at, BEFORE]
    code, state = nodes[node, CODE], nodes[node, STATE]
    for k in range(moves_of_state[state], moves_of_state[state + 1]):
        inverse = moves[k, MOVE_INVERSE]
        edge = heads[find(heads, code, 2 * moves[k, MOVE_INPUT] + inverse), 2]
        while edge != EMPTY:
            if edges[edge, EXPIRY] > now:
                if h[LOST] == lost.shape[0]:
                    return False
                ahead = edges[edge, TARGET - inverse]
                to = node_map[find(node_map, ahead, moves[k, MOVE_NEXT]), 2]
                _lose(h, nodes, pool, lost, to, root, min(before, edges[edge, EXPIRY]), now)
            edge = edges[edge, NEXT_OUT + inverse]
    return True


@kernel
def _longest(
    root: int,
    node: int,
    now: int,
    moves: IntArray,
    edges: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
) -> int:
    """What the edges into a node give it now in a tree; ``now`` if nothing."""
    code, state = nodes[node, CODE], nodes[node, STATE]
    best = now
    for k in range(moves.shape[0]):
        if moves[k, MOVE_NEXT] != state:
            continue
        back = 1 - moves[k, MOVE_INVERSE]
        edge = heads[find(heads, code, 2 * moves[k, MOVE_INPUT] + back), 2]
        while edge != EMPTY:
            if edges[edge, EXPIRY] > best:
                behind = edges[edge, TARGET - back]
                given = now
                if moves[k, MOVE_STATE] == 0:
                    given = FOREVER if behind == root else now
                else:
                    source = node_map[find(node_map, behind, moves[k, MOVE_STATE]), 2]
                    slot = _slot(nodes, pool, source, root)
                    if slot != EMPTY:
                        given = pool[slot, 1]
                best = max(best, min(given, edges[edge, EXPIRY]))
            edge = edges[edge, NEXT_OUT + back]
    return best


@kernel
def _fill(
    h: IntArray,
    now: int,
    moves: IntArray,
    moves_of_state: IntArray,
    edges: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    heap: IntArray,
) -> bool:
    """Hands the value on top of the heap on; False if the heap has no room."""
    width, root, node = heap[0, 0], heap[0, 1], heap[0, 2]
    if pool[_slot(nodes, pool, node, root), 1] == width:  # else a longer way was found
        code, state = nodes[node, CODE], nodes[node, STATE]
        for k in range(moves_of_state[state], moves_of_state[state + 1]):
            inverse = moves[k, MOVE_INVERSE]
            edge = heads[find(heads, code, 2 * moves[k, MOVE_INPUT] + inverse), 2]
            while edge != EMPTY:
                given = min(width, edges[edge, EXPIRY])
                if given > now:
                    ahead = edges[edge, TARGET - inverse]
                    to = node_map[find(node_map, ahead, moves[k, MOVE_NEXT]), 2]
                    slot = _slot(nodes, pool, to, root)
                    if slot != EMPTY and given > pool[slot, 1]:
                        if h[HEAP_SIZE] == heap.shape[0]:
                            return False
                        pool[slot, 1] = given
                        _push(heap, h[HEAP_SIZE], given, root, to)
                        h[HEAP_SIZE] += 1
                edge = edges[edge, NEXT_OUT + inverse]
    _pop(heap, h[HEAP_SIZE])
    h[HEAP_SIZE] -= 1
    return True


@kernel
def lower(
    h: IntArray,
    row: IntArray,
    now: int,
    expiry: int,
    inputs: int,
    moves: IntArray,
    moves_of_state: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    lost: IntArray,
    heap: IntArray,
) -> int:
    """Lets the edge ``row`` (source, target, input) expire at ``expiry``; 0: at once.

    Afterwards the first ``h[LOST]`` rows of ``lost`` are what was looked at again.
    """
    edge = edge_map[find(edge_map, row[0], edge_key(row[1], row[2], inputs)), 2]
    if h[STAGE] == SEEDING:
        if edge == EMPTY or edges[edge, EXPIRY] <= now:
            return DONE
        # Done again after a stop it finds what is left: what was lost is no longer there.
        for k in range(moves.shape[0]):
            if moves[k, MOVE_INPUT] == row[2] and not _seed(
                h, edges[edge], moves[k], now, nodes, node_map, pool, lost
            ):
                return LOST_FULL
        h[STAGE] = SPREADING
    while h[STAGE] == SPREADING:
        if h[AT] == h[LOST]:
            edges[edge, EXPIRY] = expiry
            h[AT], h[STAGE] = 0, SEEKING
        else:
            if not _spread(
                h, h[AT], now, moves, moves_of_state, edges, heads, nodes, node_map, pool, lost
            ):
                return LOST_FULL
            h[AT] += 1
    while h[STAGE] == SEEKING:
        if h[AT] == h[LOST]:
            h[STAGE] = FILLING
        else:
            if h[HEAP_SIZE] == heap.shape[0]:
                return HEAP_FULL
            root, node = lost[h[AT], ROOT], lost[h[AT], NODE]
            found = _longest(root, node, now, moves, edges, heads, nodes, node_map, pool)
            slot = _slot(nodes, pool, node, root)
            if found > max(now, pool[slot, 1]):
                pool[slot, 1] = found
                _push(heap, h[HEAP_SIZE], found, root, node)
                h[HEAP_SIZE] += 1
            h[AT] += 1
    while h[HEAP_SIZE] > 0:
        if not _fill(h, now, moves, moves_of_state, edges, heads, nodes, node_map, pool, heap):
            return HEAP_FULL
    h[STAGE] = SEEDING
    return DONE


@kernel
def differences(
    h: IntArray,
    now: int,
    accepting: IntArray,
    nodes: IntArray,
    pool: IntArray,
    lost: IntArray,
    out: IntArray,
) -> int:
    """Writes how the lost values of accepting nodes changed: the new one, then the old one back.

    ``out`` has room for two rows for each; gives how many there are.
    """
    written = 0
    for at in range(h[LOST]):
        root, node, before = lost[at, ROOT], lost[at, NODE], lost[at, BEFORE]
        after = pool[_slot(nodes, pool, node, root), 1]
        if accepting[nodes[node, STATE]] == 0 or after == before:
            continue
        for exp in (after, ~before):
            if exp < 0 or exp > now:
                out[0, written], out[1, written] = root, nodes[node, CODE]
                out[2, written], out[3, written] = now, exp
                written += 1
    return written

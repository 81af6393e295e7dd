"""S-PATH (thesis appendix A): results of a path as edges come in.

A new edge u -> v changes a tree x by no more than ``min(value of u in x, widest path from
v)``. So there is one search per edge and transition, widest path first, from (v, t) over
the product graph, for all trees together. A node hands on to those found through it the
list of the trees that it improved, since no other can improve beyond it: if a tree is not
improved at a node, it already holds for the successors at least what the search could
bring. Thus each tree and node is looked at at most once per search, is set at once to its
final value, and the search ends where nothing improves.

An edge may make several transitions. While one is searched the later ones of the same edge
count as absent, so that no transition is ever walked before its own search has begun, on
which the argument rests. What has expired counts as absent too.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from ..counters import ADDED_VALIDITY, DROPPED, Tally
from .compiling import kernel
from .forest import (
    ADDED,
    ARENA_TOP,
    BLOCK,
    CAPACITY,
    CODE,
    EDGES,
    ENTRIES,
    EXPANDING,
    EXPIRY,
    FROM,
    HEAP_SIZE,
    IMPROVED_FROM,
    IMPROVED_TO,
    INPUT,
    MOVE,
    NEED,
    NEW_EDGE,
    NEXT_OUT,
    OUT,
    POOL_TOP,
    ROW,
    SEARCH,
    SEEN,
    SIGNED,
    SOURCE,
    STATE,
    SWEEP_AFTER,
    SWEEP_AT,
    TARGET,
    UNTIL,
    USED,
    WIDTH,
    edge_key,
    link,
    make_room,
    node_of,
    pool_room,
    slot_of,
)
from .tables import EMPTY, find

# Why the kernel stopped. At SWEEP_DUE and EDGES_FULL no search is in work.
DONE, SWEEP_DUE, EDGES_FULL, NODES_FULL, POOL_FULL, HEAP_FULL, ARENA_FULL, OUT_FULL = range(8)

# Fields of an input row are its first index; fields of a move are the columns of `moves`.
# ROW_ROOTS: 1 if trees may grow from the source, plus 2 if they may from the target.
ROW_SOURCE, ROW_TARGET, ROW_INPUT, ROW_TS, ROW_EXP, ROW_ROOTS, ROW_FIELDS = range(7)
ALL_ROOTS = 3
MOVE_STATE, MOVE_INPUT, MOVE_INVERSE, MOVE_NEXT = range(4)


@kernel
def push(heap: IntArray, size: int, width: int, node: int) -> None:
    """Adds to a heap of ``size`` pairs (width, node), the widest on top."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above, 0] >= width:
            break
        heap[at, 0], heap[at, 1] = heap[above, 0], heap[above, 1]
        at = above
    heap[at, 0], heap[at, 1] = width, node


@kernel
def pop(heap: IntArray, size: int) -> None:
    """Removes the top of a heap of ``size`` pairs."""
    last = size - 1
    width, node = heap[last, 0], heap[last, 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and heap[below + 1, 0] > heap[below, 0]:
            below += 1
        if heap[below, 0] <= width:
            break
        heap[at, 0], heap[at, 1] = heap[below, 0], heap[below, 1]
        at = below
    heap[at, 0], heap[at, 1] = width, node


@kernel
def _begin_row(
    h: IntArray,
    rows: IntArray,
    moves_of_input: IntArray,
    walked: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
) -> bool:
    """Enters the edge of the row in work; False if it says nothing new."""
    row = h[ROW]
    source, target, number = rows[ROW_SOURCE, row], rows[ROW_TARGET, row], rows[ROW_INPUT, row]
    key = edge_key(target, number, walked.shape[0] // 2)
    slot = find(edge_map, source, key)
    edge = edge_map[slot, 2]
    if edge == EMPTY:
        edge = h[EDGES]
        h[EDGES] += 1
        h[ADDED] += 1
        edge_map[slot, 0], edge_map[slot, 1], edge_map[slot, 2] = source, key, edge
        edges[edge, SOURCE], edges[edge, TARGET], edges[edge, INPUT] = source, target, number
        link(edges, heads, walked, edge)
    elif edges[edge, EXPIRY] >= rows[ROW_EXP, row]:
        return False
    edges[edge, EXPIRY] = rows[ROW_EXP, row]
    h[NEW_EDGE] = edge
    h[MOVE] = moves_of_input[number]
    return True


@kernel
def _begin_search(
    h: IntArray,
    rows: IntArray,
    move: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    heap: IntArray,
    arena: IntArray,
) -> int:
    """Starts from the trees that one move of the row in work extends, if any."""
    row = h[ROW]
    now, width = rows[ROW_TS, row], rows[ROW_EXP, row]
    inverse = move[MOVE_INVERSE]
    behind, ahead = rows[ROW_SOURCE + inverse, row], rows[ROW_TARGET - inverse, row]
    trees = 0
    if move[MOVE_STATE] == 0:
        if (rows[ROW_ROOTS, row] >> inverse) & 1:
            arena[0, 0], arena[0, 1] = behind, FOREVER
            trees = 1
    else:
        source = node_map[find(node_map, behind, move[MOVE_STATE]), 2]
        if source != EMPTY:
            if nodes[source, USED] > arena.shape[0]:
                h[NEED] = nodes[source, USED]
                return ARENA_FULL
            block = nodes[source, BLOCK]
            for slot in range(block, block + nodes[source, CAPACITY]):
                if pool[slot, 0] != EMPTY and pool[slot, 1] > now:
                    arena[trees, 0], arena[trees, 1] = pool[slot, 0], pool[slot, 1]
                    trees += 1
    if trees > 0:
        node = node_of(h, nodes, node_map, ahead, move[MOVE_NEXT])
        if node == EMPTY:
            return NODES_FULL
        h[SEARCH] += 1
        nodes[node, SEEN], nodes[node, WIDTH] = h[SEARCH], width
        nodes[node, FROM], nodes[node, UNTIL] = 0, trees
        h[ARENA_TOP] = trees
        heap[0, 0], heap[0, 1] = width, node
        h[HEAP_SIZE] = 1
    h[MOVE] += 1
    return DONE


@kernel
def _improve(
    h: IntArray,
    now: int,
    node: int,
    accepting: IntArray,
    finals: IntArray,
    rivals: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    free: IntArray,
    arena: IntArray,
    out: IntArray,
    tally: Tally,
) -> int:
    """Sets a node's values in the trees handed to it, and reports what grew."""
    state, code, width = nodes[node, STATE], nodes[node, CODE], nodes[node, WIDTH]
    first, last = nodes[node, FROM], nodes[node, UNTIL]
    top, written = h[ARENA_TOP], h[OUT]
    if top + last - first > arena.shape[0]:
        h[NEED] = top + last - first
        return ARENA_FULL
    reports = accepting[state] != 0
    most = (last - first) * (1 + h[SIGNED])
    if reports and written + most > out.shape[1]:
        h[NEED] = most
        return OUT_FULL
    h[NEED] = h[POOL_TOP] + pool_room(nodes[node, CAPACITY], nodes[node, USED] + last - first)
    if h[NEED] > pool.shape[0]:
        return POOL_FULL
    # A result must also extend what other accepting states of its vertex have said.
    rival_count = 0
    if reports and finals.shape[0] > 1 and h[SIGNED] == 0:
        for i in range(finals.shape[0]):
            rival = node_map[find(node_map, code, finals[i]), 2]
            if rival not in (EMPTY, node) and nodes[rival, CAPACITY] > 0:
                rivals[rival_count] = rival
                rival_count += 1
    if nodes[node, CAPACITY] == 0:
        make_room(h, nodes, pool, free, node, now)
    block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
    added = 0
    for at in range(first, last):
        root, behind = arena[at, 0], arena[at, 1]
        value = min(behind, width)
        before = now
        slot = slot_of(pool, block, capacity, root)
        said = now  # until when an earlier result says that this pair is connected
        if pool[slot, 0] == EMPTY:
            if 4 * (used + 1) > 3 * capacity:
                nodes[node, USED] = used
                make_room(h, nodes, pool, free, node, now)
                block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
                slot = slot_of(pool, block, capacity, root)
            pool[slot, 0] = root
            used += 1
            added += 1
        elif pool[slot, 1] >= value:
            tally[DROPPED] += reports
            continue
        else:
            before = pool[slot, 1]
            said = max(said, before)
        pool[slot, 1] = value
        arena[top, 0], arena[top, 1] = root, behind
        top += 1
        if reports:
            for i in range(rival_count):
                rival = rivals[i]
                there = slot_of(pool, nodes[rival, BLOCK], nodes[rival, CAPACITY], root)
                if pool[there, 0] == root:
                    said = max(said, pool[there, 1])
            if said >= value:
                tally[DROPPED] += 1
            else:
                if value != FOREVER:
                    tally[ADDED_VALIDITY] += value - said
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, value
                written += 1
            if h[SIGNED] != 0 and before > now:
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, ~before
                written += 1
    nodes[node, USED] = used
    h[ENTRIES] += added
    h[ADDED] += added
    h[OUT] = written
    h[IMPROVED_FROM], h[IMPROVED_TO] = h[ARENA_TOP], top
    h[ARENA_TOP] = top
    return DONE


@kernel
def _expand(
    h: IntArray,
    now: int,
    node: int,
    moves: IntArray,
    moves_of_state: IntArray,
    current: int,
    edges: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    heap: IntArray,
) -> int:
    """Finds the successors of a node, to be handed the trees that it improved.

    After a stop it is done again from the start, which does nothing twice.
    """
    code, state, width = nodes[node, CODE], nodes[node, STATE], nodes[node, WIDTH]
    for k in range(moves_of_state[state], moves_of_state[state + 1]):
        inverse = moves[k, MOVE_INVERSE]
        edge = heads[find(heads, code, 2 * moves[k, MOVE_INPUT] + inverse), 2]
        while edge != EMPTY:
            through = min(width, edges[edge, EXPIRY])
            if through > now and (edge != h[NEW_EDGE] or k < current):
                to = node_of(h, nodes, node_map, edges[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                if to == EMPTY:
                    return NODES_FULL
                if nodes[to, SEEN] != h[SEARCH]:
                    nodes[to, SEEN], nodes[to, WIDTH] = h[SEARCH], now
                if through > nodes[to, WIDTH]:
                    if h[HEAP_SIZE] == heap.shape[0]:
                        return HEAP_FULL
                    nodes[to, WIDTH] = through
                    nodes[to, FROM], nodes[to, UNTIL] = h[IMPROVED_FROM], h[IMPROVED_TO]
                    push(heap, h[HEAP_SIZE], through, to)
                    h[HEAP_SIZE] += 1
            edge = edges[edge, NEXT_OUT + inverse]
    return DONE


@kernel
def advance(
    h: IntArray,
    rows: IntArray,
    moves: IntArray,
    moves_of_state: IntArray,
    input_moves: IntArray,
    moves_of_input: IntArray,
    walked: IntArray,
    accepting: IntArray,
    finals: IntArray,
    rivals: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
    nodes: IntArray,
    node_map: IntArray,
    pool: IntArray,
    free: IntArray,
    heap: IntArray,
    arena: IntArray,
    out: IntArray,
    tally: Tally,
) -> int:
    """Works through ``rows`` from where the header stands; returns why it stopped.

    ``moves`` are sorted by state and ``moves_of_state`` says where each state's begin;
    ``input_moves[moves_of_input[i] : moves_of_input[i + 1]]`` are those that read input i.
    """
    while True:
        while h[HEAP_SIZE] > 0 or h[EXPANDING] != EMPTY:
            now = rows[ROW_TS, h[ROW]]
            if h[EXPANDING] == EMPTY:
                width, node = heap[0, 0], heap[0, 1]
                if nodes[node, WIDTH] == width:  # else it was found wider, and is settled
                    status = _improve(
                        h, now, node, accepting, finals, rivals,
                        nodes, node_map, pool, free, arena, out, tally,
                    )  # fmt: skip
                    if status != DONE:
                        return status
                    h[EXPANDING] = node
                pop(heap, h[HEAP_SIZE])
                h[HEAP_SIZE] -= 1
                if h[EXPANDING] == EMPTY:
                    continue
            node = h[EXPANDING]
            if h[IMPROVED_TO] > h[IMPROVED_FROM]:
                current = input_moves[h[MOVE] - 1]
                status = _expand(
                    h, now, node, moves, moves_of_state, current,
                    edges, heads, nodes, node_map, heap,
                )  # fmt: skip
                if status != DONE:
                    return status
            nodes[node, WIDTH] = FOREVER
            h[EXPANDING] = EMPTY
        row = h[ROW]
        if h[MOVE] == EMPTY:
            if row == rows.shape[1]:
                return DONE
            if rows[ROW_TS, row] >= h[SWEEP_AT] and h[ADDED] >= h[SWEEP_AFTER]:
                return SWEEP_DUE
            if h[EDGES] == edges.shape[0]:
                return EDGES_FULL
            if not _begin_row(h, rows, moves_of_input, walked, edges, edge_map, heads):
                h[ROW] += 1
        elif h[MOVE] == moves_of_input[rows[ROW_INPUT, row] + 1]:
            h[MOVE] = EMPTY
            h[ROW] += 1
        else:
            status = _begin_search(
                h, rows, moves[input_moves[h[MOVE]]], nodes, node_map, pool, heap, arena
            )
            if status != DONE:
                return status

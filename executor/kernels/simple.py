"""Simple paths as edges come in: what a new edge u -> v completes, pair by pair.

A path of largest expiry that repeats no vertex is hard to find in general (NP-hard already for
``(a·a)+``), and a spanning tree of walks does not find it. So nothing is kept but the valid
edges and, for each pair, the largest expiry reported. All paths that a new edge adds lead
through it once: from a root to u, over one move of the automaton, and from v to an end. One
search backwards from u and one forwards from v give the *region*: product nodes (vertex,
state), layer 0 before the edge and layer 1 behind it, with the widest walk between each node
and the edge. Then for each root and end whose walk is wider than what was reported:

* if the two widest walks together repeat no vertex, they are the widest simple path, since no
  simple path is wider than the widest walk;
* else branch and bound: a path is extended arc by arc from the root, and each time the widest
  walk from there to the end *past the vertices on the path* is an upper bound. If that walk is
  itself simple the branch is done, and if it is not wider than the best so far it is cut.

The number of nodes looked at in branch and bound may grow exponentially; it is bounded for each
edge by a budget of steps.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .forest import EXPIRY, INPUT, SOURCE, TARGET, edge_key, link
from .path import ROW_EXP, ROW_INPUT, ROW_ROOTS, ROW_SOURCE, ROW_TARGET, ROW_TS
from .region import (
    ADDED,
    CODE,
    EDGES,
    ENDS_FOUND,
    MOVE,
    NEW_EDGE,
    OUT,
    OWNED,
    PAIR,
    RESULTS,
    ROOTS_FOUND,
    ROW,
    SIMPLE_EDGE_FIELDS,
    STEPS,
    SWEEP_AFTER,
    SWEEP_AT,
    VERTEX,
    WIDTH,
    clear,
    find_region,
)
from .simple_search import walks_are_simple, widest_simple
from .tables import EMPTY, find, put

# Why the kernel stopped.
DONE, SWEEP_DUE, EDGES_FULL, SPACE_FULL, RESULTS_FULL, OUT_FULL, OVER_BUDGET = range(7)


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
    """Enters the edge of the row in work; False if it says nothing new or is a loop."""
    row = h[ROW]
    source, target, number = rows[ROW_SOURCE, row], rows[ROW_TARGET, row], rows[ROW_INPUT, row]
    if source == target:
        return False
    key = edge_key(target, number, walked.shape[0] // 2)
    slot = find(edge_map, source, key)
    edge = edge_map[slot, 2]
    if edge == EMPTY:
        edge = h[EDGES]
        h[EDGES] += 1
        h[ADDED] += 1
        edge_map[slot, 0], edge_map[slot, 1], edge_map[slot, 2] = source, key, edge
        edges[edge, SOURCE], edges[edge, TARGET], edges[edge, INPUT] = source, target, number
        edges[edge, OWNED] = rows[ROW_ROOTS, row]
        link(edges, heads, walked, edge)
    elif edges[edge, EXPIRY] >= rows[ROW_EXP, row]:
        return False
    edges[edge, EXPIRY] = rows[ROW_EXP, row]
    h[NEW_EDGE] = edge
    h[MOVE] = moves_of_input[number]
    h[STEPS] = 0
    return True


@kernel
def _report_pairs(
    h: IntArray,
    now: int,
    budget: int,
    nodes: IntArray,
    vertices: IntArray,
    arcs: IntArray,
    heap: IntArray,
    ends: IntArray,
    stack: IntArray,
    results: IntArray,
    out: IntArray,
) -> int:
    """Sets and reports, from the header's pair on, what the edge in work improves."""
    middle, count = ends.shape[0] // 2, h[ENDS_FOUND]
    while h[PAIR] < h[ROOTS_FOUND] * count:
        root, end = ends[h[PAIR] // count], ends[middle + h[PAIR] % count]
        x, y = vertices[nodes[root, VERTEX], CODE], vertices[nodes[end, VERTEX], CODE]
        bound = min(nodes[root, WIDTH], nodes[end, WIDTH])
        slot = find(results, x, y)
        known = max(now, results[slot, 2])  # EMPTY is below every time
        if x != y and bound > known:
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            if 2 * h[RESULTS] >= results.shape[0]:
                return RESULTS_FULL
            value = bound
            if not walks_are_simple(h, root, end, nodes, vertices):
                value = widest_simple(
                    h, root, end, known, bound, budget, nodes, vertices, arcs, heap, stack
                )
                if h[STEPS] > budget:
                    return OVER_BUDGET
            if value > known:
                if results[slot, 2] == EMPTY:
                    h[RESULTS] += 1
                    h[ADDED] += 1
                results[slot, 0], results[slot, 1], results[slot, 2] = x, y, value
                written = h[OUT]
                out[0, written], out[1, written] = x, y
                out[2, written], out[3, written] = now, value
                h[OUT] += 1
        h[PAIR] += 1
    return DONE


@kernel
def advance(
    h: IntArray,
    rows: IntArray,
    budget: int,
    moves: IntArray,
    input_moves: IntArray,
    moves_of_input: IntArray,
    walked: IntArray,
    forwards: IntArray,
    forwards_of: IntArray,
    backwards: IntArray,
    backwards_of: IntArray,
    accepting: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
    nodes: IntArray,
    vertices: IntArray,
    index: IntArray,
    arcs: IntArray,
    heap: IntArray,
    ends: IntArray,
    stack: IntArray,
    results: IntArray,
    out: IntArray,
) -> int:
    """Works through ``rows`` from where the header stands; returns why it stopped.

    ``input_moves[moves_of_input[i] : moves_of_input[i + 1]]`` are the moves that read input i;
    ``forwards`` and ``backwards`` are the automaton's steps out of each state and into it.
    """
    while True:
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
            if h[PAIR] == EMPTY and not find_region(
                h, rows, moves[input_moves[h[MOVE]]],
                forwards, forwards_of, backwards, backwards_of, accepting,
                edges, heads, nodes, vertices, index, arcs, heap, ends,
            ):  # fmt: skip
                clear(h, nodes, vertices, index)
                h[PAIR] = EMPTY
                return SPACE_FULL
            status = _report_pairs(
                h, rows[ROW_TS, row], budget,
                nodes, vertices, arcs, heap, ends, stack, results, out,
            )  # fmt: skip
            if status != DONE:
                return status
            clear(h, nodes, vertices, index)
            h[PAIR] = EMPTY
            h[MOVE] += 1


@kernel
def count_valid(h: IntArray, edges: IntArray, results: IntArray, now: int) -> tuple[int, ...]:
    """What :func:`sweep` will keep.

    Edges and pairs; how many of them never expire; the latest expiry of the others.
    """
    edge_count = pairs = lasting = 0
    latest = now
    for edge in range(h[EDGES]):
        if edges[edge, EXPIRY] > now:
            edge_count += 1
            if edges[edge, EXPIRY] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, edges[edge, EXPIRY])
    for slot in range(results.shape[0]):
        if results[slot, 2] > now:
            pairs += 1
            if results[slot, 2] == FOREVER:
                lasting += 1
    return edge_count, pairs, lasting, latest


@kernel
def sweep(
    h: IntArray,
    walked: IntArray,
    old_edges: IntArray,
    old_results: IntArray,
    edges: IntArray,
    edge_map: IntArray,
    heads: IntArray,
    results: IntArray,
    now: int,
) -> None:
    """Copies what is valid after ``now`` into fresh arrays."""
    edge_count = h[EDGES]
    h[EDGES] = h[RESULTS] = h[ADDED] = 0
    for old in range(edge_count):
        if old_edges[old, EXPIRY] > now:
            edge = h[EDGES]
            h[EDGES] += 1
            for part in range(SIMPLE_EDGE_FIELDS):
                edges[edge, part] = old_edges[old, part]
            key = edge_key(edges[edge, TARGET], edges[edge, INPUT], walked.shape[0] // 2)
            put(edge_map, edges[edge, SOURCE], key, edge)
            link(edges, heads, walked, edge)
    for slot in range(old_results.shape[0]):
        if old_results[slot, 2] > now:
            put(results, old_results[slot, 0], old_results[slot, 1], old_results[slot, 2])
            h[RESULTS] += 1

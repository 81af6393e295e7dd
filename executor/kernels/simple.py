"""SIMPLE_PATH and TRAIL_PATH: incremental results of simple paths and trails as edges arrive.

Finding a path of largest expiry that repeats no vertex is NP-hard in general (already for
``(a·a)+``), and a spanning tree of walks does not contain it. So the state is only the valid edges
and the largest reported expiry of each pair.

Each path that a new edge u -> v adds uses the edge once: from a root to u, over one move of the
automaton, and from v to an end. A search backwards from u and a search forwards from v build the
*region* (:mod:`headrace.executor.kernels.region`), with the widest walk between each node and the
edge. For each root and end whose widest walk exceeds the reported expiry:

* if the two widest walks together repeat no vertex, they are the widest simple path, since no
  simple path is wider than the widest walk;
* else branch and bound finds it (:mod:`headrace.executor.kernels.simple_search`).

TRAIL_PATH runs the same search over a graph in which each edge is a vertex between its two ends,
and only these vertices may not be repeated. A trail need not visit a node of the product graph
twice: without the part between the two visits it is still a trail, and its word is still accepted.

Branch and bound may visit exponentially many nodes; a budget of steps bounds it for each edge.
"""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .edges import Edges, enter
from .path import (
    ROW_EXP,
    ROW_INPUT,
    ROW_ROOTS,
    ROW_SOURCE,
    ROW_TARGET,
    ROW_TS,
    Automaton,
)
from .region import (
    CODE,
    ENDS_FOUND,
    MOVE,
    NEW_EDGE,
    OUT,
    OWNED,
    PAIR,
    PAIRS,
    ROOTS_FOUND,
    ROW,
    STEPS,
    TRAILS,
    VERTEX,
    WIDTH,
    Region,
    Stepping,
    clear,
    find_region,
)
from .simple_search import walks_are_simple, widest_simple
from .stops import (
    DONE,
    EDGES_FULL,
    OUT_FULL,
    OVER_BUDGET,
    PAIRS_FULL,
    SPACE_FULL,
    SWEEP_DUE,
)
from .store import ADDED, COUNT, is_sweep_due
from .tables import EMPTY, find


@kernel
def _begin_row(rows: IntArray, automaton: Automaton, edges: Edges, h: IntArray) -> bool:
    """Adds the edge of the current row; False for a loop, or if the edge already lasts as long."""
    row = h[ROW]
    source, target, number = rows[ROW_SOURCE, row], rows[ROW_TARGET, row], rows[ROW_INPUT, row]
    if source == target:
        return False
    edge = enter(edges, source, target, number, rows[ROW_EXP, row], False)
    if edge == EMPTY:
        return False
    edges.rows[edge, OWNED] = rows[ROW_ROOTS, row]
    h[NEW_EDGE] = edge
    h[MOVE] = automaton.moves_of_input[number]
    h[STEPS] = 0
    return True


@kernel
def _report_pairs(
    now: int, budget: int, added: IntArray, region: Region, pairs: IntArray, out: IntArray
) -> int:
    """Reports the pairs that the current edge improves; resumes from the header.

    ``added`` is the header of the edges, whose field ADDED counts new pairs for sweeps.
    """
    h, nodes, vertices, ends = region.header, region.nodes, region.vertices, region.ends
    middle, count = ends.shape[0] // 2, h[ENDS_FOUND]
    while h[PAIR] < h[ROOTS_FOUND] * count:
        root, end = ends[h[PAIR] // count], ends[middle + h[PAIR] % count]
        x, y = vertices[nodes[root, VERTEX], CODE], vertices[nodes[end, VERTEX], CODE]
        bound = min(nodes[root, WIDTH], nodes[end, WIDTH])
        slot = find(pairs, x, y)
        reported = max(now, pairs[slot, 2])  # EMPTY is below every time
        apart = h[TRAILS] != 0 or x not in (y, -2 - y)  # -2 - y stands for the source y
        if apart and bound > reported:
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            if 2 * h[PAIRS] >= pairs.shape[0]:
                return PAIRS_FULL
            value = bound
            if not walks_are_simple(region, root, end):
                value = widest_simple(region, root, end, reported, bound, budget)
                if h[STEPS] > budget:
                    return OVER_BUDGET
            if value > reported:
                if pairs[slot, 2] == EMPTY:
                    h[PAIRS] += 1
                    added[ADDED] += 1
                pairs[slot, 0], pairs[slot, 1], pairs[slot, 2] = x, y, value
                written = h[OUT]
                out[0, written], out[1, written] = x, y
                out[2, written], out[3, written] = now, value
                h[OUT] += 1
        h[PAIR] += 1
    return DONE


@kernel
def advance(
    rows: IntArray,
    budget: int,
    automaton: Automaton,
    stepping: Stepping,
    edges: Edges,
    region: Region,
    pairs: IntArray,
    out: IntArray,
) -> int:
    """Processes ``rows``; resumes from the header. Returns the reason of the stop.

    ``pairs`` is a table from each pair to its largest reported expiry.
    """
    h = region.header
    while True:
        row = h[ROW]
        if h[MOVE] == EMPTY:
            if row == rows.shape[1]:
                return DONE
            if is_sweep_due(edges.header, rows[ROW_TS, row]):
                return SWEEP_DUE
            if edges.header[COUNT] == edges.rows.shape[0]:
                return EDGES_FULL
            if not _begin_row(rows, automaton, edges, h):
                h[ROW] += 1
        elif h[MOVE] == automaton.moves_of_input[rows[ROW_INPUT, row] + 1]:
            h[MOVE] = EMPTY
            h[ROW] += 1
        else:
            move = automaton.moves[automaton.input_moves[h[MOVE]]]
            if h[PAIR] == EMPTY and not find_region(rows, move, stepping, edges, region):
                clear(region)
                h[PAIR] = EMPTY
                return SPACE_FULL
            now = rows[ROW_TS, row]
            status = _report_pairs(now, budget, edges.header, region, pairs, out)
            if status != DONE:
                return status
            clear(region)
            h[PAIR] = EMPTY
            h[MOVE] += 1

"""A path for a row: a search over the valid edges, backwards from where the path ends.

Edges are kept with the adjacency lists of :mod:`headrace.executor.kernels.forest`. An edge that
lasts longer than it did is a new one, and the old one is dead: so the lists stand in the order of
the rows that still count, whatever came before. Edges of one instant are taken in before a path is
looked for in a row of that instant.

The search is breadth-first over product nodes (vertex, automaton state) from the target in its
accepting states back to the source in the start state; each node knows the edge that leads
on, so the first node found for the source gives a shortest path. If it must repeat no vertex
and does, all that leads to the target is found, and a depth-first search from the source
looks for a simple path among those nodes, with a budget of steps.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .forest import (
    EDGE_FIELDS,
    EXPIRY,
    INPUT,
    NEXT_OUT,
    SOURCE,
    TARGET,
    edge_key,
    link,
)
from .path import ROW_EXP, ROW_INPUT, ROW_SOURCE, ROW_TARGET, ROW_TS
from .tables import EMPTY, find, put

(
    EDGES,
    ADDED,  # edges added since the last sweep
    SWEEP_AT,  # a sweep is due from this time on,
    SWEEP_AFTER,  # once so much was added
    EDGE_ROW,  # the next row of an edge
    ROW,  # the next row that wants a path
    FOUND,  # nodes of the search in work
    STEPS,  # steps of all paths found
    HEADER_LENGTH,
) = range(9)

# Why the kernel stopped.
DONE, SWEEP_DUE, EDGES_FULL, NODES_FULL, OUT_FULL, NO_PATH, OVER_BUDGET = range(7)

# Fields of a product node: the edge that leads on from it, 2 * input + inverse of that step, and
# the node that it leads to.
VERTEX, STATE, EDGE, KIND, NEXT, NODE_FIELDS = range(6)

# Rows that want a path: source, target, ts, exp.
WANT_SOURCE, WANT_TARGET, WANT_TS, WANT_EXP, WANT_FIELDS = range(5)

STEP_FIELDS = 3
"""A step of a path: from, 2 * input + inverse, to."""
STACK_FIELDS = 5


@kernel
def _enter(
    h: IntArray, rows: IntArray, row: int, walked: IntArray, edges: IntArray,
    edge_map: IntArray, heads: IntArray,
) -> None:  # fmt: skip
    """Takes in an edge, unless one is held that lasts as long."""
    source, target, number = rows[ROW_SOURCE, row], rows[ROW_TARGET, row], rows[ROW_INPUT, row]
    key = edge_key(target, number, walked.shape[0] // 2)
    slot = find(edge_map, source, key)
    old = edge_map[slot, 2]
    if old != EMPTY:
        if edges[old, EXPIRY] >= rows[ROW_EXP, row]:
            return
        edges[old, EXPIRY] = EMPTY
    edge = h[EDGES]
    h[EDGES] += 1
    h[ADDED] += 1
    edge_map[slot, 0], edge_map[slot, 1], edge_map[slot, 2] = source, key, edge
    edges[edge, SOURCE], edges[edge, TARGET], edges[edge, INPUT] = source, target, number
    edges[edge, EXPIRY] = rows[ROW_EXP, row]
    link(edges, heads, walked, edge)


@kernel
def _reach(
    h: IntArray, nodes: IntArray, index: IntArray, vertex: int, state: int, edge: int, kind: int,
    next_node: int,
) -> int:  # fmt: skip
    """The number of a product node found for the first time; EMPTY if it is known."""
    slot = find(index, vertex, state)
    if index[slot, 2] != EMPTY:
        return EMPTY
    node = h[FOUND]
    h[FOUND] += 1
    index[slot, 0], index[slot, 1], index[slot, 2] = vertex, state, node
    nodes[node, VERTEX], nodes[node, STATE] = vertex, state
    nodes[node, EDGE], nodes[node, KIND], nodes[node, NEXT] = edge, kind, next_node
    return node


@kernel
def _clear(h: IntArray, nodes: IntArray, index: IntArray) -> None:
    """Empties the index of what the search found."""
    mask = index.shape[0] - 1
    if 8 * h[FOUND] > index.shape[0]:
        index[:, 2] = EMPTY
    else:
        # All keys of a cluster go, so none is left behind a gap.
        for node in range(h[FOUND]):
            slot = find(index, nodes[node, VERTEX], nodes[node, STATE])
            while index[slot, 2] != EMPTY:
                index[slot, 2] = EMPTY
                slot = (slot + 1) & mask
    h[FOUND] = 0


@kernel
def _search(
    h: IntArray, source: int, target: int, exp: int, accepting: IntArray, backwards: IntArray,
    backwards_of: IntArray, edges: IntArray, heads: IntArray, nodes: IntArray, index: IntArray,
    first: int, stop: bool,
) -> tuple[int, int]:  # fmt: skip
    """Goes on from node ``first``; the node of the source in the start state (EMPTY: there is
    none yet), and the next node to go on from (EMPTY: there is no room)."""
    if h[FOUND] == 0:
        for state in accepting:
            if h[FOUND] == nodes.shape[0]:
                return EMPTY, EMPTY
            _reach(h, nodes, index, target, state, EMPTY, EMPTY, EMPTY)
    start, current = EMPTY, first
    while current < h[FOUND]:
        vertex, state = nodes[current, VERTEX], nodes[current, STATE]
        for step in range(backwards_of[state], backwards_of[state + 1]):
            kind, before = backwards[step, 1], backwards[step, 2]
            # A step along an edge is found at the edge's other end.
            inverse = 1 - (kind & 1)
            edge = heads[find(heads, vertex, kind ^ 1), 2]
            while edge != EMPTY:
                if edges[edge, EXPIRY] >= exp:
                    if h[FOUND] == nodes.shape[0]:
                        return EMPTY, EMPTY
                    other = edges[edge, TARGET - inverse]
                    node = _reach(h, nodes, index, other, before, edge, kind, current)
                    if node != EMPTY and before == 0 and other == source:
                        start = node
                        if stop:
                            return start, current
                edge = edges[edge, NEXT_OUT + inverse]
        current += 1
    return start, current


@kernel
def _repeats(nodes: IntArray, start: int) -> bool:
    """Whether the path from a node meets a vertex again."""
    one = start
    while nodes[one, NEXT] != EMPTY:
        other = nodes[one, NEXT]
        while other != EMPTY:
            if nodes[other, VERTEX] == nodes[one, VERTEX]:
                return True
            other = nodes[other, NEXT]
        one = nodes[one, NEXT]
    return False


@kernel
def _simple(
    start: int, target: int, exp: int, budget: int, final: IntArray, forwards: IntArray,
    forwards_of: IntArray, edges: IntArray, heads: IntArray, nodes: IntArray, index: IntArray,
    stack: IntArray,
) -> int:  # fmt: skip
    """The length of a simple path from the start, whose steps stand in ``stack``; 0 if there is
    none, EMPTY beyond the budget.

    ``stack`` holds for each vertex on the path its node, the move and the edge to try next, and
    the edge and kind of the step by which the path went on.
    """
    depth = taken = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = start, forwards_of[nodes[start, STATE]], EMPTY
    fresh = True
    while depth >= 0:
        node = stack[depth, 0]
        vertex, state = nodes[node, VERTEX], nodes[node, STATE]
        if depth > 0 and fresh and vertex == target and final[state] != 0:
            return depth
        taken += 1
        if taken > budget:
            return EMPTY
        move, edge = stack[depth, 1], stack[depth, 2]
        if move == forwards_of[state + 1] or (depth > 0 and vertex == target):
            depth -= 1
            fresh = False
            continue
        kind, after = forwards[move, 1], forwards[move, 2]
        inverse = kind & 1
        if edge == EMPTY:
            edge = heads[find(heads, vertex, kind), 2]
        else:
            edge = edges[edge, NEXT_OUT + inverse]
        if edge == EMPTY:
            stack[depth, 1], stack[depth, 2] = move + 1, EMPTY
            continue
        stack[depth, 2] = edge
        fresh = False
        if edges[edge, EXPIRY] < exp:
            continue
        other = edges[edge, TARGET - inverse]
        following = index[find(index, other, after), 2]
        if following == EMPTY:
            continue
        met = False
        for place in range(depth + 1):
            if nodes[stack[place, 0], VERTEX] == other:
                met = True
        if met:
            continue
        stack[depth, 3], stack[depth, 4] = edge, kind
        depth += 1
        stack[depth, 0], stack[depth, 1] = following, forwards_of[after]
        stack[depth, 2] = EMPTY
        fresh = True
    return 0


@kernel
def advance(
    h: IntArray, rows: IntArray, wants: IntArray, simple: bool, budget: int, walked: IntArray,
    accepting: IntArray, final: IntArray, forwards: IntArray, forwards_of: IntArray,
    backwards: IntArray, backwards_of: IntArray, edges: IntArray, edge_map: IntArray,
    heads: IntArray, nodes: IntArray, index: IntArray, stack: IntArray, ends: IntArray,
    steps: IntArray,
) -> int:  # fmt: skip
    """Works through rows of edges and those that want a path from where the header stands;
    returns why it stopped.

    ``steps`` are those of all paths, one after the other; that of row r ends before ``ends[r]``.
    """
    while True:
        row, want = h[EDGE_ROW], h[ROW]
        is_edge = row < rows.shape[1] and (
            want == wants.shape[1] or rows[ROW_TS, row] <= wants[WANT_TS, want]
        )
        if not is_edge and want == wants.shape[1]:
            return DONE
        now = rows[ROW_TS, row] if is_edge else wants[WANT_TS, want]
        if now >= h[SWEEP_AT] and h[ADDED] >= h[SWEEP_AFTER]:
            return SWEEP_DUE
        if is_edge:
            if h[EDGES] == edges.shape[0]:
                return EDGES_FULL
            _enter(h, rows, row, walked, edges, edge_map, heads)
            h[EDGE_ROW] += 1
            continue
        source, target = wants[WANT_SOURCE, want], wants[WANT_TARGET, want]
        exp = wants[WANT_EXP, want]
        start, following = _search(
            h, source, target, exp, accepting, backwards, backwards_of,
            edges, heads, nodes, index, 0, True,
        )  # fmt: skip
        length = 0
        is_simple = True
        if start != EMPTY and simple and _repeats(nodes, start):
            is_simple = False
            _, following = _search(
                h, source, target, exp, accepting, backwards, backwards_of,
                edges, heads, nodes, index, following, False,
            )  # fmt: skip
        if following == EMPTY:
            _clear(h, nodes, index)
            return NODES_FULL
        if start == EMPTY:
            _clear(h, nodes, index)
            return NO_PATH
        if is_simple:
            node = start
            while nodes[node, NEXT] != EMPTY:
                length += 1
                node = nodes[node, NEXT]
        else:
            length = _simple(
                start, target, exp, budget, final, forwards, forwards_of,
                edges, heads, nodes, index, stack,
            )  # fmt: skip
        if length <= 0:
            _clear(h, nodes, index)
            return NO_PATH if length == 0 else OVER_BUDGET
        if h[STEPS] + length > steps.shape[1]:
            _clear(h, nodes, index)
            return OUT_FULL
        node = start
        for place in range(length):
            if is_simple:
                edge, kind = nodes[node, EDGE], nodes[node, KIND]
                node = nodes[node, NEXT]
            else:
                edge, kind = stack[place, 3], stack[place, 4]
            written, inverse = h[STEPS], kind & 1
            steps[0, written] = edges[edge, SOURCE + inverse]
            steps[1, written] = kind
            steps[2, written] = edges[edge, TARGET - inverse]
            h[STEPS] += 1
        ends[want] = h[STEPS]
        _clear(h, nodes, index)
        h[ROW] += 1


@kernel
def count_valid(h: IntArray, edges: IntArray, now: int) -> tuple[int, int, int]:
    """Edges that :func:`sweep` will keep, how many of them never expire, and the latest expiry of
    the others."""
    count = lasting = 0
    latest = now
    for edge in range(h[EDGES]):
        if edges[edge, EXPIRY] > now:
            count += 1
            if edges[edge, EXPIRY] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, edges[edge, EXPIRY])
    return count, lasting, latest


@kernel
def sweep(
    h: IntArray, walked: IntArray, old: IntArray, edges: IntArray, edge_map: IntArray,
    heads: IntArray, now: int,
) -> None:  # fmt: skip
    """Copies what is valid after ``now`` into fresh arrays."""
    count = h[EDGES]
    h[EDGES] = h[ADDED] = 0
    for number in range(count):
        if old[number, EXPIRY] > now:
            edge = h[EDGES]
            h[EDGES] += 1
            for part in range(EDGE_FIELDS):
                edges[edge, part] = old[number, part]
            key = edge_key(edges[edge, TARGET], edges[edge, INPUT], walked.shape[0] // 2)
            put(edge_map, edges[edge, SOURCE], key, edge)
            link(edges, heads, walked, edge)

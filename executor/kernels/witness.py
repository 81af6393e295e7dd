"""WITNESS: a path for each row, by a search over the valid edges backwards from the target.

Edges have the adjacency lists of :mod:`headrace.executor.kernels.edges`. An edge whose expiry grows
becomes a new edge at the front, and the old one is dead. So the order of a list depends only on the
rows that are still valid. All edges of a ts are added before the search for a row of that ts.

The search is breadth-first over product nodes (vertex, automaton state), from the target in its
accepting states back to the source in the start state. Each node has the edge that leads on, so the
first node of the source begins a shortest path. If paths must be simple and this one is not, the
search visits all nodes that lead to the target. Then a depth-first search from the source looks for
a simple path among these nodes, with a budget of steps.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .edges import EXPIRY, NEXT_OUT, SOURCE, TARGET, Edges, enter, first_edge
from .path import ROW_EXP, ROW_INPUT, ROW_SOURCE, ROW_TARGET, ROW_TS
from .region import STEP_KEY, STEP_THERE, Stepping
from .stops import (
    DONE,
    EDGES_FULL,
    NO_PATH,
    NODES_FULL,
    OUT_FULL,
    OVER_BUDGET,
    SWEEP_DUE,
)
from .store import COUNT, is_sweep_due
from .tables import EMPTY, find

# The header: the next edge, the next row that wants a path, nodes of the current search, and steps
# of all paths.
EDGE_ROW, ROW, FOUND, STEPS, HEADER_FIELDS = range(5)

# Fields of a product node: the EDGE that leads on from it, the KIND of that step (2 * input +
# inverse), and the NEXT node.
VERTEX, STATE, EDGE, KIND, NEXT, NODE_FIELDS = range(6)

# Rows that want a path: source, target, ts, exp.
WANT_SOURCE, WANT_TARGET, WANT_TS, WANT_EXP, WANT_FIELDS = range(5)

STEP_FIELDS = 3
"""A step of a path: from, 2 * input + inverse, to."""

# An entry of the stack of the search for a simple path: a node on the path, the move and the edge
# to try next, and the edge and kind of the step that the path takes from the node.
ON_PATH, NEXT_MOVE, NEXT_EDGE, STEP_EDGE, STEP_KIND, STACK_FIELDS = range(6)


class Search(NamedTuple):
    """The arrays of a search.

    Attributes:
        header: cursors.
        nodes: a visited product node in each row.
        node_map: the node of a (vertex, state).
        stack: the current path of the search for a simple path.
    """

    header: IntArray
    nodes: IntArray
    node_map: IntArray
    stack: IntArray


@kernel
def _reach(search: Search, vertex: int, state: int, edge: int, kind: int, next_node: int) -> int:
    """Adds a product node and returns its number; EMPTY if it was visited before."""
    h, nodes, index = search.header, search.nodes, search.node_map
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
def _clear(search: Search) -> None:
    """Removes all nodes of a search from the map."""
    h, nodes, index = search.header, search.nodes, search.node_map
    mask = index.shape[0] - 1
    if 8 * h[FOUND] > index.shape[0]:
        index[:, 2] = EMPTY
    else:
        # Whole clusters are cleared, so no key remains behind a gap.
        for node in range(h[FOUND]):
            slot = find(index, nodes[node, VERTEX], nodes[node, STATE])
            while index[slot, 2] != EMPTY:
                index[slot, 2] = EMPTY
                slot = (slot + 1) & mask
    h[FOUND] = 0


@kernel
def _search(
    source: int,
    target: int,
    exp: int,
    stepping: Stepping,
    edges: Edges,
    search: Search,
    first: int,
    stop: bool,
) -> tuple[int, int]:
    """Searches backwards from node ``first`` on; with ``stop``, until it visits the source.

    Returns the node of the source in the start state (EMPTY: not visited), and the node to
    continue from (EMPTY: there is no room).
    """
    h, nodes = search.header, search.nodes
    rows, backwards = edges.rows, stepping.backwards
    if h[FOUND] == 0:
        for state in range(stepping.accepting.shape[0]):
            if stepping.accepting[state] != 0:
                if h[FOUND] == nodes.shape[0]:
                    return EMPTY, EMPTY
                _reach(search, target, state, EMPTY, EMPTY, EMPTY)
    start, current = EMPTY, first
    while current < h[FOUND]:
        vertex, state = nodes[current, VERTEX], nodes[current, STATE]
        for step in range(backwards.of_state[state], backwards.of_state[state + 1]):
            kind, before = backwards.rows[step, STEP_KEY], backwards.rows[step, STEP_THERE]
            # A backward step uses the adjacency list of the edge's other vertex.
            inverse = 1 - (kind & 1)
            edge = first_edge(edges, vertex, kind ^ 1)
            while edge != EMPTY:
                if rows[edge, EXPIRY] >= exp:
                    if h[FOUND] == nodes.shape[0]:
                        return EMPTY, EMPTY
                    other = rows[edge, TARGET - inverse]
                    node = _reach(search, other, before, edge, kind, current)
                    if node != EMPTY and before == 0 and other == source:
                        start = node
                        if stop:
                            return start, current
                edge = rows[edge, NEXT_OUT + inverse]
        current += 1
    return start, current


@kernel
def _repeats(nodes: IntArray, start: int) -> bool:
    """Whether the path from a node repeats a vertex."""
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
    start: int,
    target: int,
    exp: int,
    budget: int,
    stepping: Stepping,
    edges: Edges,
    search: Search,
) -> int:
    """The length of a simple path from the start, with its steps in the stack.

    0 if there is none, EMPTY beyond the budget.
    """
    nodes, index, stack = search.nodes, search.node_map, search.stack
    rows, forwards = edges.rows, stepping.forwards
    depth = taken = 0
    stack[0, ON_PATH], stack[0, NEXT_MOVE], stack[0, NEXT_EDGE] = (
        start,
        forwards.of_state[nodes[start, STATE]],
        EMPTY,
    )
    fresh = True
    while depth >= 0:
        node = stack[depth, ON_PATH]
        vertex, state = nodes[node, VERTEX], nodes[node, STATE]
        if depth > 0 and fresh and vertex == target and stepping.accepting[state] != 0:
            return depth
        taken += 1
        if taken > budget:
            return EMPTY
        move, edge = stack[depth, NEXT_MOVE], stack[depth, NEXT_EDGE]
        if move == forwards.of_state[state + 1] or (depth > 0 and vertex == target):
            depth -= 1
            fresh = False
            continue
        kind, after = forwards.rows[move, STEP_KEY], forwards.rows[move, STEP_THERE]
        inverse = kind & 1
        edge = first_edge(edges, vertex, kind) if edge == EMPTY else rows[edge, NEXT_OUT + inverse]
        if edge == EMPTY:
            stack[depth, NEXT_MOVE], stack[depth, NEXT_EDGE] = move + 1, EMPTY
            continue
        stack[depth, NEXT_EDGE] = edge
        fresh = False
        if rows[edge, EXPIRY] < exp:
            continue
        other = rows[edge, TARGET - inverse]
        following = index[find(index, other, after), 2]
        if following == EMPTY:
            continue
        repeats = False
        for place in range(depth + 1):
            if nodes[stack[place, ON_PATH], VERTEX] == other:
                repeats = True
        if repeats:
            continue
        stack[depth, STEP_EDGE], stack[depth, STEP_KIND] = edge, kind
        depth += 1
        stack[depth, ON_PATH], stack[depth, NEXT_MOVE] = following, forwards.of_state[after]
        stack[depth, NEXT_EDGE] = EMPTY
        fresh = True
    return 0


@kernel
def advance(
    rows: IntArray,
    wants: IntArray,
    simple: bool,
    budget: int,
    stepping: Stepping,
    edges: Edges,
    search: Search,
    ends: IntArray,
    steps: IntArray,
) -> int:
    """Processes edges and rows that want a path, merged by ts; resumes from the header.

    ``steps`` receives the steps of all paths in order; the path of row r ends before ``ends[r]``.

    Returns the reason of the stop.
    """
    h, nodes, stack = search.header, search.nodes, search.stack
    while True:
        row, want = h[EDGE_ROW], h[ROW]
        is_edge = row < rows.shape[1] and (
            want == wants.shape[1] or rows[ROW_TS, row] <= wants[WANT_TS, want]
        )
        if not is_edge and want == wants.shape[1]:
            return DONE
        now = rows[ROW_TS, row] if is_edge else wants[WANT_TS, want]
        if is_sweep_due(edges.header, now):
            return SWEEP_DUE
        if is_edge:
            if edges.header[COUNT] == edges.rows.shape[0]:
                return EDGES_FULL
            enter(
                edges, rows[ROW_SOURCE, row], rows[ROW_TARGET, row], rows[ROW_INPUT, row],
                rows[ROW_EXP, row], True,
            )  # fmt: skip
            h[EDGE_ROW] += 1
            continue
        source, target = wants[WANT_SOURCE, want], wants[WANT_TARGET, want]
        exp = wants[WANT_EXP, want]
        start, following = _search(source, target, exp, stepping, edges, search, 0, True)
        length = 0
        is_simple = True
        if start != EMPTY and simple and _repeats(nodes, start):
            is_simple = False
            _, following = _search(source, target, exp, stepping, edges, search, following, False)
        if following == EMPTY:
            _clear(search)
            return NODES_FULL
        if start == EMPTY:
            _clear(search)
            return NO_PATH
        if is_simple:
            node = start
            while nodes[node, NEXT] != EMPTY:
                length += 1
                node = nodes[node, NEXT]
        else:
            length = _simple(start, target, exp, budget, stepping, edges, search)
        if length <= 0:
            _clear(search)
            return NO_PATH if length == 0 else OVER_BUDGET
        if h[STEPS] + length > steps.shape[1]:
            _clear(search)
            return OUT_FULL
        node = start
        for place in range(length):
            if is_simple:
                edge, kind = nodes[node, EDGE], nodes[node, KIND]
                node = nodes[node, NEXT]
            else:
                edge, kind = stack[place, STEP_EDGE], stack[place, STEP_KIND]
            written, inverse = h[STEPS], kind & 1
            steps[0, written] = edges.rows[edge, SOURCE + inverse]
            steps[1, written] = kind
            steps[2, written] = edges.rows[edge, TARGET - inverse]
            h[STEPS] += 1
        ends[want] = h[STEPS]
        _clear(search)
        h[ROW] += 1

"""SHORTEST_PATH: the valid edges, and a breadth-first search from each root over a snapshot.

The edges are values (:mod:`headrace.executor.kernels.expiring`) of three columns: input, source and
target. A snapshot is a graph of *arcs*: steps over an edge along its direction or against it, by
the vertex at which they begin. The search runs over the product of vertices and states.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .expiring import (
    TOP,
    Expiring,
    dequeue,
    dequeue_first,
    enqueue,
    extend,
    first_expiry,
    is_full,
    is_valid,
    new_row,
    remove,
    row_of,
)
from .rows import Input
from .stops import DONE, OUT_FULL, OVER_BUDGET, SPACE_FULL, SWEEP_DUE
from .tables import EMPTY

# The header of the edges: the current row of the batch, and whether the valid edges have changed
# since the last search.
ROW, CHANGED, EDGES_HEADER_FIELDS = range(3)

# The header of a search: the next root; the rows and the steps written; the work.
ROOT, OUT, STEPS, WORK, HEADER_FIELDS = range(5)

# What a search writes of each pair: its length alone, one path, or all paths.
LENGTHS, ONE_PATH, ALL_PATHS = range(3)

# A result: the first and the last vertex, and the length.
RESULT_FIELDS = 3

# A node that is reached: its vertex, its state, its distance from the root, and its first arc back.
NODE_VERTEX, NODE_STATE, NODE_DISTANCE, NODE_BACK, NODE_FIELDS = range(5)
# An arc back: the place of the node that it comes from, its number, and the next arc of the node.
BACK_NODE, BACK_ARC, BACK_NEXT, BACK_FIELDS = range(4)


class Graph(NamedTuple):
    """A snapshot as arcs by vertex, in the order in which a search takes them.

    Attributes:
        starts: int64[vertices + 1]: the first arc of each vertex.
        symbols: the symbol of each arc.
        ends: the vertex that each arc enters.
        next_state: int64[states, symbols]: the state after a symbol, or EMPTY.
        accepting: for each state, 1 if it accepts.
        roots: the vertices from which paths begin.
    """

    starts: IntArray
    symbols: IntArray
    ends: IntArray
    next_state: IntArray
    accepting: IntArray
    roots: IntArray


class Search(NamedTuple):
    """The arrays of a search.

    Attributes:
        header: int64[HEADER_FIELDS].
        place: int64[vertices * states]: the place of a node among the reached ones, or EMPTY.
        nodes: int64[vertices * states, NODE_FIELDS]: the reached nodes, nearest first.
        back: int64[arcs of the product, BACK_FIELDS]; one row without paths.
        found: int64[vertices]: the length of the paths to a vertex, or EMPTY.
        path: int64[longest path + 1]: the arcs of the path that is written, from its end.
    """

    header: IntArray
    place: IntArray
    nodes: IntArray
    back: IntArray
    found: IntArray
    path: IntArray


@kernel
def take(values: Expiring, batch: Input, until: int, header: IntArray) -> int:
    """Takes the rows of a batch that begin at ``until`` at the latest."""
    while header[ROW] < batch.ts.shape[0] and batch.ts[header[ROW]] <= until:
        i = header[ROW]
        if is_full(values):
            return SWEEP_DUE
        row = row_of(values, batch.columns, i)
        if batch.exp[i] >= 0:
            if row == EMPTY:
                enqueue(values, new_row(values, batch.columns, i), batch.exp[i])
                header[CHANGED] = 1
            else:
                extend(values, row, batch.exp[i])
        elif row != EMPTY:
            dequeue(values, row)
            remove(values, row)
            header[CHANGED] = 1
        header[ROW] += 1
    return DONE


@kernel
def expire(values: Expiring, now: int, header: IntArray) -> int:
    """Drops the edges that expired at or before ``now``; returns the next expiry."""
    first = first_expiry(values)
    while first <= now:
        remove(values, dequeue_first(values))
        header[CHANGED] = 1
        first = first_expiry(values)
    return first


@kernel
def copy_edges(values: Expiring, edges: IntArray) -> None:
    """Copies the valid edges to ``edges``, int64[3, edges]."""
    place = 0
    for row in range(values.header[TOP]):
        if is_valid(values, row):
            for j in range(3):
                edges[j, place] = values.columns[row, j]
            place += 1


@kernel
def counting_sort(keys: IntArray, order: IntArray, counts: IntArray, out: IntArray) -> None:
    """Sorts the positions in ``order`` by their keys into ``out``; equal keys keep their order.

    ``counts`` has a field more than there are keys; afterwards key k begins at ``counts[k]``.
    """
    counts[:] = 0
    for i in range(order.shape[0]):
        counts[keys[order[i]] + 1] += 1
    for k in range(1, counts.shape[0]):
        counts[k] += counts[k - 1]
    for i in range(order.shape[0]):
        key = keys[order[i]]
        out[counts[key]] = order[i]
        counts[key] += 1
    for k in range(counts.shape[0] - 1, 0, -1):
        counts[k] = counts[k - 1]
    counts[0] = 0


@kernel
def search(
    graph: Graph, state: Search, writes: int, budget: int, out: IntArray, steps: IntArray
) -> int:
    """Writes the results of all roots from the next one on, and the arcs of their steps.

    A root whose results do not fit is searched again after its results of before are dropped.
    """
    h = state.header
    while h[ROOT] < graph.roots.shape[0]:
        root, rows, written = graph.roots[h[ROOT]], h[OUT], h[STEPS]
        h[WORK] = 0
        reached = _reach(graph, state, root, writes)
        stop = _write_all(graph, state, root, reached, writes, budget, out, steps)
        _forget(state, reached, graph.accepting.shape[0])
        if stop != DONE:
            if stop != OVER_BUDGET:
                h[OUT], h[STEPS] = rows, written
            return stop
        h[ROOT] += 1
    return DONE


@kernel
def _reach(graph: Graph, state: Search, root: int, writes: int) -> int:
    """Reaches all nodes from a root, nearest first, and in the order of arcs; returns how many.

    With one path a node keeps the arc by which it was reached, with all paths each arc from a node
    that is one step nearer.
    """
    nodes, place, back = state.nodes, state.place, state.back
    states = graph.accepting.shape[0]
    nodes[0, NODE_VERTEX], nodes[0, NODE_STATE] = root, 0
    nodes[0, NODE_DISTANCE], nodes[0, NODE_BACK] = 0, EMPTY
    place[root * states] = 0
    reached, arcs, at = 1, 0, 0
    while at < reached:
        vertex, distance = nodes[at, NODE_VERTEX], nodes[at, NODE_DISTANCE]
        for arc in range(graph.starts[vertex], graph.starts[vertex + 1]):
            symbol = graph.symbols[arc]
            to = graph.next_state[nodes[at, NODE_STATE], symbol]
            if to == EMPTY:
                continue
            key = graph.ends[arc] * states + to
            node = place[key]
            fresh = node == EMPTY
            if fresh:
                node = reached
                place[key] = node
                nodes[node, NODE_VERTEX], nodes[node, NODE_STATE] = graph.ends[arc], to
                nodes[node, NODE_DISTANCE], nodes[node, NODE_BACK] = distance + 1, EMPTY
                reached += 1
            nearer = writes == ALL_PATHS and nodes[node, NODE_DISTANCE] == distance + 1
            if nearer or (fresh and writes == ONE_PATH):
                back[arcs, BACK_NODE], back[arcs, BACK_ARC] = at, arc
                back[arcs, BACK_NEXT] = nodes[node, NODE_BACK]
                nodes[node, NODE_BACK] = arcs
                arcs += 1
        at += 1
    return reached


@kernel
def _forget(state: Search, reached: int, states: int) -> None:
    """Makes the nodes of a search unreached again."""
    for at in range(reached):
        vertex = state.nodes[at, NODE_VERTEX]
        state.place[vertex * states + state.nodes[at, NODE_STATE]] = EMPTY
        state.found[vertex] = EMPTY


@kernel
def _write_all(
    graph: Graph,
    state: Search,
    root: int,
    reached: int,
    writes: int,
    budget: int,
    out: IntArray,
    steps: IntArray,
) -> int:
    """Writes a result for each vertex that a path reaches, or for each shortest path to it."""
    h, nodes, found = state.header, state.nodes, state.found
    for node in range(1, reached):
        vertex, distance = nodes[node, NODE_VERTEX], nodes[node, NODE_DISTANCE]
        if graph.accepting[nodes[node, NODE_STATE]] == 0:
            continue
        if found[vertex] != EMPTY and (writes != ALL_PATHS or found[vertex] != distance):
            continue
        found[vertex] = distance
        if writes == LENGTHS:
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            _write_row(h, root, vertex, distance, out)
            continue
        stop = _write_paths(state, root, node, budget, out, steps)
        if stop != DONE:
            return stop
    return DONE


@kernel
def _write_paths(
    state: Search, root: int, last: int, budget: int, out: IntArray, steps: IntArray
) -> int:
    """Writes each path back from a node to the root: all combinations of its arcs."""
    h, nodes, back, path = state.header, state.nodes, state.back, state.path
    length = nodes[last, NODE_DISTANCE]
    # path[k] is the arc that enters the path's vertex k + 1 steps before its end.
    depth = 0
    path[0] = nodes[last, NODE_BACK]
    while depth >= 0:
        if path[depth] == EMPTY:
            depth -= 1
            if depth >= 0:
                path[depth] = back[path[depth], BACK_NEXT]
            continue
        if depth + 1 < length:
            depth += 1
            path[depth] = nodes[back[path[depth - 1], BACK_NODE], NODE_BACK]
            continue
        h[WORK] += length
        if h[WORK] > budget:
            return OVER_BUDGET
        if h[OUT] == out.shape[1]:
            return OUT_FULL
        if h[STEPS] + length > steps.shape[0]:
            return SPACE_FULL
        for k in range(length):
            steps[h[STEPS] + length - 1 - k] = back[path[k], BACK_ARC]
        h[STEPS] += length
        _write_row(h, root, nodes[last, NODE_VERTEX], length, out)
        path[depth] = back[path[depth], BACK_NEXT]
    return DONE


@kernel
def _write_row(h: IntArray, root: int, vertex: int, length: int, out: IntArray) -> None:
    out[0, h[OUT]], out[1, h[OUT]], out[2, h[OUT]] = root, vertex, length
    h[OUT] += 1

"""SHORTEST_PATH: the valid edges, and a breadth-first search from each root over a snapshot.

The edges are values (:mod:`headrace.executor.kernels.expiring`) of three columns: input, source and
target. A snapshot is a graph of *arcs*: steps over an edge along its direction or against it, by
the vertex at which they begin. The search runs over the product of vertices and states.

Paths are counted before any is made. So it is known whether they are too many, and that there is
room for all paths of a root. Only paths to nodes that lead to a result are made
(:mod:`headrace.executor.kernels.path_tree`).
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
from .path_tree import (
    BACK_ARC,
    BACK_NEXT,
    BACK_NODE,
    BEFORE,
    ELEMENT,
    NEED,
    NODE_BACK,
    NODE_COUNT,
    NODE_DISTANCE,
    NODE_ENDS,
    NODE_FIRST,
    NODE_STATE,
    NODE_VERTEX,
    OUT,
    ROOT,
    STEPS,
    WHOLE,
    Columns,
    Texts,
    count_paths,
    encode,
    grow,
    rows_of,
)
from .rows import Input
from .stops import DONE, OUT_FULL, OVER_BUDGET, SPACE_FULL, SWEEP_DUE
from .tables import EMPTY

# The header of the edges: the current row of the batch, and whether the valid edges have changed
# since the last search.
ROW, CHANGED, EDGES_HEADER_FIELDS = range(3)

# What a search writes of each pair: its length alone, one path, or all paths.
LENGTHS, ONE_PATH, ALL_PATHS = range(3)


class Graph(NamedTuple):
    """A snapshot as arcs by vertex, in the order in which a search takes them.

    Attributes:
        starts: int64[vertices + 1]: the first arc of each vertex.
        symbols: the symbol of each arc.
        against: for each symbol, 1 if its steps are walked against their edges.
        ends: the vertex that each arc enters.
        next_state: int64[states, symbols]: the state after a symbol, or EMPTY.
        accepting: for each state, 1 if it accepts.
        roots: the vertices from which paths begin.
        codes: the code of each vertex.
    """

    starts: IntArray
    symbols: IntArray
    against: IntArray
    ends: IntArray
    next_state: IntArray
    accepting: IntArray
    roots: IntArray
    codes: IntArray


class Search(NamedTuple):
    """The arrays of a search.

    Attributes:
        header: int64[HEADER_FIELDS].
        place: int64[vertices * states]: the place of a node among the reached ones, or EMPTY.
        nodes: int64[vertices * states, NODE_FIELDS]: the reached nodes, nearest first.
        back: int64[arcs of the product, BACK_FIELDS]; one row without paths.
        found: int64[vertices]: the length of the paths to a vertex, or EMPTY.
        tree: int64[paths of a root, TREE_FIELDS]: the paths from a root.
        texts: the texts of paths; without any where a result shows none.
        columns: the other values of paths.
    """

    header: IntArray
    place: IntArray
    nodes: IntArray
    back: IntArray
    found: IntArray
    tree: IntArray
    texts: Texts
    columns: Columns


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
def search(graph: Graph, state: Search, writes: int, budget: int, until: int, out: IntArray) -> int:
    """Writes the results of all roots from the next one on.

    If the results of a root do not fit into ``out``, the root is searched again.

    Args:
        graph: the snapshot.
        state: the arrays of the search.
        writes: LENGTHS, ONE_PATH or ALL_PATHS.
        budget: the most steps of the paths from a root.
        until: the time until which the texts of paths are needed.
        out: int64[width, rows]: the codes of the ends, of texts in the rows that ``texts`` names,
            and of vertices; in other rows the length and the place as they are.
    """
    h = state.header
    while h[ROOT] < graph.roots.shape[0]:
        root = graph.roots[h[ROOT]]
        reached = _reach(graph, state, root, writes)
        rows, paths, stop = _choose(graph, state, reached, writes), 0, DONE
        if writes != LENGTHS:
            members = state.columns.members
            rows, paths = count_paths(state.nodes, state.back, reached, budget, members)
            if rows == EMPTY:
                stop = OVER_BUDGET
            elif paths > state.tree.shape[0]:
                stop, h[NEED] = SPACE_FULL, paths
        if stop == DONE and h[OUT] + rows > out.shape[1]:
            stop, h[NEED] = OUT_FULL, rows
        if stop == DONE and writes != LENGTHS:
            grow(state.tree, state.nodes, state.back, reached, graph.ends.shape[0] + root)
            members = state.columns.members
            stop = encode(
                state.tree, state.nodes, reached, paths, state.texts, members, until, h, out
            )
        if stop == DONE:
            _write(graph, state, root, reached, out)
        _forget(state, reached, graph.accepting.shape[0])
        if stop != DONE:
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
def _choose(graph: Graph, state: Search, reached: int, writes: int) -> int:
    """Marks the nodes at which results end; returns how many there are."""
    nodes, found, chosen = state.nodes, state.found, 0
    nodes[0, NODE_ENDS], nodes[0, NODE_COUNT] = 0, 1
    for node in range(1, reached):
        vertex, distance = nodes[node, NODE_VERTEX], nodes[node, NODE_DISTANCE]
        nodes[node, NODE_ENDS], nodes[node, NODE_COUNT] = 0, 1
        if graph.accepting[nodes[node, NODE_STATE]] == 0:
            continue
        if found[vertex] != EMPTY and (writes != ALL_PATHS or found[vertex] != distance):
            continue
        found[vertex] = distance
        nodes[node, NODE_ENDS] = 1
        chosen += 1
    return chosen


@kernel
def _write(graph: Graph, state: Search, root: int, reached: int, out: IntArray) -> None:
    """Writes all of each result but its texts."""
    h, nodes, columns = state.header, state.nodes, state.columns
    at = h[OUT]
    for node in range(1, reached):
        if nodes[node, NODE_ENDS] == 0:
            continue
        source, target = graph.codes[root], graph.codes[nodes[node, NODE_VERTEX]]
        distance, first = nodes[node, NODE_DISTANCE], nodes[node, NODE_FIRST]
        rows = rows_of(columns.members, distance)
        for path in range(nodes[node, NODE_COUNT]):
            for row in range(at, at + rows):
                out[0, row], out[1, row] = source, target
                if columns.length != EMPTY:
                    out[columns.length, row] = distance
            if columns.members != WHOLE:
                _write_members(graph, state, first + path, at, rows, out)
            at += rows
    h[OUT] = at


@kernel
def _write_members(
    graph: Graph, state: Search, path: int, begin: int, rows: int, out: IntArray
) -> None:
    """Writes the members of a path into as many rows, the last one first."""
    tree, columns = state.tree, state.columns
    for place in range(rows - 1, -1, -1):
        row, before = begin + place, tree[path, BEFORE]
        if columns.place != EMPTY:
            out[columns.place, row] = place
        vertex = graph.codes[_last(graph, tree[path, ELEMENT])]
        if columns.node != EMPTY:
            out[columns.node, row] = vertex
        if columns.members == STEPS:
            start, end = graph.codes[_last(graph, tree[before, ELEMENT])], vertex
            if graph.against[graph.symbols[tree[path, ELEMENT]]] != 0:
                start, end = end, start
            if columns.start != EMPTY:
                out[columns.start, row] = start
            if columns.end != EMPTY:
                out[columns.end, row] = end
        path = before


@kernel
def _last(graph: Graph, element: int) -> int:
    """The vertex at which a path ends, by its last element."""
    arcs = graph.ends.shape[0]
    return graph.ends[element] if element < arcs else element - arcs

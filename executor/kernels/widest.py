"""The pairs that a path connects in a snapshot graph, with the latest expiry of a walk of each.

The edges are in compressed rows: vertex v has the edges ``begins[g, v]`` to ``begins[g, v + 1]`` of
graph g. A walk expires with the first of its edges, so the latest expiry is a widest path: a node
is visited again whenever it becomes wider.
"""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .stops import DONE, OUT_FULL, OVER_BUDGET

# Fields of a header: the next source, the rows written, and the edges that may still be read.
NEXT, WRITTEN, LEFT, HEADER_FIELDS = range(4)
# Rows of the result: the source, the vertex, and a version of the pair: when it is created, expires
# and is replaced, and whether it is new.
SOURCE, VERTEX, CREATED, EXPIRY, REPLACED, FRESH, ROW_FIELDS = range(7)
# Rows of the nodes' tables: the expiry at each time, whether the node waits, the queue, and the
# nodes that were reached.
NOW, EARLIER, WAITS, QUEUE, REACHED, NODE_FIELDS = range(6)


@kernel
def widest(
    header: IntArray,
    sources: IntArray,
    first: IntArray,
    moments: IntArray,
    since: int,
    forever: int,
    vertices: int,
    moves: IntArray,
    accepting: IntArray,
    begins: IntArray,
    targets: IntArray,
    expiries: IntArray,
    nodes: IntArray,
    out: IntArray,
) -> int:
    """Writes the vertices that are reached from each source in an accepting state.

    Args:
        header: the progress, by field.
        sources: the sources.
        first: for each source the first vertex of its instant.
        moments: for each source its instant.
        since: the time before an instant at which walks are followed as well.
        forever: the expiry of a walk without edges, and when the last version is replaced.
        vertices: the most vertices of an instant.
        moves: for each move its state, the state that it enters, and its graph; no move enters
            state 0, in which each walk begins.
        accepting: for each state whether it accepts.
        begins: for each graph the first edge of each vertex, and the end of the edges.
        targets: the vertex that each edge enters.
        expiries: the expiry of each edge, at the instant and before; 0 for one that is not there.
        nodes: tables for each state and vertex of a part, zeros before and after.
        out: the rows.

    Returns:
        The reason of the stop; after :data:`OVER_BUDGET` the tables are not cleared.
    """
    states = len(accepting)
    size = states * vertices
    waits, queue, reached = nodes[WAITS], nodes[QUEUE], nodes[REACHED]
    written, left = header[WRITTEN], header[LEFT]
    for k in range(header[NEXT], len(sources)):
        header[NEXT], header[WRITTEN], header[LEFT] = k, written, left
        if written + 2 * size > out.shape[1]:
            return OUT_FULL
        base, count = first[k], 0
        for time in range(2):
            best, widths = nodes[time], expiries[time]
            head, waiting = 0, 1
            queue[0] = sources[k] - base
            best[queue[0]] = forever
            while waiting > 0:
                node = queue[head]
                head = head + 1 if head + 1 < size else 0
                waiting -= 1
                waits[node] = 0
                state, own = node // vertices, best[node]
                vertex = base + node % vertices
                for move in range(len(moves)):
                    if moves[move, 0] != state:
                        continue
                    graph = moves[move, 2]
                    low, high = begins[graph, vertex], begins[graph, vertex + 1]
                    left -= 1 + high - low
                    to = moves[move, 1] * vertices - base
                    for edge in range(low, high):
                        width, other = min(own, widths[edge]), to + targets[edge]
                        if width <= best[other]:
                            continue
                        if best[other] == 0 and time == 0:
                            reached[count] = other
                            count += 1
                        best[other] = width
                        if waits[other] == 0:
                            waits[other] = 1
                            end = head + waiting
                            queue[end if end < size else end - size] = other
                            waiting += 1
                if left < 0:
                    return OVER_BUDGET
            best[sources[k] - base] = 0
        # An edge that was there before is there now, so the walks now reach all nodes. When a pair
        # changed in between is not known.
        old, new = moments[k] - 2 * since, moments[k] - since // 2
        for place in range(count):
            node = reached[place]
            expiry, before = nodes[NOW, node], nodes[EARLIER, node]
            nodes[NOW, node] = nodes[EARLIER, node] = 0
            if accepting[node // vertices] == 0:
                continue
            for version in range(2):
                if (before if version == 0 else expiry - before) == 0:
                    continue
                out[SOURCE, written], out[VERTEX, written] = sources[k], base + node % vertices
                out[CREATED, written] = old if version == 0 else new
                out[EXPIRY, written] = before if version == 0 else expiry
                replaced = version == 0 and expiry > before
                out[REPLACED, written] = new if replaced else forever
                out[FRESH, written] = before == 0
                written += 1
    header[NEXT], header[WRITTEN], header[LEFT] = len(sources), written, left
    return DONE

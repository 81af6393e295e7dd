"""The widest simple path from a root to an end: branch and bound for SIMPLE_PATH.

The widest *walk* is an upper bound, and the result if it is simple. Otherwise it has two nodes of
some vertex, and no simple path has both. The search chooses one of the two nodes and branches into
the simple paths without the vertex's other nodes, and the simple paths without the chosen node. It
cuts a branch whose widest walk is no wider than the best path so far.
"""

from __future__ import annotations

from ..batch import FOREVER
from .compiling import kernel
from .heap import pop, push
from .region import (
    ARC,
    BEFORE,
    BLOCKED,
    CONFLICT,
    FIRST_NODE,
    MARK,
    MARKED,
    NEXT,
    NEXT_NODE,
    SEEN,
    STEPS,
    THROUGH,
    TO,
    TOWARDS,
    VALUE,
    VERTEX,
    Region,
)
from .tables import EMPTY

# An open branch: the chosen node, and whether the branch is the one without that node.
CHOSEN, LEFT_OUT, STACK_FIELDS = range(3)


@kernel
def walks_are_simple(region: Region, root: int, end: int) -> bool:
    """Whether the widest walks from the root to the edge and on to the end repeat no vertex."""
    h, nodes, vertices = region.header, region.nodes, region.vertices
    h[MARK] += 1
    for start in (root, end):
        node = start
        while node != EMPTY:
            vertex = nodes[node, VERTEX]
            if vertices[vertex, MARKED] == h[MARK]:
                return False
            vertices[vertex, MARKED] = h[MARK]
            node = nodes[node, TOWARDS]
    return True


@kernel
def _widest_walk(region: Region, root: int, end: int, best: int) -> int:
    """The width of the widest walk to the end over unblocked nodes; 0 if not above ``best``.

    Sets the header's CONFLICT to a node where the walk repeats a vertex; EMPTY if it is simple.
    """
    h, nodes, vertices = region.header, region.nodes, region.vertices
    arcs, heap = region.arcs, region.heap
    h[MARK] += 1
    mark, first, last = h[MARK], nodes[root, VERTEX], nodes[end, VERTEX]
    nodes[root, SEEN], nodes[root, VALUE], nodes[root, BEFORE] = mark, FOREVER, EMPTY
    heap[0, 0], heap[0, 1] = FOREVER, root
    size = 1
    while size > 0 and heap[0, 1] != end:
        value, node = heap[0, 0], heap[0, 1]
        pop(heap, size)
        size -= 1
        if nodes[node, VALUE] != value:
            continue
        h[STEPS] += 1
        arc = nodes[node, ARC]
        while arc != EMPTY:
            to, through = arcs[arc, TO], min(value, arcs[arc, THROUGH])
            vertex = nodes[to, VERTEX]
            open_ = nodes[to, BLOCKED] == 0 and vertex != first and (vertex != last or to == end)
            if through > best and open_:
                if nodes[to, SEEN] != mark:
                    nodes[to, SEEN], nodes[to, VALUE] = mark, 0
                if through > nodes[to, VALUE]:
                    nodes[to, VALUE], nodes[to, BEFORE] = through, node
                    push(heap, size, through, to)
                    size += 1
            arc = arcs[arc, NEXT]
    if size == 0:
        return 0
    h[CONFLICT] = EMPTY
    node = end
    while node != EMPTY and h[CONFLICT] == EMPTY:
        if vertices[nodes[node, VERTEX], MARKED] == mark:
            h[CONFLICT] = node
        vertices[nodes[node, VERTEX], MARKED] = mark
        node = nodes[node, BEFORE]
    return nodes[end, VALUE]


@kernel
def _block_others(region: Region, node: int, by: int) -> None:
    """Adds ``by``, 1 or -1, to the blocks of the other nodes of a node's vertex."""
    nodes, vertices = region.nodes, region.vertices
    other = vertices[nodes[node, VERTEX], FIRST_NODE]
    while other != EMPTY:
        if other != node:
            nodes[other, BLOCKED] += by
        other = nodes[other, NEXT_NODE]


@kernel
def widest_simple(
    region: Region, root: int, end: int, reported: int, bound: int, budget: int
) -> int:
    """The width of the widest simple path if it exceeds ``reported``, else ``reported``.

    A depth-first search over branches: first with the other nodes of the chosen node's vertex
    blocked, then with the chosen node itself blocked. A branch ends when its bound is not above the
    best path so far. The budget may stop the search early; the caller checks STEPS.
    """
    h, nodes, stack = region.header, region.nodes, region.stack
    best, depth = reported, 0
    while True:
        value = _widest_walk(region, root, end, best)
        if value > best and h[CONFLICT] != EMPTY:
            chosen = h[CONFLICT]
            stack[depth, CHOSEN], stack[depth, LEFT_OUT] = chosen, 0
            _block_others(region, chosen, 1)
            depth += 1
            continue
        best = max(best, value)
        advanced = False
        while depth > 0 and not advanced:
            chosen, left_out = stack[depth - 1, CHOSEN], stack[depth - 1, LEFT_OUT]
            if left_out != 0:
                nodes[chosen, BLOCKED] -= 1
                depth -= 1
                continue
            _block_others(region, chosen, -1)
            if best >= bound or h[STEPS] > budget:
                depth -= 1
                continue
            nodes[chosen, BLOCKED] += 1
            stack[depth - 1, LEFT_OUT] = 1
            advanced = True
        if not advanced:
            return best

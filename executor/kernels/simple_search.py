"""The widest simple path from a root to an end: branch and bound for SIMPLE_PATH.

The widest *walk* is an upper bound, and the answer if it is simple. If it is not, it meets some
vertex in two nodes, and no simple path has both. So one of the two is chosen, and the simple
paths are divided: those that do not meet the vertex in any other node, and those that do not
have this one. A part whose widest walk is no wider than the best path so far is cut.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .path import pop, push
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
)
from .tables import EMPTY

# What branch and bound has open: the node chosen, and whether it is left out now.
CHOSEN, LEFT_OUT, STACK_FIELDS = range(3)


@kernel
def walks_are_simple(h: IntArray, root: int, end: int, nodes: IntArray, vertices: IntArray) -> bool:
    """Whether the widest walks from the root to the edge and on to the end repeat no vertex."""
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
def _widest_walk(
    h: IntArray,
    root: int,
    end: int,
    best: int,
    nodes: IntArray,
    vertices: IntArray,
    arcs: IntArray,
    heap: IntArray,
) -> int:
    """The width of the widest walk to the end over what is not blocked, 0 if not above ``best``.

    The header says in which node it meets a vertex that it meets again; EMPTY: it is simple.
    """
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
def _block_others(node: int, by: int, nodes: IntArray, vertices: IntArray) -> None:
    """Blocks the vertex's other nodes once more, or once less."""
    other = vertices[nodes[node, VERTEX], FIRST_NODE]
    while other != EMPTY:
        if other != node:
            nodes[other, BLOCKED] += by
        other = nodes[other, NEXT_NODE]


@kernel
def widest_simple(
    h: IntArray,
    root: int,
    end: int,
    known: int,
    bound: int,
    budget: int,
    nodes: IntArray,
    vertices: IntArray,
    arcs: IntArray,
    heap: IntArray,
    stack: IntArray,
) -> int:
    """The width of the widest simple path if above ``known``, else that.

    The search may be cut short by the budget, which the caller looks at.
    """
    best, depth = known, 0
    while True:
        value = _widest_walk(h, root, end, best, nodes, vertices, arcs, heap)
        if value > best and h[CONFLICT] != EMPTY:
            chosen = h[CONFLICT]
            stack[depth, CHOSEN], stack[depth, LEFT_OUT] = chosen, 0
            _block_others(chosen, 1, nodes, vertices)
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
            _block_others(chosen, -1, nodes, vertices)
            if best >= bound or h[STEPS] > budget:
                depth -= 1
                continue
            nodes[chosen, BLOCKED] += 1
            stack[depth - 1, LEFT_OUT] = 1
            advanced = True
        if not advanced:
            return best

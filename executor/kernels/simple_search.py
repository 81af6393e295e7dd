"""The widest simple path from a root to an end: branch and bound for SIMPLE_PATH.

A path is extended arc by arc from the root. Each time the widest walk from there to the end
*past the vertices on the path* is an upper bound: if that walk is itself simple the branch is
done, and if it is not wider than the best so far the branch is cut.
"""

from __future__ import annotations

from numba import njit

from executor.batch import FOREVER, IntArray
from executor.kernels.path import pop, push
from executor.kernels.region import (
    ARC,
    BEFORE,
    MARK,
    MARKED,
    NEXT,
    ON_PATH,
    SEEN,
    SIMPLE,
    STEPS,
    THROUGH,
    TO,
    TOWARDS,
    VALUE,
    VERTEX,
)
from executor.kernels.tables import EMPTY

# What branch and bound has open.
AT, NEXT_ARC, SO_FAR, STACK_FIELDS = range(4)


@njit(cache=True)
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


@njit(cache=True)
def _widest_walk(
    h: IntArray,
    start: int,
    end: int,
    so_far: int,
    best: int,
    nodes: IntArray,
    vertices: IntArray,
    arcs: IntArray,
    heap: IntArray,
) -> int:
    """The width, above ``best`` or 0, of the widest walk to the end past the vertices on the path.

    The header says whether it repeats no vertex.
    """
    h[MARK] += 1
    mark, last = h[MARK], nodes[end, VERTEX]
    nodes[start, SEEN], nodes[start, VALUE], nodes[start, BEFORE] = mark, so_far, EMPTY
    heap[0, 0], heap[0, 1] = so_far, start
    size = 1
    while size > 0:
        value, node = heap[0, 0], heap[0, 1]
        if node == end:
            break
        pop(heap, size)
        size -= 1
        if nodes[node, VALUE] != value:
            continue
        h[STEPS] += 1
        arc = nodes[node, ARC]
        while arc != EMPTY:
            to, through = arcs[arc, TO], min(value, arcs[arc, THROUGH])
            vertex = nodes[to, VERTEX]
            if through > best and vertices[vertex, ON_PATH] == 0 and (vertex != last or to == end):
                if nodes[to, SEEN] != mark:
                    nodes[to, SEEN], nodes[to, VALUE] = mark, 0
                if through > nodes[to, VALUE]:
                    nodes[to, VALUE], nodes[to, BEFORE] = through, node
                    push(heap, size, through, to)
                    size += 1
            arc = arcs[arc, NEXT]
    if size == 0:
        return 0
    h[SIMPLE] = 1
    node = end
    while node != EMPTY:
        if vertices[nodes[node, VERTEX], MARKED] == mark:
            h[SIMPLE] = 0
        vertices[nodes[node, VERTEX], MARKED] = mark
        node = nodes[node, BEFORE]
    return nodes[end, VALUE]


@njit(cache=True)
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
    """The width of the widest simple path if above ``known``, else that: branch and bound.

    The path may be cut short by the budget, which the caller looks at.
    """
    best, depth = known, 0
    stack[0, AT], stack[0, NEXT_ARC], stack[0, SO_FAR] = root, nodes[root, ARC], FOREVER
    vertices[nodes[root, VERTEX], ON_PATH] = 1
    while depth >= 0:
        arc = stack[depth, NEXT_ARC]
        if arc == EMPTY or best >= bound or h[STEPS] > budget:
            vertices[nodes[stack[depth, AT], VERTEX], ON_PATH] = 0
            depth -= 1
            continue
        stack[depth, NEXT_ARC] = arcs[arc, NEXT]
        h[STEPS] += 1
        to, width = arcs[arc, TO], min(stack[depth, SO_FAR], arcs[arc, THROUGH])
        vertex = nodes[to, VERTEX]
        if width <= best or vertices[vertex, ON_PATH] != 0:
            continue
        if to == end:
            best = width
            continue
        if vertex == nodes[end, VERTEX]:
            continue
        vertices[vertex, ON_PATH] = 1
        value = _widest_walk(h, to, end, width, best, nodes, vertices, arcs, heap)
        if value > best and h[SIMPLE] == 0:
            depth += 1
            stack[depth, AT], stack[depth, NEXT_ARC] = to, nodes[to, ARC]
            stack[depth, SO_FAR] = width
        else:
            vertices[vertex, ON_PATH] = 0
            best = max(best, value)
    return best

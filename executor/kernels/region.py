"""The region of a new edge, which SIMPLE_PATH and TRAIL_PATH search
(:mod:`headrace.executor.kernels.simple`).

The region has the product nodes (vertex, state) that a walk connects with the edge, and the arcs
between them. Layer 0 has the nodes before the edge, layer 1 the nodes after it. Each node has the
width (the smallest expiry) of the widest walk between it and the edge.

A path may not visit a vertex twice. With TRAILS that holds only for negative codes: these stand for
edges, in a graph where an edge is a vertex between its two ends. A search may visit the nodes of
any other vertex in any order, so each of them counts as a vertex of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .edges import EDGE_FIELDS, EXPIRY, NEXT_OUT, TARGET, Edges, first_edge
from .heap import pop, push
from .path import (
    MOVE_INVERSE,
    MOVE_NEXT,
    MOVE_STATE,
    ROW_EXP,
    ROW_ROOTS,
    ROW_SOURCE,
    ROW_TARGET,
    ROW_TS,
)
from .tables import EMPTY, find

# The header: counts and cursors.
(
    PAIRS,  # pairs held, expired ones included
    ROW,  # the current input row
    MOVE,  # the next move of the row, in `input_moves`; EMPTY: the row is not begun
    NEW_EDGE,  # the edge of the row
    OUT,  # result rows written
    NODES,  # of the region
    VERTICES,
    ARCS,
    ROOTS_FOUND,  # roots, in `ends` from its begin
    ENDS_FOUND,  # ends, in `ends` from its middle
    PAIR,  # the next pair of a root and an end; EMPTY: the move is not begun
    STEPS,  # steps of branch and bound for the current edge
    MARK,  # the number of the latest search
    CONFLICT,  # the node where the latest walk repeats a vertex, or EMPTY
    TRAILS,  # 1 if vertices with codes from 0 on may be visited again
    HEADER_FIELDS,
) = range(16)

# An edge has a further field here: the vertices that are roots in this partition, as ROW_ROOTS.
OWNED = EDGE_FIELDS
SIMPLE_EDGE_FIELDS = EDGE_FIELDS + 1
# Steps from a state: the state here, 2 * input + inverse, the state there.
STEP_HERE, STEP_KEY, STEP_THERE = range(3)
# A node of the region: the WIDTH of the widest walk between it and the edge, the next node TOWARDS
# the edge on that walk, its first ARC, its SLOT in the map, the NEXT_NODE of its vertex, the number
# of open branches that have BLOCKED it, and of the search number SEEN the VALUE (width) and the
# node BEFORE it.
(
    VERTEX, STATE, LAYER, WIDTH, TOWARDS, ARC, SLOT, NEXT_NODE, BLOCKED, SEEN, VALUE, BEFORE,
    NODE_FIELDS,
) = range(13)  # fmt: skip
# A vertex of the region.
CODE, CODE_SLOT, MARKED, FIRST_NODE, VERTEX_FIELDS = range(5)
# An arc of the region, in the direction of paths.
TO, THROUGH, NEXT, ARC_FIELDS = range(4)


class Steps(NamedTuple):
    """The steps of an automaton, sorted by the state that they leave.

    Attributes:
        rows: a step in each row.
        of_state: the begin of each state's steps in ``rows``.
    """

    rows: IntArray
    of_state: IntArray


class Stepping(NamedTuple):
    """The automaton of a path for searches in both directions.

    Attributes:
        forwards: the steps along paths.
        backwards: the steps against paths.
        accepting: for each state, 1 if it accepts.
    """

    forwards: Steps
    backwards: Steps
    accepting: IntArray


class Region(NamedTuple):
    """The arrays of a region and of the searches in it.

    Attributes:
        header: counts and cursors.
        nodes: a product node in each row.
        vertices: a vertex in each row.
        node_map: the node of a (vertex, 2 · state + layer), and the number of a (vertex, EMPTY).
        arcs: an arc in each row.
        heap: nodes by width.
        ends: the roots in the first half, the ends of paths in the second.
        stack: the open branches of branch and bound.
    """

    header: IntArray
    nodes: IntArray
    vertices: IntArray
    node_map: IntArray
    arcs: IntArray
    heap: IntArray
    ends: IntArray
    stack: IntArray


@kernel
def _may_repeat(h: IntArray, code: int) -> bool:
    """Whether a path may visit a vertex again."""
    return h[TRAILS] != 0 and code >= 0


@kernel
def _node(region: Region, code: int, state: int, layer: int) -> int:
    """Finds or adds a node of the region; EMPTY if there is no room for it."""
    h, nodes, vertices, index = region.header, region.nodes, region.vertices, region.node_map
    slot = find(index, code, 2 * state + layer)
    if index[slot, 2] != EMPTY:
        return index[slot, 2]
    node = h[NODES]
    if node == nodes.shape[0]:
        return EMPTY
    h[NODES] = node + 1
    index[slot, 0], index[slot, 1], index[slot, 2] = code, 2 * state + layer, node
    code_slot = slot if _may_repeat(h, code) else find(index, code, EMPTY)
    vertex = h[VERTICES]
    if code_slot != slot and index[code_slot, 2] != EMPTY:
        vertex = index[code_slot, 2]
    else:
        h[VERTICES] += 1
        if code_slot != slot:
            index[code_slot, 0], index[code_slot, 1], index[code_slot, 2] = code, EMPTY, vertex
        vertices[vertex, CODE], vertices[vertex, CODE_SLOT] = code, code_slot
        vertices[vertex, MARKED], vertices[vertex, FIRST_NODE] = 0, EMPTY
    nodes[node, VERTEX], nodes[node, NEXT_NODE] = vertex, vertices[vertex, FIRST_NODE]
    vertices[vertex, FIRST_NODE] = node
    nodes[node, STATE], nodes[node, LAYER], nodes[node, SLOT] = state, layer, slot
    nodes[node, ARC] = nodes[node, TOWARDS] = EMPTY
    nodes[node, WIDTH] = nodes[node, SEEN] = nodes[node, BLOCKED] = 0
    return node


@kernel
def clear(region: Region) -> None:
    """Empties the region."""
    h, nodes, vertices, index = region.header, region.nodes, region.vertices, region.node_map
    for node in range(h[NODES]):
        index[nodes[node, SLOT], 2] = EMPTY
    for vertex in range(h[VERTICES]):
        index[vertices[vertex, CODE_SLOT], 2] = EMPTY
    h[NODES] = h[VERTICES] = h[ARCS] = 0


@kernel
def _add_arc(region: Region, tail: int, to: int, width: int) -> None:
    h, nodes, arcs = region.header, region.nodes, region.arcs
    arc = h[ARCS]
    h[ARCS] = arc + 1
    arcs[arc, TO], arcs[arc, THROUGH], arcs[arc, NEXT] = to, width, nodes[tail, ARC]
    nodes[tail, ARC] = arc


@kernel
def _explore(
    now: int, start: int, avoided: int, steps: Steps, edges: Edges, region: Region
) -> bool:
    """Builds a layer of the region, widest walks first; False if there is no room for it.

    Args:
        now: the current time; edges that expire at or before it are ignored.
        start: the node at the new edge.
        avoided: the vertex at the other end of the new edge.
        steps: the steps of the automaton, backwards in layer 0, forwards in layer 1.
        edges: the held edges.
        region: the region.
    """
    h, nodes, vertices, heap = region.header, region.nodes, region.vertices, region.heap
    rows = edges.rows
    layer, first = nodes[start, LAYER], vertices[nodes[start, VERTEX], CODE]
    heap[0, 0], heap[0, 1] = nodes[start, WIDTH], start
    size = 1
    while size > 0:
        width, node = heap[0, 0], heap[0, 1]
        pop(heap, size)
        size -= 1
        if nodes[node, WIDTH] != width:
            continue  # a wider walk settled the node
        code, state = vertices[nodes[node, VERTEX], CODE], nodes[node, STATE]
        for k in range(steps.of_state[state], steps.of_state[state + 1]):
            key, there = steps.rows[k, STEP_KEY], steps.rows[k, STEP_THERE]
            back = key & 1
            edge = first_edge(edges, code, key)
            while edge != EMPTY:
                other, expiry = rows[edge, TARGET - back], rows[edge, EXPIRY]
                own = layer == 1 or there != 0 or (rows[edge, OWNED] >> (1 - back)) & 1
                visited = other in (first, avoided) and not _may_repeat(h, other)
                if expiry > now and own and not visited and edge != h[NEW_EDGE]:
                    reached = _node(region, other, there, layer)
                    if reached == EMPTY or h[ARCS] == region.arcs.shape[0]:
                        return False
                    if layer == 1:
                        _add_arc(region, node, reached, expiry)
                    else:
                        _add_arc(region, reached, node, expiry)
                    through = min(width, expiry)
                    if through > nodes[reached, WIDTH]:
                        nodes[reached, WIDTH], nodes[reached, TOWARDS] = through, node
                        push(heap, size, through, reached)
                        size += 1
                edge = rows[edge, NEXT_OUT + back]
    return True


@kernel
def find_region(
    rows: IntArray, move: IntArray, stepping: Stepping, edges: Edges, region: Region
) -> bool:
    """Builds the region of one move of the current edge, its roots and ends; False: no room.

    Builds layer 0 with its roots, backwards from the begin of the move. Without roots there is no
    path and no layer 1. Then builds layer 1 with its ends, forwards from the end of the move.
    """
    h, nodes, ends = region.header, region.nodes, region.ends
    row = h[ROW]
    now, width, inverse = rows[ROW_TS, row], rows[ROW_EXP, row], move[MOVE_INVERSE]
    u, v = rows[ROW_SOURCE + inverse, row], rows[ROW_TARGET - inverse, row]
    h[ROOTS_FOUND] = h[ENDS_FOUND] = h[PAIR] = 0
    if move[MOVE_STATE] == 0 and not (rows[ROW_ROOTS, row] >> inverse) & 1:
        return True
    before = _node(region, u, move[MOVE_STATE], 0)
    nodes[before, WIDTH] = width
    if not _explore(now, before, v, stepping.backwards, edges, region):
        return False
    behind = h[NODES]
    for node in range(behind):
        if nodes[node, STATE] == 0:
            ends[h[ROOTS_FOUND]] = node
            h[ROOTS_FOUND] += 1
    if h[ROOTS_FOUND] == 0:
        return True
    after = _node(region, v, move[MOVE_NEXT], 1)
    if after == EMPTY:
        return False
    nodes[after, WIDTH] = width
    explored = _explore(now, after, u, stepping.forwards, edges, region)
    if not explored or h[ARCS] == region.arcs.shape[0]:
        return False
    _add_arc(region, before, after, width)
    for node in range(behind, h[NODES]):
        if stepping.accepting[nodes[node, STATE]] != 0:
            ends[ends.shape[0] // 2 + h[ENDS_FOUND]] = node
            h[ENDS_FOUND] += 1
    return True

"""Path deletion (RAPQ): updates the forest when the expiry of an edge shrinks.

A value of a tree may depend on the edge if it equals the value that the edge passes to its node, or
the value that another such value passes on. First all these values are dropped (lost values). Then
each is computed again from the remaining edges, longest first: the largest expiry over all
remaining paths, as in :mod:`headrace.executor.kernels.path`. The method compares expiries, not edge
times, so it also holds for edges of several windows and for derived edges.

The search goes backwards from a node, so each edge is in the adjacency lists of both its vertices
(all of ``walked`` is set).
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from ..counters import Tally
from . import path
from .compiling import kernel
from .edges import EXPIRY, NEXT_OUT, SOURCE, TARGET, Edges, find_edge, first_edge
from .forest import BLOCK, CAPACITY, CODE, NODE, PAIR_INPUT, PREVIOUS, STATE, Forest, slot_of
from .heap import pop, push
from .path import (
    MOVE_INPUT,
    MOVE_INVERSE,
    MOVE_NEXT,
    MOVE_STATE,
    NEED,
    OUT,
    ROW,
    ROW_EXP,
    ROW_INPUT,
    ROW_SOURCE,
    ROW_TARGET,
    ROW_TS,
    Automaton,
    Search,
)
from .stops import DONE, LOST_FULL, OUT_FULL
from .tables import EMPTY, find

# The header: the stage, the number of lost values, the next one to process, the rows of `lost` in
# use, and the size of the heap.
STAGE, LOST, AT, QUEUED, HEAP_SIZE, HEADER_FIELDS = range(6)
SEEDING, SPREADING, SEEKING, FILLING = range(4)  # SEEDING is the stage of an empty header

# Fields of a lost value: its tree, its node, and its expiry before.
ROOT, AT_NODE, BEFORE, LOST_FIELDS = range(4)


class Losses(NamedTuple):
    """The values that one deletion affects.

    Attributes:
        header: counts and cursors.
        lost: a lost value in each row; the rows after the first LOST are values computed again that
            wait in the heap.
        heap: rows of ``lost`` by their new value; as long as ``lost``.
    """

    header: IntArray
    lost: IntArray
    heap: IntArray


@kernel
def _slot(forest: Forest, node: int, root: int) -> int:
    """The slot of a node's value in a tree; EMPTY if there is none."""
    nodes, pool = forest.nodes, forest.pool
    if node == EMPTY or nodes[node, CAPACITY] == 0:
        return EMPTY
    slot = slot_of(pool, nodes[node, BLOCK], nodes[node, CAPACITY], root)
    return slot if pool[slot, 0] == root else EMPTY


@kernel
def _node(forest: Forest, code: int, state: int) -> int:
    """The product node; EMPTY if there is none."""
    return forest.node_map[find(forest.node_map, code, state), 2]


@kernel
def _lose(forest: Forest, losses: Losses, node: int, root: int, passed: int, now: int) -> bool:
    """Drops a value if it equals the value ``passed`` to its node; False: ``lost`` is full."""
    h, lost, pool = losses.header, losses.lost, forest.pool
    slot = _slot(forest, node, root)
    if slot != EMPTY and pool[slot, 1] == passed and passed > now:
        at = h[LOST]
        if at == lost.shape[0]:
            return False
        lost[at, ROOT], lost[at, AT_NODE], lost[at, BEFORE] = root, node, passed
        h[LOST] += 1
        pool[slot, 1] = 0
    return True


@kernel
def _seed(edge: IntArray, move: IntArray, now: int, forest: Forest, losses: Losses) -> bool:
    """Drops the values that may depend on a move over the edge; False: ``lost`` is full."""
    inverse = move[MOVE_INVERSE]
    behind = edge[SOURCE + inverse]
    to = _node(forest, edge[TARGET - inverse], move[MOVE_NEXT])
    if to == EMPTY:
        return True
    if move[MOVE_STATE] == 0:
        return _lose(forest, losses, to, behind, edge[EXPIRY], now)
    source = _node(forest, behind, move[MOVE_STATE])
    if source == EMPTY:
        return True
    pool, block = forest.pool, forest.nodes[source, BLOCK]
    for slot in range(block, block + forest.nodes[source, CAPACITY]):
        if pool[slot, 0] != EMPTY and pool[slot, 1] > now:
            passed = min(pool[slot, 1], edge[EXPIRY])
            if not _lose(forest, losses, to, pool[slot, 0], passed, now):
                return False
    return True


@kernel
def _spread(
    at: int, now: int, automaton: Automaton, edges: Edges, forest: Forest, losses: Losses
) -> bool:
    """Drops the values that may depend on the lost value ``at``; False: ``lost`` is full."""
    moves, rows = automaton.moves, edges.rows
    root, node, before = losses.lost[at, ROOT], losses.lost[at, AT_NODE], losses.lost[at, BEFORE]
    code, state = forest.nodes[node, CODE], forest.nodes[node, STATE]
    for k in range(automaton.moves_of_state[state], automaton.moves_of_state[state + 1]):
        inverse = moves[k, MOVE_INVERSE]
        edge = first_edge(edges, code, 2 * moves[k, MOVE_INPUT] + inverse)
        while edge != EMPTY:
            if rows[edge, EXPIRY] > now:
                to = _node(forest, rows[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                if not _lose(forest, losses, to, root, min(before, rows[edge, EXPIRY]), now):
                    return False
            edge = rows[edge, NEXT_OUT + inverse]
    return True


@kernel
def _through(root: int, source: int, edge: int, now: int, edges: Edges, forest: Forest) -> int:
    """The value that an edge passes on from a product node in a tree; ``now`` or less if none."""
    slot = _slot(forest, source, root)
    return now if slot == EMPTY else min(forest.pool[slot, 1], edges.rows[edge, EXPIRY])


@kernel
def _longest(
    root: int, node: int, before: int, now: int, automaton: Automaton, edges: Edges, forest: Forest
) -> int:
    """The largest value that edges pass to a node in a tree; ``now`` if none.

    Only edges from nodes of the tree count. The search alternates between the edges into the node
    and the members of the tree, until either list ends. So its cost follows the shorter list, and a
    vertex of high degree does not slow down small trees. No value exceeds the value ``before``,
    which also ends the search.
    """
    moves, rows = automaton.moves, edges.rows
    nodes, trees, members = forest.nodes, forest.trees, forest.members
    code, state = nodes[node, CODE], nodes[node, STATE]
    best = now
    for k in range(moves.shape[0]):
        if moves[k, MOVE_NEXT] != state:
            continue
        origin, number, inverse = moves[k, MOVE_STATE], moves[k, MOVE_INPUT], moves[k, MOVE_INVERSE]
        if origin == 0:
            edge = find_edge(edges, root, code, number, inverse)
            if edge != EMPTY:
                best = max(best, rows[edge, EXPIRY])
            continue
        back = 1 - inverse
        edge = first_edge(edges, code, 2 * number + back)
        member = trees[find(trees, root, 0), 2]
        while EMPTY not in (edge, member) and best < before:
            if rows[edge, EXPIRY] > best:
                source = _node(forest, rows[edge, TARGET - back], origin)
                best = max(best, _through(root, source, edge, now, edges, forest))
            source = members[member, NODE]
            if nodes[source, STATE] == origin:
                along = find_edge(edges, nodes[source, CODE], code, number, inverse)
                if along != EMPTY:
                    best = max(best, _through(root, source, along, now, edges, forest))
            edge = rows[edge, NEXT_OUT + back]
            member = members[member, PREVIOUS]
    return best


@kernel
def _fill(now: int, automaton: Automaton, edges: Edges, forest: Forest, losses: Losses) -> bool:
    """Passes the value on top of the heap to the successors; False: ``lost`` is full.

    Values pushed meanwhile are not wider, so this value stays on top until it is removed.
    """
    h, lost, heap, pool = losses.header, losses.lost, losses.heap, forest.pool
    moves, rows = automaton.moves, edges.rows
    width, at = heap[0, 0], heap[0, 1]
    root, node = lost[at, ROOT], lost[at, AT_NODE]
    if pool[_slot(forest, node, root), 1] == width:  # else a longer path replaced the value
        code, state = forest.nodes[node, CODE], forest.nodes[node, STATE]
        for k in range(automaton.moves_of_state[state], automaton.moves_of_state[state + 1]):
            inverse = moves[k, MOVE_INVERSE]
            edge = first_edge(edges, code, 2 * moves[k, MOVE_INPUT] + inverse)
            while edge != EMPTY:
                passed = min(width, rows[edge, EXPIRY])
                if passed > now:
                    to = _node(forest, rows[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                    slot = _slot(forest, to, root)
                    if slot != EMPTY and passed > pool[slot, 1]:
                        queued = h[QUEUED]
                        if queued == lost.shape[0]:
                            return False
                        lost[queued, ROOT], lost[queued, AT_NODE] = root, to
                        h[QUEUED] += 1
                        pool[slot, 1] = passed
                        push(heap, h[HEAP_SIZE], passed, queued)
                        h[HEAP_SIZE] += 1
                edge = rows[edge, NEXT_OUT + inverse]
    pop(heap, h[HEAP_SIZE])
    h[HEAP_SIZE] -= 1
    return True


@kernel
def _lower(
    rows: IntArray, row: int, automaton: Automaton, edges: Edges, forest: Forest, losses: Losses
) -> bool:
    """Lowers the expiry of the edge of a row; False: ``lost`` is full.

    Stages: SEEDING drops the values that may depend on the edge, SPREADING those that may depend on
    dropped values. SEEKING computes each dropped value from the remaining edges, and FILLING passes
    the new values on, longest first. A further call resumes. At the end the first LOST rows of
    ``lost`` are the dropped values.
    """
    h, lost, pool, moves = losses.header, losses.lost, forest.pool, automaton.moves
    number, now, expiry = rows[ROW_INPUT, row], rows[ROW_TS, row], ~rows[ROW_EXP, row]
    edge = find_edge(edges, rows[ROW_SOURCE, row], rows[ROW_TARGET, row], number, 0)
    if h[STAGE] == SEEDING:
        if edge == EMPTY or edges.rows[edge, EXPIRY] <= now:
            return True
        # Repeating the stage after a stop is harmless: lost values are 0 and match no more.
        for k in range(moves.shape[0]):
            if moves[k, MOVE_INPUT] == number and not _seed(
                edges.rows[edge], moves[k], now, forest, losses
            ):
                return False
        h[STAGE] = SPREADING
    while h[STAGE] == SPREADING:
        if h[AT] == h[LOST]:
            edges.rows[edge, EXPIRY] = expiry
            h[AT], h[STAGE], h[QUEUED] = 0, SEEKING, h[LOST]
        else:
            if not _spread(h[AT], now, automaton, edges, forest, losses):
                return False
            h[AT] += 1
    while h[STAGE] == SEEKING:
        if h[AT] == h[LOST]:
            h[STAGE] = FILLING
        else:
            root, node, before = lost[h[AT], ROOT], lost[h[AT], AT_NODE], lost[h[AT], BEFORE]
            longest = _longest(root, node, before, now, automaton, edges, forest)
            slot = _slot(forest, node, root)
            if longest > max(now, pool[slot, 1]):
                pool[slot, 1] = longest
                push(losses.heap, h[HEAP_SIZE], longest, h[AT])
                h[HEAP_SIZE] += 1
            h[AT] += 1
    while h[HEAP_SIZE] > 0:
        if not _fill(now, automaton, edges, forest, losses):
            return False
    return True


@kernel
def _report(
    now: int, accepting: IntArray, forest: Forest, losses: Losses, out: IntArray, written: int
) -> int:
    """Writes the changes of the lost values of accepting nodes: the new value, then a retraction.

    ``out`` has room for two rows for each. Returns the number of rows written in total.
    """
    nodes, lost = forest.nodes, losses.lost
    for at in range(losses.header[LOST]):
        root, node, before = lost[at, ROOT], lost[at, AT_NODE], lost[at, BEFORE]
        after = forest.pool[_slot(forest, node, root), 1]
        if accepting[nodes[node, STATE]] == 0:
            continue
        if forest.header[PAIR_INPUT] != EMPTY:
            until = forest.pairs[find(forest.pairs, root, nodes[node, CODE]), 2]
            after, before = min(after, until), min(before, until)
        if after == before or before <= now:
            continue
        for exp in (after, ~before):
            if exp < 0 or exp > now:
                out[0, written], out[1, written] = root, nodes[node, CODE]
                out[2, written], out[3, written] = now, exp
                written += 1
    return written


@kernel
def advance(
    rows: IntArray,
    automaton: Automaton,
    edges: Edges,
    forest: Forest,
    search: Search,
    losses: Losses,
    out: IntArray,
    tally: Tally,
) -> int:
    """Processes changes of edges; resumes from the header. Returns the reason of the stop.

    A row has the new expiry of an edge: ``exp`` if it grew, ``~exp`` if it shrank.
    """
    h, lost = search.header, losses.header
    while True:
        status = path.advance(rows, automaton, edges, forest, search, out, tally)
        row = h[ROW]
        if status != DONE or row == rows.shape[1]:
            return status
        if not _lower(rows, row, automaton, edges, forest, losses):
            return LOST_FULL
        h[NEED] = 2 * lost[LOST]
        if h[OUT] + h[NEED] > out.shape[1]:
            return OUT_FULL
        now = rows[ROW_TS, row]
        h[OUT] = _report(now, automaton.accepting, forest, losses, out, h[OUT])
        lost[:] = 0
        h[ROW] += 1

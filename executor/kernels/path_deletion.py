"""RAPQ's other half: what a path loses when one of its edges ends early or lasts less long.

The values of a tree that may rest on the edge are those that equal what the edge gives, and
those that equal what such a value gives onwards. They are all forgotten first; then each is
found again from what remains, longest first: the largest expiry over all ways that are left,
as in the growth of :mod:`headrace.executor.kernels.path`. Keyed on expiry, not on edge times, this
holds for edges of several windows and for derived ones.

To look back at a node its edges are listed by both of their ends (all of ``walked`` is set).
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from ..counters import Tally
from . import path
from .compiling import kernel
from .edges import EXPIRY, NEXT_OUT, SOURCE, TARGET, Edges, find_edge
from .forest import BLOCK, CAPACITY, CODE, NODE, PREVIOUS, STATE, Forest, slot_of
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

# The header: what is being done, how many values are lost, how far they were looked at, how
# many rows of `lost` are in use, and the size of the heap.
STAGE, LOST, AT, QUEUED, HEAP_SIZE, HEADER_FIELDS = range(6)
SEEDING, SPREADING, SEEKING, FILLING = range(4)  # SEEDING is the stage of an empty header

# Fields of a lost value.
ROOT, AT_NODE, BEFORE, LOST_FIELDS = range(4)


class Losses(NamedTuple):
    """What one deletion looks at.

    Attributes:
        header: counts and cursors.
        lost: a lost value in each row; those after the first LOST are values found again that
            wait in the heap.
        heap: rows of ``lost`` by the value found; as long as ``lost``.
    """

    header: IntArray
    lost: IntArray
    heap: IntArray


@kernel
def _slot(forest: Forest, node: int, root: int) -> int:
    """Where a node's value in a tree is; EMPTY if it never had one."""
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
def _lose(forest: Forest, losses: Losses, node: int, root: int, given: int, now: int) -> bool:
    """Forgets a value if it may rest on a way that gave as much; False: ``lost`` has no room."""
    h, lost, pool = losses.header, losses.lost, forest.pool
    slot = _slot(forest, node, root)
    if slot != EMPTY and pool[slot, 1] == given and given > now:
        at = h[LOST]
        if at == lost.shape[0]:
            return False
        lost[at, ROOT], lost[at, AT_NODE], lost[at, BEFORE] = root, node, given
        h[LOST] += 1
        pool[slot, 1] = 0
    return True


@kernel
def _seed(edge: IntArray, move: IntArray, now: int, forest: Forest, losses: Losses) -> bool:
    """Forgets the values that a move over the edge may have given; False: no room."""
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
            given = min(pool[slot, 1], edge[EXPIRY])
            if not _lose(forest, losses, to, pool[slot, 0], given, now):
                return False
    return True


@kernel
def _spread(
    at: int, now: int, automaton: Automaton, edges: Edges, forest: Forest, losses: Losses
) -> bool:
    """Forgets the values that a lost one may have given; False: no room."""
    moves, rows, adjacency = automaton.moves, edges.rows, edges.adjacency
    root, node, before = losses.lost[at, ROOT], losses.lost[at, AT_NODE], losses.lost[at, BEFORE]
    code, state = forest.nodes[node, CODE], forest.nodes[node, STATE]
    for k in range(automaton.moves_of_state[state], automaton.moves_of_state[state + 1]):
        inverse = moves[k, MOVE_INVERSE]
        edge = adjacency[find(adjacency, code, 2 * moves[k, MOVE_INPUT] + inverse), 2]
        while edge != EMPTY:
            if rows[edge, EXPIRY] > now:
                to = _node(forest, rows[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                if not _lose(forest, losses, to, root, min(before, rows[edge, EXPIRY]), now):
                    return False
            edge = rows[edge, NEXT_OUT + inverse]
    return True


@kernel
def _through(root: int, source: int, edge: int, now: int, edges: Edges, forest: Forest) -> int:
    """What an edge from a product node gives in a tree; ``now`` or less if nothing."""
    slot = _slot(forest, source, root)
    return now if slot == EMPTY else min(forest.pool[slot, 1], edges.rows[edge, EXPIRY])


@kernel
def _longest(
    root: int, node: int, before: int, now: int, automaton: Automaton, edges: Edges, forest: Forest
) -> int:
    """What the edges into a node give it now in a tree; ``now`` if nothing.

    Only edges from nodes of the tree count. They are looked for from both sides in turn, among
    the edges into the node and from each member of the tree, until one side is at its end: the
    cost follows the smaller of the two, so a vertex with very many edges is no burden to small
    trees. Nothing can be longer than it was ``before``, which ends the search as well.
    """
    moves, rows, adjacency = automaton.moves, edges.rows, edges.adjacency
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
        edge = adjacency[find(adjacency, code, 2 * number + back), 2]
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
    """Hands the value on top of the heap on; False: no room.

    What is pushed meanwhile is not wider, so that this value stays on top until it is done.
    """
    h, lost, heap, pool = losses.header, losses.lost, losses.heap, forest.pool
    moves, rows, adjacency = automaton.moves, edges.rows, edges.adjacency
    width, at = heap[0, 0], heap[0, 1]
    root, node = lost[at, ROOT], lost[at, AT_NODE]
    if pool[_slot(forest, node, root), 1] == width:  # else a longer way was found
        code, state = forest.nodes[node, CODE], forest.nodes[node, STATE]
        for k in range(automaton.moves_of_state[state], automaton.moves_of_state[state + 1]):
            inverse = moves[k, MOVE_INVERSE]
            edge = adjacency[find(adjacency, code, 2 * moves[k, MOVE_INPUT] + inverse), 2]
            while edge != EMPTY:
                given = min(width, rows[edge, EXPIRY])
                if given > now:
                    to = _node(forest, rows[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                    slot = _slot(forest, to, root)
                    if slot != EMPTY and given > pool[slot, 1]:
                        queued = h[QUEUED]
                        if queued == lost.shape[0]:
                            return False
                        lost[queued, ROOT], lost[queued, AT_NODE] = root, to
                        h[QUEUED] += 1
                        pool[slot, 1] = given
                        push(heap, h[HEAP_SIZE], given, queued)
                        h[HEAP_SIZE] += 1
                edge = rows[edge, NEXT_OUT + inverse]
    pop(heap, h[HEAP_SIZE])
    h[HEAP_SIZE] -= 1
    return True


@kernel
def _lower(
    rows: IntArray, row: int, automaton: Automaton, edges: Edges, forest: Forest, losses: Losses
) -> bool:
    """Lets the edge of a row last less long; False: ``lost`` has no room.

    In stages: the values that may rest on the edge are forgotten (SEEDING), then those that may
    rest on them (SPREADING); each is found again from what remains (SEEKING), and what was found
    is handed on, longest first (FILLING). Called again it goes on where it stopped. Afterwards
    the first LOST rows of ``lost`` are the values that were looked at again.
    """
    h, lost, pool, moves = losses.header, losses.lost, forest.pool, automaton.moves
    number, now, expiry = rows[ROW_INPUT, row], rows[ROW_TS, row], ~rows[ROW_EXP, row]
    edge = find_edge(edges, rows[ROW_SOURCE, row], rows[ROW_TARGET, row], number, 0)
    if h[STAGE] == SEEDING:
        if edge == EMPTY or edges.rows[edge, EXPIRY] <= now:
            return True
        # Done again after a stop it finds what is left: what was lost is no longer there.
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
    """Writes how the lost values of accepting nodes changed: the new one, then the old one back.

    ``out`` has room for two rows for each; returns how many are written.
    """
    nodes, lost = forest.nodes, losses.lost
    for at in range(losses.header[LOST]):
        root, node, before = lost[at, ROOT], lost[at, AT_NODE], lost[at, BEFORE]
        after = forest.pool[_slot(forest, node, root), 1]
        if accepting[nodes[node, STATE]] == 0 or after == before:
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
    """Works through changes of edges from where the header stands; returns why it stopped.

    A row says how long an edge lasts from now on: ``exp`` if that is longer than before, and
    ``~exp`` if it is less long.
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

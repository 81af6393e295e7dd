"""S-PATH (thesis appendix A): incremental results of a path as edges arrive.

A new edge u -> v raises the value of a node in tree x to at most ``min(value of u in x, widest
path from v to the node)``. So there is one search per edge and transition, for all trees together:
widest path first, from (v, t) over the product graph. A node passes to its successors the list of
the trees that it improved. Other trees need no visit: if a node does not improve a tree, the
successors in that tree already have at least the value that the search could bring. So a search
visits each tree and node at most once, sets the final value at once, and ends where nothing
improves.

An edge may make several transitions. During the search of one transition the later transitions of
the same edge count as absent. So no search walks a transition before that transition's own search,
which the argument above requires. Expired edges and values count as absent, too.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from ..counters import ADDED_VALIDITY, DROPPED, Tally
from .compiling import kernel
from .edges import EXPIRY, NEXT_OUT, TARGET, Edges, enter, first_edge
from .forest import (
    BLOCK,
    CAPACITY,
    CODE,
    FROM,
    MEMBERS,
    PAIR_INPUT,
    PAIRS,
    POOL_TOP,
    SEEN,
    STATE,
    UNTIL,
    USED,
    VALUES,
    WIDTH,
    WITH_DELETIONS,
    Forest,
    list_member,
    make_room,
    node_of,
    pool_room,
    slot_of,
)
from .heap import pop, push
from .pairs import take_pair
from .stops import (
    ARENA_FULL,
    DONE,
    EDGES_FULL,
    HEAP_FULL,
    MEMBERS_FULL,
    NODES_FULL,
    OUT_FULL,
    PAIRS_FULL,
    POOL_FULL,
    SWEEP_DUE,
)
from .store import ADDED, COUNT, is_sweep_due
from .tables import EMPTY, find

# Fields of an input row are the first index of `rows`; fields of a move are the columns of `moves`.
# ROW_ROOTS: 1 if the source may be a root, plus 2 if the target may be one.
ROW_SOURCE, ROW_TARGET, ROW_INPUT, ROW_TS, ROW_EXP, ROW_ROOTS, ROW_FIELDS = range(7)
ALL_ROOTS = 3
MOVE_STATE, MOVE_INPUT, MOVE_INVERSE, MOVE_NEXT = range(4)

# The header of a search.
(
    ROW,  # the current input row
    MOVE,  # the next move of the row, in `input_moves`; EMPTY: the row is not begun
    NEW_EDGE,  # the edge of the row
    SEARCH,  # the number of the current search
    EXPANDING,  # the node whose successors the search visits, or EMPTY
    IMPROVED_FROM,  # the trees that the node improved: arena[IMPROVED_FROM:IMPROVED_TO]
    IMPROVED_TO,
    HEAP_SIZE,
    ARENA_TOP,
    OUT,  # result rows written
    NEED,  # the length that the full array must have
    HEADER_FIELDS,
) = range(12)


class Automaton(NamedTuple):
    """A path's automaton, state 0 being its start.

    Attributes:
        moves: a transition in each row, sorted.
        moves_of_state: the begin of each state's moves in ``moves``.
        input_moves: the moves that read input 0, then those that read input 1, ...
        moves_of_input: the begin of each input's moves in ``input_moves``.
        accepting: for each state, 1 if it accepts.
        finals: the accepting states.
    """

    moves: IntArray
    moves_of_state: IntArray
    input_moves: IntArray
    moves_of_input: IntArray
    accepting: IntArray
    finals: IntArray


class Search(NamedTuple):
    """The arrays of a search beside the forest.

    Attributes:
        header: cursors.
        heap: visited nodes that are not yet settled, by width.
        arena: for each settled node the trees that it improved, as (root, value before the edge).
        rivals: scratch space for the other accepting nodes of a vertex.
    """

    header: IntArray
    heap: IntArray
    arena: IntArray
    rivals: IntArray


@kernel
def _begin_row(rows: IntArray, automaton: Automaton, edges: Edges, h: IntArray) -> bool:
    """Adds the edge of the current row; False if the edge already lasts as long."""
    row = h[ROW]
    number = rows[ROW_INPUT, row]
    edge = enter(
        edges, rows[ROW_SOURCE, row], rows[ROW_TARGET, row], number, rows[ROW_EXP, row], False
    )
    if edge == EMPTY:
        return False
    h[NEW_EDGE] = edge
    h[MOVE] = automaton.moves_of_input[number]
    return True


@kernel
def _begin_search(rows: IntArray, move: IntArray, forest: Forest, search: Search) -> int:
    """Starts a search from the trees that a move of the current row extends, if any."""
    h, heap, arena = search.header, search.heap, search.arena
    nodes, node_map, pool = forest.nodes, forest.node_map, forest.pool
    row = h[ROW]
    now, width = rows[ROW_TS, row], rows[ROW_EXP, row]
    inverse = move[MOVE_INVERSE]
    behind, ahead = rows[ROW_SOURCE + inverse, row], rows[ROW_TARGET - inverse, row]
    trees = 0
    if move[MOVE_STATE] == 0:
        if (rows[ROW_ROOTS, row] >> inverse) & 1:
            arena[0, 0], arena[0, 1] = behind, FOREVER
            trees = 1
    else:
        source = node_map[find(node_map, behind, move[MOVE_STATE]), 2]
        if source != EMPTY:
            if nodes[source, USED] > arena.shape[0]:
                h[NEED] = nodes[source, USED]
                return ARENA_FULL
            block = nodes[source, BLOCK]
            for slot in range(block, block + nodes[source, CAPACITY]):
                if pool[slot, 0] != EMPTY and pool[slot, 1] > now:
                    arena[trees, 0], arena[trees, 1] = pool[slot, 0], pool[slot, 1]
                    trees += 1
    if trees > 0:
        node = node_of(forest, ahead, move[MOVE_NEXT])
        if node == EMPTY:
            return NODES_FULL
        h[SEARCH] += 1
        nodes[node, SEEN], nodes[node, WIDTH] = h[SEARCH], width
        nodes[node, FROM], nodes[node, UNTIL] = 0, trees
        h[ARENA_TOP] = trees
        heap[0, 0], heap[0, 1] = width, node
        h[HEAP_SIZE] = 1
    h[MOVE] += 1
    return DONE


@kernel
def _improve(
    now: int,
    node: int,
    automaton: Automaton,
    edges_header: IntArray,
    forest: Forest,
    search: Search,
    out: IntArray,
    tally: Tally,
) -> int:
    """Sets the values of a node in the trees passed to it, and reports the values that grew.

    The trees are ``arena[FROM:UNTIL]`` of the node; trees in which its value grew are appended to
    the arena for its successors. Nothing changes before there is room for everything, so after a
    stop the function is simply called again.

    With deletions each accepting node reports its own values, and retracts a value that it
    replaces. Without deletions a value is reported only if it exceeds the values that other
    accepting nodes of the vertex (its *rivals*) reported. A value counts up to the expiry of the
    pair, if an input has the pairs to report.
    """
    h, arena, rivals = search.header, search.arena, search.rivals
    nodes, node_map, pool = forest.nodes, forest.node_map, forest.pool
    accepting, finals = automaton.accepting, automaton.finals
    with_deletions = forest.header[WITH_DELETIONS] != 0
    of_pairs = forest.header[PAIR_INPUT] != EMPTY
    state, code, width = nodes[node, STATE], nodes[node, CODE], nodes[node, WIDTH]
    first, last = nodes[node, FROM], nodes[node, UNTIL]
    top, written = h[ARENA_TOP], h[OUT]
    if top + last - first > arena.shape[0]:
        h[NEED] = top + last - first
        return ARENA_FULL
    reports = accepting[state] != 0
    most = (last - first) * (1 + with_deletions)
    if reports and written + most > out.shape[1]:
        h[NEED] = most
        return OUT_FULL
    if with_deletions:
        h[NEED] = forest.header[MEMBERS] + last - first
        if h[NEED] > forest.members.shape[0]:
            return MEMBERS_FULL
    top_of_pool = forest.header[POOL_TOP]
    h[NEED] = top_of_pool + pool_room(nodes[node, CAPACITY], nodes[node, USED] + last - first)
    if h[NEED] > pool.shape[0]:
        return POOL_FULL
    rival_count = 0
    if reports and finals.shape[0] > 1 and not with_deletions:
        for i in range(finals.shape[0]):
            rival = node_map[find(node_map, code, finals[i]), 2]
            if rival not in (EMPTY, node) and nodes[rival, CAPACITY] > 0:
                rivals[rival_count] = rival
                rival_count += 1
    if nodes[node, CAPACITY] == 0:
        make_room(forest, node, now)
    block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
    added = 0
    for at in range(first, last):
        root, behind = arena[at, 0], arena[at, 1]
        value = min(behind, width)
        before = now
        slot = slot_of(pool, block, capacity, root)
        reported = now  # the largest expiry of earlier results of this pair
        if pool[slot, 0] == EMPTY:
            if 4 * (used + 1) > 3 * capacity:
                nodes[node, USED] = used
                make_room(forest, node, now)
                block, capacity, used = nodes[node, BLOCK], nodes[node, CAPACITY], nodes[node, USED]
                slot = slot_of(pool, block, capacity, root)
            pool[slot, 0] = root
            used += 1
            added += 1
            if with_deletions:
                list_member(forest, root, node)
        elif pool[slot, 1] >= value:
            tally[DROPPED] += reports
            continue
        else:
            before = pool[slot, 1]
            reported = max(reported, before)
        pool[slot, 1] = value
        arena[top, 0], arena[top, 1] = root, behind
        top += 1
        if reports and of_pairs:
            until = forest.pairs[find(forest.pairs, root, code), 2]
            value, before, reported = min(value, until), min(before, until), min(reported, until)
            if until <= now or (with_deletions and before == value):
                continue
        if reports:
            for i in range(rival_count):
                rival = rivals[i]
                there = slot_of(pool, nodes[rival, BLOCK], nodes[rival, CAPACITY], root)
                if pool[there, 0] == root:
                    reported = max(reported, pool[there, 1])
            if reported >= value:
                tally[DROPPED] += 1
            else:
                if value != FOREVER:
                    tally[ADDED_VALIDITY] += value - reported
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, value
                written += 1
            if with_deletions and before > now:
                out[0, written], out[1, written] = root, code
                out[2, written], out[3, written] = now, ~before
                written += 1
    nodes[node, USED] = used
    forest.header[VALUES] += added
    edges_header[ADDED] += added
    h[OUT] = written
    h[IMPROVED_FROM], h[IMPROVED_TO] = h[ARENA_TOP], top
    h[ARENA_TOP] = top
    return DONE


@kernel
def _expand(
    now: int,
    node: int,
    current: int,
    automaton: Automaton,
    edges: Edges,
    forest: Forest,
    search: Search,
) -> int:
    """Visits the successors of a node and passes them the trees that it improved.

    The move ``current`` of the new edge and its later moves count as absent. After a stop the
    function is called again from the start, which has no further effect on visited successors.
    """
    h, heap, moves = search.header, search.heap, automaton.moves
    nodes, rows = forest.nodes, edges.rows
    moves_of_state = automaton.moves_of_state
    code, state, width = nodes[node, CODE], nodes[node, STATE], nodes[node, WIDTH]
    for k in range(moves_of_state[state], moves_of_state[state + 1]):
        inverse = moves[k, MOVE_INVERSE]
        edge = first_edge(edges, code, 2 * moves[k, MOVE_INPUT] + inverse)
        while edge != EMPTY:
            through = min(width, rows[edge, EXPIRY])
            if through > now and (edge != h[NEW_EDGE] or k < current):
                to = node_of(forest, rows[edge, TARGET - inverse], moves[k, MOVE_NEXT])
                if to == EMPTY:
                    return NODES_FULL
                if nodes[to, SEEN] != h[SEARCH]:
                    nodes[to, SEEN], nodes[to, WIDTH] = h[SEARCH], now
                if through > nodes[to, WIDTH]:
                    if h[HEAP_SIZE] == heap.shape[0]:
                        h[NEED] = h[HEAP_SIZE] + 1
                        return HEAP_FULL
                    nodes[to, WIDTH] = through
                    nodes[to, FROM], nodes[to, UNTIL] = h[IMPROVED_FROM], h[IMPROVED_TO]
                    push(heap, h[HEAP_SIZE], through, to)
                    h[HEAP_SIZE] += 1
            edge = rows[edge, NEXT_OUT + inverse]
    return DONE


@kernel
def _take_pair(
    rows: IntArray,
    automaton: Automaton,
    edges: Edges,
    forest: Forest,
    h: IntArray,
    out: IntArray,
    tally: Tally,
) -> int:
    """Sets the expiry of the current row's pair, if its tree grows in this partition."""
    row, finals = h[ROW], automaton.finals
    if (rows[ROW_ROOTS, row] & 1) == 0:
        return DONE
    h[NEED] = 2 * finals.shape[0]
    if h[OUT] + h[NEED] > out.shape[1]:
        return OUT_FULL
    if 2 * forest.header[PAIRS] >= forest.pairs.shape[0]:
        return PAIRS_FULL
    edges.header[ADDED] += 1
    pair = (rows[ROW_SOURCE, row], rows[ROW_TARGET, row])
    expiry = rows[ROW_EXP, row]
    if expiry < 0:
        expiry = ~expiry
    h[OUT] = take_pair(pair, rows[ROW_TS, row], expiry, finals, forest, out, h[OUT], tally)
    return DONE


@kernel
def advance(
    rows: IntArray,
    automaton: Automaton,
    edges: Edges,
    forest: Forest,
    search: Search,
    out: IntArray,
    tally: Tally,
) -> int:
    """Processes ``rows`` up to their end or a deletion; resumes from the header.

    Returns the reason of the stop. At SWEEP_DUE and EDGES_FULL no search is open.
    """
    h, heap, nodes = search.header, search.heap, forest.nodes
    input_moves, moves_of_input = automaton.input_moves, automaton.moves_of_input
    while True:
        while h[HEAP_SIZE] > 0 or h[EXPANDING] != EMPTY:
            now = rows[ROW_TS, h[ROW]]
            if h[EXPANDING] == EMPTY:
                width, node = heap[0, 0], heap[0, 1]
                if nodes[node, WIDTH] == width:  # else a wider path settled the node
                    status = _improve(
                        now, node, automaton, edges.header, forest, search, out, tally
                    )
                    if status != DONE:
                        return status
                    h[EXPANDING] = node
                pop(heap, h[HEAP_SIZE])
                h[HEAP_SIZE] -= 1
                if h[EXPANDING] == EMPTY:
                    continue
            node = h[EXPANDING]
            if h[IMPROVED_TO] > h[IMPROVED_FROM]:
                current = input_moves[h[MOVE] - 1]
                status = _expand(now, node, current, automaton, edges, forest, search)
                if status != DONE:
                    return status
            nodes[node, WIDTH] = FOREVER
            h[EXPANDING] = EMPTY
        row = h[ROW]
        if h[MOVE] == EMPTY:
            if row == rows.shape[1]:
                return DONE
            if rows[ROW_EXP, row] < 0 and rows[ROW_INPUT, row] != forest.header[PAIR_INPUT]:
                return DONE
            if is_sweep_due(edges.header, rows[ROW_TS, row]):
                return SWEEP_DUE
            if edges.header[COUNT] == edges.rows.shape[0]:
                return EDGES_FULL
            if rows[ROW_INPUT, row] == forest.header[PAIR_INPUT]:
                status = _take_pair(rows, automaton, edges, forest, h, out, tally)
                if status != DONE:
                    return status
                h[ROW] += 1
            elif not _begin_row(rows, automaton, edges, h):
                h[ROW] += 1
        elif h[MOVE] == moves_of_input[rows[ROW_INPUT, row] + 1]:
            h[MOVE] = EMPTY
            h[ROW] += 1
        else:
            move = automaton.moves[input_moves[h[MOVE]]]
            status = _begin_search(rows, move, forest, search)
            if status != DONE:
                return status

"""All shortest paths from a root as a tree, and the codes of their texts.

In: the nodes that a search has reached, nearest first, each with its arcs back. Out: a tree in
which a path is its last step and the path before it; and the code of the text of each path that is
a result.

The text of a path is a list as JSON: of its steps, or of the vertices that it visits. The list of
the path before and the last element make it known, and its hash too. So it is a composed string
(:mod:`headrace.executor.kernels.composed`), and no text is written before it is read.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .composed import CLOSING, COMMA, OPENING, code_of_list
from .stops import DONE, TEXTS_FULL
from .tables import EMPTY
from .vertices import BASE, COUNT, HEAP_TOP, LISTS, START, Bytes, Table, hash_of_string, rolled

# A node that a search has reached: its vertex, its state, its distance from the root, and its first
# arc back; whether a result ends there; the number of paths to it, 0 if no result has one; and the
# first of these paths.
(
    NODE_VERTEX, NODE_STATE, NODE_DISTANCE, NODE_BACK, NODE_ENDS, NODE_COUNT, NODE_FIRST,
    NODE_FIELDS,
) = range(8)  # fmt: skip
# An arc back: the place of the node that it comes from, its number, and the next arc of the node.
BACK_NODE, BACK_ARC, BACK_NEXT, BACK_FIELDS = range(4)

# A path: the path before its last step, EMPTY at the root; the element of that step; the rolled
# hash, the length and the code of its text; and what :func:`_fetch` has read.
BEFORE, ELEMENT, ROLL, LENGTH, CODE, SEEN, TREE_FIELDS = range(7)

# The header of a search: the next root; the rows written; the rows, paths or entries for which
# there has to be room when it stops; and the bytes of text.
ROOT, OUT, NEED, NEED_TEXT, HEADER_FIELDS = range(5)


# Which members of a path have a row each: none, so that the path has one row, or its vertices, or
# its steps.
WHOLE, NODES, STEPS = range(3)


class Columns(NamedTuple):
    """The rows of a path, and the columns of a result other than texts; EMPTY for an absent one.

    Attributes:
        members: WHOLE, NODES or STEPS.
        length: the number of steps of the path.
        place: the place of a member on the path, from 0 on.
        node: the vertex that a member is.
        start: the vertex at which the edge of a step begins.
        end: the vertex at which it ends.
    """

    members: int
    length: int
    place: int
    node: int
    start: int
    end: int


class Texts(NamedTuple):
    """The elements of which the texts of paths are made, and where the codes go.

    Attributes:
        rows: the rows of the result with codes of texts. Each has as many elements: one for each
            arc, and then one for each vertex as a root.
        codes: the code of each element; EMPTY for roots that are no part of the list.
        lengths: the length of the text of each element.
        rolls: the rolled hash of this text.
        powers: BASE to the power of this length.
        table: the dictionary.
    """

    rows: IntArray
    codes: IntArray
    lengths: IntArray
    rolls: IntArray
    powers: IntArray
    table: Table


@kernel
def roll(starts: IntArray, data: Bytes, rolls: IntArray, powers: IntArray) -> None:
    """Writes the rolled hash of each text, and BASE to the power of its length.

    Text k are the bytes of ``data`` from ``starts[k]`` to ``starts[k + 1]``.
    """
    for k in range(rolls.shape[0]):
        rolls[k] = rolled(data, starts[k], starts[k + 1])
        power = 1
        for _ in range(starts[k + 1] - starts[k]):
            power *= BASE
        powers[k] = power


@kernel
def rows_of(members: int, steps: int) -> int:
    """The rows of a path with a number of steps."""
    if members == WHOLE:
        return 1
    return steps + 1 if members == NODES else steps


@kernel
def count_paths(
    nodes: IntArray, back: IntArray, reached: int, budget: int, members: int
) -> tuple[int, int]:
    """Counts the paths to each node that leads to a result.

    Returns the number of their rows, EMPTY if the paths of results have more than ``budget`` steps;
    and the number of all paths.
    """
    for node in range(reached):
        nodes[node, NODE_COUNT] = nodes[node, NODE_ENDS]
    for node in range(reached - 1, 0, -1):
        if nodes[node, NODE_COUNT] != 0:
            k = nodes[node, NODE_BACK]
            while k != EMPTY:
                nodes[back[k, BACK_NODE], NODE_COUNT] = 1
                k = back[k, BACK_NEXT]
    nodes[0, NODE_COUNT], nodes[0, NODE_FIRST] = 1, 0
    rows, paths, steps = 0, 1, 0
    for node in range(1, reached):
        if nodes[node, NODE_COUNT] == 0:
            continue
        count, k = 0, nodes[node, NODE_BACK]
        while k != EMPTY:
            count += nodes[back[k, BACK_NODE], NODE_COUNT]
            k = back[k, BACK_NEXT]
        if nodes[node, NODE_ENDS] != 0:
            rows += count * rows_of(members, nodes[node, NODE_DISTANCE])
            steps += count * nodes[node, NODE_DISTANCE]
        # Each path to the node is part of a result, and has a step at least.
        if count > budget or steps > budget:
            return EMPTY, paths
        nodes[node, NODE_COUNT], nodes[node, NODE_FIRST] = count, paths
        paths += count
    return rows, paths


@kernel
def grow(tree: IntArray, nodes: IntArray, back: IntArray, reached: int, root_element: int) -> None:
    """Makes all paths that :func:`count_paths` has counted."""
    tree[0, BEFORE], tree[0, ELEMENT] = EMPTY, root_element
    for node in range(1, reached):
        if nodes[node, NODE_COUNT] == 0:
            continue
        path, k = nodes[node, NODE_FIRST], nodes[node, NODE_BACK]
        while k != EMPTY:
            before, arc = back[k, BACK_NODE], back[k, BACK_ARC]
            first = nodes[before, NODE_FIRST]
            for other in range(first, first + nodes[before, NODE_COUNT]):
                tree[path, BEFORE], tree[path, ELEMENT] = other, arc
                path += 1
            k = back[k, BACK_NEXT]


@kernel
def encode(
    tree: IntArray,
    nodes: IntArray,
    reached: int,
    paths: int,
    texts: Texts,
    members: int,
    until: int,
    header: IntArray,
    out: IntArray,
) -> int:
    """Writes the codes of the texts of all results; stops if the dictionary has no room for them.

    ``paths`` is the number of paths in the tree, and ``until`` the time until which the codes are
    needed.
    """
    table = texts.table
    for k in range(texts.rows.shape[0]):
        first_element = k * (texts.rolls.shape[0] // texts.rows.shape[0])
        header[NEED], header[NEED_TEXT] = paths, _measure(tree, paths, texts, first_element)
        if (
            table.header[COUNT] + paths > table.entries.shape[0]
            or table.header[LISTS] + paths > table.lists.shape[0]
            or table.header[HEAP_TOP] + header[NEED_TEXT] > table.heap.shape[0]
        ):
            return TEXTS_FULL
        _fetch(tree, paths, table)
        for path in range(paths):
            before, last = tree[path, BEFORE], texts.codes[first_element + tree[path, ELEMENT]]
            if before != EMPTY:
                before = tree[before, CODE]
            tree[path, CODE] = EMPTY
            if last != EMPTY:
                length = tree[path, LENGTH]
                hashed = hash_of_string(tree[path, ROLL], length)
                tree[path, CODE] = code_of_list(table, before, last, length, hashed, until)
        at = header[OUT]
        for node in range(1, reached):
            if nodes[node, NODE_ENDS] != 0:
                first = nodes[node, NODE_FIRST]
                for path in range(first, first + nodes[node, NODE_COUNT]):
                    for _ in range(rows_of(members, nodes[node, NODE_DISTANCE])):
                        out[texts.rows[k], at] = tree[path, CODE]
                        at += 1
    return DONE


@kernel
def _measure(tree: IntArray, paths: int, texts: Texts, first_element: int) -> int:
    """Sets the hash and the length of the text of each path; returns the largest length."""
    longest = 0
    for path in range(paths):
        before, element = tree[path, BEFORE], first_element + tree[path, ELEMENT]
        own, length = texts.rolls[element], texts.lengths[element]
        if texts.codes[element] == EMPTY:
            tree[path, ROLL], tree[path, LENGTH] = EMPTY, 0
            continue
        if before == EMPTY or tree[before, LENGTH] == 0:
            roll_before, length_before = OPENING, 1
        else:  # with a comma in place of the bracket
            roll_before = tree[before, ROLL] + COMMA - CLOSING
            length_before = tree[before, LENGTH]
        tree[path, ROLL] = (roll_before * texts.powers[element] + own) * BASE + CLOSING
        tree[path, LENGTH] = length_before + length + 1
        longest = max(longest, tree[path, LENGTH])
    return longest


@kernel
def _fetch(tree: IntArray, paths: int, table: Table) -> None:
    """Reads what the look-ups of the paths will read, so that it is near when they come.

    A look-up has to wait for the memory several times. These reads do not depend on each other, so
    the processor waits for many at once.
    """
    entries, index, lists = table.entries, table.slots, table.lists
    for path in range(paths):
        hashed = hash_of_string(tree[path, ROLL], tree[path, LENGTH])
        tree[path, SEEN] = index[hashed & (index.shape[0] - 1)]
    for path in range(paths):
        if tree[path, SEEN] != EMPTY:
            tree[path, SEEN] = entries[tree[path, SEEN], START]
    for path in range(paths):
        if tree[path, SEEN] < EMPTY:
            tree[path, SEEN] = lists[~tree[path, SEEN], BEFORE]

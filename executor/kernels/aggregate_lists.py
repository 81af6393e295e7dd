"""The values of the lists that an AGGREGATE has to write: those of changed groups.

A list has the values of its bag in ascending order, an integer before a number that equals it. A
partial sum is written too, and stands here as a list without values.
"""

from __future__ import annotations

from ..batch import IntArray
from . import ordered
from .aggregate_layout import (
    CHANGED,
    DIFFERENT,
    FUNCTION,
    GROUP_FIELDS,
    IS_DUE,
    LINK,
    OF_SUMS,
    STATE_FIELDS,
    VALUES,
    Aggregates,
)
from .compiling import kernel
from .ordered import BITS, COPIES, KIND, LEFT, RIGHT
from .tables import EMPTY

LISTS, ITEMS, LONGEST, SIZE_FIELDS = range(4)
"""The number of lists, of their different values, and of those of the longest list."""

OF_GROUP, OF_CALL, END, LIST_FIELDS = range(4)
"""Fields of a list: its group, the number of its aggregate, and the item before which it ends."""

ITEM_KIND, ITEM_BITS, ITEM_COPIES, ITEM_FIELDS = range(4)
"""Fields of an item: a value, and how often the list has it."""


@kernel
def measure(state: Aggregates, sizes: IntArray) -> None:
    """Writes the sizes of the lists to write, which are 0 before."""
    rows, width = state.groups.rows, state.groups.columns.shape[0]
    for k in range(state.header[CHANGED]):
        for call in range(state.calls.shape[0]):
            at = width + GROUP_FIELDS + call * STATE_FIELDS
            if rows[state.changed[k], at + IS_DUE] != 0:
                values = rows[state.changed[k], at + VALUES]
                if state.calls[call, FUNCTION] in OF_SUMS:
                    values = 0
                sizes[LISTS] += 1
                sizes[ITEMS] += values
                sizes[LONGEST] = max(sizes[LONGEST], values)


@kernel
def write(state: Aggregates, lists: IntArray, items: IntArray, path: IntArray) -> None:
    """Writes the lists, and their items one list after the other; then no list is due.

    Args:
        state: the state of the operator.
        lists: int64[LIST_FIELDS, lists].
        items: int64[ITEM_FIELDS, items].
        path: space for the nodes of a path in a tree: as many as the longest list has items.
    """
    rows, width = state.groups.rows, state.groups.columns.shape[0]
    number, end = 0, 0
    for k in range(state.header[CHANGED]):
        group = state.changed[k]
        for call in range(state.calls.shape[0]):
            at = width + GROUP_FIELDS + call * STATE_FIELDS
            if rows[group, at + IS_DUE] == 0:
                continue
            rows[group, at + IS_DUE] = 0
            once = state.calls[call, FUNCTION] == DIFFERENT
            if state.calls[call, FUNCTION] not in OF_SUMS:
                end = _write_items(state.bags, rows[group, at + LINK], once, items, end, path)
            lists[OF_GROUP, number], lists[OF_CALL, number] = group, call
            lists[END, number] = end
            number += 1


@kernel
def _write_items(
    bags: ordered.Nodes, root: int, once: bool, items: IntArray, end: int, path: IntArray
) -> int:
    """Writes the values of a bag in their order; returns the end of the items."""
    nodes, at, depth, last = bags.nodes, root, 0, EMPTY
    while at != EMPTY or depth > 0:
        while at != EMPTY:
            path[depth] = at
            depth += 1
            at = nodes[at, LEFT]
        depth -= 1
        at = path[depth]
        kind, bits = nodes[at, KIND], nodes[at, BITS]
        same = last != EMPTY and once
        if same:
            same = ordered.order(bags, kind, bits, nodes[last, KIND], nodes[last, BITS]) == 0
        if not same:
            items[ITEM_KIND, end], items[ITEM_BITS, end] = kind, bits
            items[ITEM_COPIES, end] = 1 if once else nodes[at, COPIES]
            end += 1
        last, at = at, nodes[at, RIGHT]
    return end

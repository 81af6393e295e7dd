"""One store for the rows of several relations, with the indexes that a multiway join reads.

``rows`` is int64[capacity, widest + FIELDS + indexes]: the columns, padded to the widest relation;
the number of the relation, the expiry, the time until which the row is held (its expiry or earlier)
and the number of copies; and for each index of the relation the next row with the same key. A *set*
holds each value once, with its largest expiry. A *bag*, for streams with deletions, holds a value
once for each of its expiries, and counts its copies.

An index is over one or two columns of a relation. ``heads``, int64[slots, 4] with open addressing,
leads from a key of any index to the first row of its chain, and has the length of the chain. It
holds the keys themselves, so that a look-up without a match reads no row.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from . import store
from .compiling import kernel
from .store import ADDED, COUNT, is_sweep_due
from .tables import EMPTY, mixed

# Further fields of the header: whether the store is a bag, and the position in a row of its first
# field after the columns.
IS_BAG = store.HEADER_FIELDS
AFTER = IS_BAG + 1
HEADER_FIELDS = IS_BAG + 2

# Fields of a row after its columns; NEXT is that of the relation's first index, others follow.
RELATION, EXPIRY, UNTIL, COPIES, NEXT = range(5)
FIELDS = NEXT

# Fields of a head: the first column of the key with the number of the index, the second column or
# EMPTY, the first row, the rows of the chain.
KEY, SECOND, FIRST, DEGREE, HEAD_FIELDS = range(5)


class Relations(NamedTuple):
    """The arrays of a store.

    Attributes:
        header: counts, when a sweep is due, and the kind and form of the store.
        rows: a row of a relation in each row.
        values: the index of whole rows, int64[slots, 2] of (hash, row).
        heads: the first rows of the chains of all indexes.
        widths: the number of columns of each relation.
        first_index: the number of the first index of each relation; and the number of indexes.
        keys: the one or two columns of each index, EMPTY for no second column.
    """

    header: IntArray
    rows: IntArray
    values: IntArray
    heads: IntArray
    widths: IntArray
    first_index: IntArray
    keys: IntArray


@kernel
def find_head(held: Relations, index: int, first: int, second: int) -> int:
    """The slot of the chain of a key in an index, or the free slot for it.

    ``second`` is EMPTY for an index over one column.
    """
    heads = held.heads
    key = first * held.keys.shape[0] + index
    mask = heads.shape[0] - 1
    slot = mixed(mixed(key) + second) & mask
    while heads[slot, FIRST] != EMPTY and (
        heads[slot, KEY] != key or heads[slot, SECOND] != second
    ):
        slot = (slot + 1) & mask
    return slot


@kernel
def _hash_of(held: Relations, columns: IntArray, i: int, relation: int) -> int:
    result = mixed(relation)
    for j in range(held.widths[relation]):
        result = mixed(result + columns[j, i])
    return result


@kernel
def _find(
    held: Relations, columns: IntArray, i: int, relation: int, expiry: int, hashed: int
) -> int:
    """The slot in ``values`` of batch row ``i`` (in a bag: with the expiry), or the free slot."""
    values, rows, after = held.values, held.rows, held.header[AFTER]
    is_bag = held.header[IS_BAG] != 0
    mask = values.shape[0] - 1
    slot = hashed & mask
    while values[slot, 1] != EMPTY:
        row = values[slot, 1]
        if values[slot, 0] == hashed and rows[row, after + RELATION] == relation:
            equal = not is_bag or rows[row, after + EXPIRY] == expiry
            for j in range(held.widths[relation]):
                equal &= rows[row, j] == columns[j, i]
            if equal:
                break
        slot = (slot + 1) & mask
    return slot


@kernel
def _append(
    held: Relations, columns: IntArray, i: int, relation: int, hashed: int, slot: int
) -> int:
    """Adds batch row ``i`` with one copy at a free slot of ``values``, and to all indexes.

    The caller sets its expiry, and the time until which it is held.
    """
    h, rows = held.header, held.rows
    after = h[AFTER]
    row = h[COUNT]
    h[COUNT] += 1
    h[ADDED] += 1
    held.values[slot, 0], held.values[slot, 1] = hashed, row
    for j in range(held.widths[relation]):
        rows[row, j] = columns[j, i]
    rows[row, after + RELATION] = relation
    rows[row, after + COPIES] = 1
    begin = held.first_index[relation]
    for index in range(begin, held.first_index[relation + 1]):
        one, other = held.keys[index, 0], held.keys[index, 1]
        first = rows[row, one]
        second = rows[row, other] if other != EMPTY else EMPTY
        at, heads = find_head(held, index, first, second), held.heads
        rows[row, after + NEXT + index - begin] = heads[at, FIRST]
        if heads[at, FIRST] == EMPTY:
            heads[at, KEY] = first * held.keys.shape[0] + index
            heads[at, SECOND] = second
            heads[at, DEGREE] = 0
        heads[at, FIRST] = row
        heads[at, DEGREE] += 1
    return row


@kernel
def add(
    held: Relations, columns: IntArray, i: int, relation: int, expiry: int, until: int
) -> tuple[int, int]:
    """Holds batch row ``i`` of a relation; returns its row, or EMPTY if nothing changes, and the
    expiry that it had before: 0 for a new row, and in a bag, where each copy counts.

    A set holds the row already if it has at least this expiry. ``until`` is the time until which
    the row is held, and grows with the expiry. The caller ensures that there is room.
    """
    rows, after = held.rows, held.header[AFTER]
    is_bag = held.header[IS_BAG] != 0
    hashed = _hash_of(held, columns, i, relation)
    if is_bag:
        hashed = mixed(hashed + expiry)
    slot = _find(held, columns, i, relation, expiry, hashed)
    row, before = held.values[slot, 1], 0
    if row == EMPTY:
        row = _append(held, columns, i, relation, hashed, slot)
    elif is_bag:
        rows[row, after + COPIES] += 1
        return row, before
    else:
        before = rows[row, after + EXPIRY]
        if before >= expiry:
            return EMPTY, before
    rows[row, after + EXPIRY] = expiry
    rows[row, after + UNTIL] = until
    return row, before


@kernel
def take(held: Relations, columns: IntArray, i: int, relation: int, expiry: int) -> int:
    """Removes a copy of batch row ``i`` from a bag; returns its row, or EMPTY without a copy."""
    hashed = mixed(_hash_of(held, columns, i, relation) + expiry)
    row = held.values[_find(held, columns, i, relation, expiry, hashed), 1]
    copies = held.header[AFTER] + COPIES
    if row == EMPTY or held.rows[row, copies] == 0:
        return EMPTY
    held.rows[row, copies] -= 1
    return row


@kernel
def is_due(held: Relations, now: int) -> bool:
    """Whether the store is full or a sweep is due."""
    return held.header[COUNT] == held.rows.shape[0] or is_sweep_due(held.header, now)


@kernel
def _is_kept(held: Relations, row: int, after: int, now: int) -> bool:
    return held.rows[row, after + UNTIL] > now and held.rows[row, after + COPIES] > 0


@kernel
def count_valid(held: Relations, now: int) -> tuple[int, int, int]:
    """The number of rows that :func:`copy_valid` keeps, the number of those that are held for ever,
    and the latest time until which the others are held."""
    after = held.header[AFTER]
    count, lasting, latest = 0, 0, now
    for row in range(held.header[COUNT]):
        if _is_kept(held, row, after, now):
            until = held.rows[row, after + UNTIL]
            count += 1
            if until == FOREVER:
                lasting += 1
            else:
                latest = max(latest, until)
    return count, lasting, latest


@kernel
def copy_valid(old: Relations, fresh: Relations, line: IntArray, now: int) -> None:
    """Copies the rows that are held after ``now`` into fresh arrays under the same header.

    Each row goes through ``line``, a batch of one row.
    """
    h, after = fresh.header, old.header[AFTER]
    count, mask = h[COUNT], fresh.values.shape[0] - 1
    h[COUNT] = 0
    first = 0 * count  # a literal 0 would compile the called functions for another signature
    for row in range(count):
        if _is_kept(old, row, after, now):
            relation = old.rows[row, after + RELATION]
            for j in range(old.widths[relation]):
                line[j, first] = old.rows[row, j]
            expiry = old.rows[row, after + EXPIRY]
            hashed = _hash_of(fresh, line, first, relation)
            if h[IS_BAG] != 0:
                hashed = mixed(hashed + expiry)
            slot = hashed & mask
            while fresh.values[slot, 1] != EMPTY:  # no equal row is there
                slot = (slot + 1) & mask
            there = _append(fresh, line, first, relation, hashed, slot)
            for field in (EXPIRY, UNTIL, COPIES):
                fresh.rows[there, after + field] = old.rows[row, after + field]
    h[ADDED] = 0

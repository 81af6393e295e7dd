"""Stores of rows of any width: sets, and bags for streams with deletions.

``rows`` is int64[capacity, width + fields]: the columns, the expiry, the next and the previous row
with the same key, and further fields. A *set* holds each value once, with its largest expiry. A set
that releases rows before they expire has a further field, the time until which each row is held. A
*bag* (:mod:`headrace.executor.kernels.bag`) holds a value once for each of its expiries.

Two indexes with open addressing lead to rows: ``values`` over all columns (and the expiry in a
bag), and ``keys`` over the key columns, to the first row of a chain. A slot has 32 bits of the hash
above the number of the row. A store without look-up by key has no ``keys`` (length 0). In a set
whose key is all columns ``keys`` and ``values`` are one array.

A sweep (:func:`release`) takes expired rows out of the indexes and chains; new rows take their
places. So no other row moves, and growing copies the slots of the indexes without reading rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from . import store
from .compiling import kernel
from .store import ADDED, COUNT, is_sweep_due
from .tables import EMPTY, mixed

# Further fields of the header of a store of rows: the position in a row of the time until which it
# is held (its expiry, or HELD_UNTIL); whether the store is a bag; whether it has chains by key; the
# first free row of a chain of such rows; and the number of rows from which on none was ever used.
UNTIL = store.HEADER_FIELDS
IS_BAG, HAS_CHAINS, FREE, TOP, HEADER_FIELDS = range(UNTIL + 1, UNTIL + 6)

# Fields of a row after its columns. A set that releases rows early has HELD_UNTIL; a bag has the
# number of COPIES, and whether COALESCE has REPORTED the row. PREVIOUS is FREED in a free row, and
# ALONE in a row that is held but in no chain.
EXPIRY, NEXT, PREVIOUS, SET_FIELDS = range(4)
HELD_UNTIL, EARLY_SET_FIELDS = 3, 4
COPIES, REPORTED, BAG_FIELDS = 3, 4, 5
FREED, ALONE = -2, -3

ROW_BITS = 32
ROW_MASK = (1 << ROW_BITS) - 1


class Rows(NamedTuple):
    """The arrays of a store.

    Attributes:
        header: counts, when a sweep is due, and what kind of store it is.
        rows: a row in each row.
        values: the index of whole rows.
        keys: the index of keys.
        columns: the numbers of all columns, from 0.
        key_columns: the numbers of the columns of the key.
    """

    header: IntArray
    rows: IntArray
    values: IntArray
    keys: IntArray
    columns: IntArray
    key_columns: IntArray


class Input(NamedTuple):
    """A batch of rows (:class:`headrace.executor.batch.Batch`)."""

    columns: IntArray
    ts: IntArray
    exp: IntArray


@kernel
def hash_in(columns: IntArray, i: int, chosen: IntArray) -> int:
    """The hash of the chosen columns of row ``i`` of a batch."""
    result = 0
    for j in range(chosen.shape[0]):
        result = mixed(result + columns[chosen[j], i])
    return result


@kernel
def _hash_held(rows: IntArray, row: int, chosen: IntArray) -> int:
    """The hash of the chosen columns of a row in a store."""
    result = 0
    for j in range(chosen.shape[0]):
        result = mixed(result + rows[row, chosen[j]])
    return result


@kernel
def row_at(index: IntArray, slot: int) -> int:
    """The row of a slot, or EMPTY."""
    entry = index[slot]
    return EMPTY if entry == EMPTY else entry & ROW_MASK


@kernel
def find_row(
    index: IntArray,
    rows: IntArray,
    held: IntArray,
    columns: IntArray,
    i: int,
    sought: IntArray,
    hashed: int,
) -> int:
    """The slot of the row whose columns ``held`` equal columns ``sought`` of batch row ``i``.

    If there is none, the free slot for it.
    """
    mask = index.shape[0] - 1
    slot, tag = hashed & mask, hashed << ROW_BITS
    while index[slot] != EMPTY:
        if (index[slot] ^ tag) >> ROW_BITS == 0:
            row = index[slot] & ROW_MASK
            equal = True
            for j in range(held.shape[0]):
                equal &= rows[row, held[j]] == columns[sought[j], i]
            if equal:
                break
        slot = (slot + 1) & mask
    return slot


@kernel
def find_value(held: Rows, columns: IntArray, i: int, hashed: int) -> int:
    """The slot in ``values`` of batch row ``i`` in a set, or the free slot for it."""
    return find_row(held.values, held.rows, held.columns, columns, i, held.columns, hashed)


@kernel
def first_of(held: Rows, columns: IntArray, i: int, sought: IntArray, hashed: int) -> int:
    """The first row whose key equals columns ``sought`` of batch row ``i``, or EMPTY.

    ``hashed`` is the hash of these columns.
    """
    slot = find_row(held.keys, held.rows, held.key_columns, columns, i, sought, hashed)
    return row_at(held.keys, slot)


@kernel
def append(
    held: Rows, columns: IntArray, i: int, expiry: int, hashed: int, slot: int, key_hash: int
) -> int:
    """Adds batch row ``i`` as a new row, at a free slot of ``values``; returns its number.

    The caller ensures that there is room, and sets further fields.

    Args:
        held: the store.
        columns: the columns of the batch.
        i: the row of the batch.
        expiry: its expiry.
        hashed: the hash by which ``values`` has the row.
        slot: the free slot.
        key_hash: the hash of the key columns; any number in a store without chains.
    """
    h, rows = held.header, held.rows
    width = held.columns.shape[0]
    row = h[FREE]
    if row == EMPTY:
        row = h[TOP]
        h[TOP] += 1
    else:
        h[FREE] = rows[row, width + NEXT]
    h[COUNT] += 1
    h[ADDED] += 1
    held.values[slot] = (hashed << ROW_BITS) | row
    for j in range(width):
        rows[row, j] = columns[j, i]
    rows[row, width + EXPIRY] = expiry
    rows[row, width + NEXT] = rows[row, width + PREVIOUS] = EMPTY
    if h[HAS_CHAINS] != 0:
        link(held, row, key_hash)
    return row


@kernel
def insert(held: Rows, columns: IntArray, i: int, expiry: int, until: int, key_hash: int) -> int:
    """Holds row ``i`` of a batch in a set; returns the expiry that it had before, 0 for a new row.

    Nothing changes if the row is held with at least this expiry. ``until`` is the time until which
    the row is held, and grows with the expiry. In a set without HELD_UNTIL it is the expiry. The
    caller ensures that there is room. ``key_hash`` is the hash of the key columns.
    """
    at = held.columns.shape[0] + EXPIRY
    hashed = hash_in(columns, i, held.columns)
    slot = find_value(held, columns, i, hashed)
    row = row_at(held.values, slot)
    before = 0
    if row == EMPTY:
        row = append(held, columns, i, expiry, hashed, slot, key_hash)
    else:
        before = held.rows[row, at]
    if before < expiry:
        held.rows[row, at] = expiry
        held.rows[row, held.header[UNTIL]] = until
    return before


@kernel
def is_due(held: Rows, now: int) -> bool:
    """Whether the store is full or a sweep is due."""
    h = held.header
    return h[COUNT] == held.rows.shape[0] or is_sweep_due(h, now)


@kernel
def _held_until(held: Rows, row: int) -> int:
    """The time until which a row is held; EMPTY if all its copies in a bag were taken back."""
    width = held.columns.shape[0]
    if held.header[IS_BAG] != 0:
        rows = held.rows
        if rows[row, width + COPIES] == 0 and rows[row, width + REPORTED] == 0:
            return EMPTY
    return held.rows[row, held.header[UNTIL]]


@kernel
def slot_of(index: IntArray, hashed: int, row: int) -> int:
    """The slot of a row that the index has under a hash."""
    mask = index.shape[0] - 1
    slot, entry = hashed & mask, (hashed << ROW_BITS) | row
    while index[slot] != entry:
        slot = (slot + 1) & mask
    return slot


@kernel
def vacate(index: IntArray, slot: int) -> None:
    """Frees a slot, and moves the entries behind it to where a look-up meets them."""
    mask = index.shape[0] - 1
    free, at = slot, (slot + 1) & mask
    while index[at] != EMPTY:
        home = (index[at] >> ROW_BITS) & mask
        if ((at - home) & mask) >= ((at - free) & mask):
            index[free] = index[at]
            free = at
        at = (at + 1) & mask
    index[free] = EMPTY


@kernel
def _hash_of_value(held: Rows, row: int) -> int:
    """The hash by which ``values`` has a row."""
    hashed = _hash_held(held.rows, row, held.columns)
    if held.header[IS_BAG] != 0:
        hashed = mixed(hashed + held.rows[row, held.columns.shape[0] + EXPIRY])
    return hashed


@kernel
def unlink(held: Rows, row: int) -> None:
    """Takes a row out of the chain of its key; it remains held, and is found by its value.

    The store has chains, and the row is in one.
    """
    rows, keys, width = held.rows, held.keys, held.columns.shape[0]
    before, after = rows[row, width + PREVIOUS], rows[row, width + NEXT]
    if after != EMPTY:
        rows[after, width + PREVIOUS] = before
    if before != EMPTY:
        rows[before, width + NEXT] = after
    else:
        key_hash = _hash_held(rows, row, held.key_columns)
        slot = slot_of(keys, key_hash, row)
        if after != EMPTY:
            keys[slot] = (key_hash << ROW_BITS) | after
        else:
            vacate(keys, slot)
    rows[row, width + PREVIOUS], rows[row, width + NEXT] = ALONE, EMPTY


@kernel
def link(held: Rows, row: int, key_hash: int) -> None:
    """Puts a row that is in no chain first into the chain of its key.

    ``key_hash`` is the hash of its key columns.
    """
    rows, keys, width = held.rows, held.keys, held.columns.shape[0]
    mask, tag = keys.shape[0] - 1, key_hash << ROW_BITS
    slot = key_hash & mask
    while keys[slot] != EMPTY:
        first = keys[slot] & ROW_MASK
        if (keys[slot] ^ tag) >> ROW_BITS == 0 and _same_key(held, row, first):
            rows[first, width + PREVIOUS] = row
            break
        slot = (slot + 1) & mask
    rows[row, width + PREVIOUS] = EMPTY
    rows[row, width + NEXT] = row_at(keys, slot)
    keys[slot] = tag | row


@kernel
def _same_key(held: Rows, one: int, other: int) -> bool:
    for j in range(held.key_columns.shape[0]):
        column = held.key_columns[j]
        if held.rows[one, column] != held.rows[other, column]:
            return False
    return True


@kernel
def remove(held: Rows, row: int) -> None:
    """Takes a row out of the indexes and its chain; its place is free."""
    h, rows, values, width = held.header, held.rows, held.values, held.columns.shape[0]
    vacate(values, slot_of(values, _hash_of_value(held, row), row))
    if h[HAS_CHAINS] != 0 and rows[row, width + PREVIOUS] != ALONE:
        unlink(held, row)
    rows[row, width + PREVIOUS], rows[row, width + NEXT] = FREED, h[FREE]
    h[FREE] = row
    h[COUNT] -= 1


@kernel
def release(held: Rows, now: int) -> tuple[int, int]:
    """Removes the rows that are held until ``now`` at most.

    Returns the number of remaining rows that never expire, and the latest time until which the
    others are held.
    """
    h, previous = held.header, held.columns.shape[0] + PREVIOUS
    lasting, latest = 0, now
    for row in range(h[TOP]):
        if held.rows[row, previous] != FREED:
            until = _held_until(held, row)
            if until <= now:
                remove(held, row)
            elif until == FOREVER:
                lasting += 1
            else:
                latest = max(latest, until)
    h[ADDED] = 0
    return lasting, latest


@kernel
def copy_index(index: IntArray, fresh: IntArray) -> None:
    """Puts all entries of an index into an empty one of another length."""
    mask = fresh.shape[0] - 1
    for slot in range(index.shape[0]):
        if index[slot] != EMPTY:
            at = (index[slot] >> ROW_BITS) & mask
            while fresh[at] != EMPTY:
                at = (at + 1) & mask
            fresh[at] = index[slot]


@kernel
def copy_rows(old: Rows, fresh: Rows) -> None:
    """Copies all rows into fresh arrays under the same header, one behind the other.

    The indexes of ``fresh`` are empty. Rows of one key stay in their order.
    """
    h, rows, previous = fresh.header, fresh.rows, fresh.columns.shape[0] + PREVIOUS
    follows = fresh.columns.shape[0] + NEXT
    mask, count, number = fresh.values.shape[0] - 1, h[TOP], 0
    for first in range(count):
        # A chain begins where no row is before it. Without chains no row has one before it.
        alone = old.rows[first, previous] == ALONE
        row = first if alone or old.rows[first, previous] == EMPTY else EMPTY
        if row != EMPTY and not alone and h[HAS_CHAINS] != 0:
            key_hash = _hash_held(old.rows, row, old.key_columns)
            at = key_hash & (fresh.keys.shape[0] - 1)
            while fresh.keys[at] != EMPTY:
                at = (at + 1) & (fresh.keys.shape[0] - 1)
            fresh.keys[at] = (key_hash << ROW_BITS) | number
        before = ALONE if alone else EMPTY
        while row != EMPTY:
            hashed = _hash_of_value(old, row)
            slot = hashed & mask
            while fresh.values[slot] != EMPTY:
                slot = (slot + 1) & mask
            fresh.values[slot] = (hashed << ROW_BITS) | number
            for field in range(rows.shape[1]):
                rows[number, field] = old.rows[row, field]
            row = old.rows[row, follows]
            rows[number, previous] = before
            rows[number, follows] = EMPTY if row == EMPTY else number + 1
            before = number
            number += 1
    h[TOP], h[FREE] = number, EMPTY

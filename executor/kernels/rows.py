"""Stores of rows of any width: sets, and bags for streams with deletions.

``rows`` is int64[capacity, width + fields]: the columns, the expiry, the next row with the
same key, and further fields. A *set* holds each value once, with its largest expiry. A set that
releases rows before they expire has a further field, the time until which each row is held. A *bag*
(:mod:`headrace.executor.kernels.bag`) holds a value once for each of its expiries.

Two indexes, int64[capacity, 2] of (hash, row) with open addressing, lead to rows: ``values`` over
all columns (and the expiry in a bag), and ``keys`` over the key columns, to the first row of a
chain. A store without look-up by key has no ``keys`` (length 0).
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from . import store
from .compiling import kernel
from .store import ADDED, COUNT, is_sweep_due
from .tables import EMPTY, mixed

# Further fields of the header of a store of rows: the position in a row of the time until which it
# is held (its expiry, or HELD_UNTIL), and whether the store is a bag.
UNTIL = store.HEADER_FIELDS
IS_BAG = UNTIL + 1
HEADER_FIELDS = UNTIL + 2

# Fields of a row after its columns. A set that releases rows early has HELD_UNTIL; a bag has the
# number of COPIES, and whether COALESCE has REPORTED the row.
EXPIRY, NEXT, SET_FIELDS = range(3)
HELD_UNTIL, EARLY_SET_FIELDS = 2, 3
COPIES, REPORTED, BAG_FIELDS = 2, 3, 4


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
    slot = hashed & mask
    while index[slot, 1] != EMPTY:
        if index[slot, 0] == hashed:
            row = index[slot, 1]
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
def first_of(held: Rows, columns: IntArray, i: int, sought: IntArray) -> int:
    """The first row whose key equals columns ``sought`` of batch row ``i``, or EMPTY."""
    hashed = hash_in(columns, i, sought)
    slot = find_row(held.keys, held.rows, held.key_columns, columns, i, sought, hashed)
    return held.keys[slot, 1]


@kernel
def append(
    held: Rows, columns: IntArray, i: int, expiry: int, until: int, hashed: int, slot: int
) -> int:
    """Adds batch row ``i`` as a new row, at a free slot of ``values``; returns its number.

    The caller ensures that there is room, and sets further fields.
    """
    h, rows, values, keys = held.header, held.rows, held.values, held.keys
    width = held.columns.shape[0]
    row = h[COUNT]
    h[COUNT] += 1
    h[ADDED] += 1
    values[slot, 0], values[slot, 1] = hashed, row
    for j in range(width):
        rows[row, j] = columns[j, i]
    rows[row, width + EXPIRY] = expiry
    rows[row, h[UNTIL]] = until
    if keys.shape[0] > 0:
        hashed = hash_in(columns, i, held.key_columns)
        slot = find_row(keys, rows, held.key_columns, columns, i, held.key_columns, hashed)
        rows[row, width + NEXT] = keys[slot, 1]
        keys[slot, 0], keys[slot, 1] = hashed, row
    return row


@kernel
def insert(held: Rows, columns: IntArray, i: int, expiry: int, until: int) -> bool:
    """Holds row ``i`` of a batch in a set; False if it is held with at least this expiry.

    ``until`` is the time until which the row is held, and grows with the expiry. In a set without
    HELD_UNTIL it is the expiry. The caller ensures that there is room.
    """
    hashed = hash_in(columns, i, held.columns)
    slot = find_value(held, columns, i, hashed)
    row = held.values[slot, 1]
    if row == EMPTY:
        append(held, columns, i, expiry, until, hashed, slot)
        return True
    at = held.columns.shape[0] + EXPIRY
    if held.rows[row, at] >= expiry:
        return False
    held.rows[row, at] = expiry
    held.rows[row, held.header[UNTIL]] = until
    return True


@kernel
def is_due(held: Rows, now: int) -> bool:
    """Whether the store is full or a sweep is due."""
    return held.header[COUNT] == held.rows.shape[0] or is_sweep_due(held.header, now)


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
def count_valid(held: Rows, now: int) -> tuple[int, int, int]:
    """The number of rows that :func:`copy_valid` keeps, the number of those that never expire, and
    the latest time until which the others are held."""
    count, lasting, latest = 0, 0, now
    for row in range(held.header[COUNT]):
        until = _held_until(held, row)
        if until > now:
            count += 1
            if until == FOREVER:
                lasting += 1
            else:
                latest = max(latest, until)
    return count, lasting, latest


@kernel
def copy_valid(old: Rows, fresh: Rows, line: IntArray, now: int) -> None:
    """Copies the rows held after ``now`` into fresh arrays under the same header.

    Each row goes through ``line``, a batch of one row, so that :func:`append` can add it.
    """
    h, rows, values = fresh.header, fresh.rows, fresh.values
    count, width, mask = h[COUNT], fresh.columns.shape[0], values.shape[0] - 1
    h[COUNT] = 0
    first = 0 * count  # a literal 0 would compile the called functions for another signature
    for row in range(count):
        until = _held_until(old, row)
        if until > now:
            for j in range(width):
                line[j, first] = old.rows[row, j]
            expiry = old.rows[row, width + EXPIRY]
            hashed = hash_in(line, first, fresh.columns)
            if h[IS_BAG] != 0:
                hashed = mixed(hashed + expiry)
            slot = hashed & mask
            while values[slot, 1] != EMPTY:  # no equal row is there
                slot = (slot + 1) & mask
            there = append(fresh, line, first, expiry, until, hashed, slot)
            for field in range(width + SET_FIELDS, rows.shape[1]):
                rows[there, field] = old.rows[row, field]
    h[ADDED] = 0

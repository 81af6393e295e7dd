"""A set of rows of any width, each held once with its largest expiry.

``rows`` is int64[capacity, width + 2]: the columns, the expiry, and the next row with the
same key; in a set that gives rows back before they expire there is a further column, until
when each is held. A row is found through two indexes, int64[capacity, 2] of (hash, row) with open
addressing: ``values`` over all columns, and ``keys`` over the key columns, which leads to
the first row of a chain. A set that nobody looks up by key has no ``keys`` (length 0).
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .tables import EMPTY, mixed

# The header of a set.
COUNT, ADDED, SWEEP_AT, SWEEP_AFTER, UNTIL, SET_FIELDS = range(6)
# UNTIL is the column that says until when a row is held: its expiry, or the further column.


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

    If there is none, the free slot in which it belongs.
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
def insert(
    h: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    all_columns: IntArray,
    key_columns: IntArray,
    columns: IntArray,
    i: int,
    expiry: int,
    until: int,
) -> bool:
    """Holds row ``i`` of a batch; False if it is held with no smaller an expiry.

    ``until`` rises with the expiry; it is the expiry in a set without that further column.

    The caller sees to it that there is room.
    """
    width = all_columns.shape[0]
    hashed = hash_in(columns, i, all_columns)
    slot = find_row(values, rows, all_columns, columns, i, all_columns, hashed)
    row = values[slot, 1]
    if row != EMPTY:
        if rows[row, width] >= expiry:
            return False
        rows[row, width] = expiry
        rows[row, h[UNTIL]] = until
        return True
    row = h[COUNT]
    h[COUNT] += 1
    h[ADDED] += 1
    values[slot, 0], values[slot, 1] = hashed, row
    for j in range(width):
        rows[row, j] = columns[j, i]
    rows[row, width] = expiry
    rows[row, h[UNTIL]] = until
    if keys.shape[0] > 0:
        hashed = hash_in(columns, i, key_columns)
        slot = find_row(keys, rows, key_columns, columns, i, key_columns, hashed)
        rows[row, width + 1] = keys[slot, 1]
        keys[slot, 0], keys[slot, 1] = hashed, row
    return True


@kernel
def is_due(h: IntArray, rows: IntArray, now: int) -> bool:
    """Whether the set wants a sweep: it is full, or much may have expired."""
    return h[COUNT] == rows.shape[0] or (now >= h[SWEEP_AT] and h[ADDED] >= h[SWEEP_AFTER])


@kernel
def count_valid_rows(h: IntArray, rows: IntArray, now: int) -> tuple[int, int, int]:
    """How many rows :func:`sweep_rows` will keep, how many of them are kept forever, and
    until when the others are held at the latest.
    """
    until = h[UNTIL]
    valid, lasting, latest = 0, 0, now
    for row in range(h[COUNT]):
        if rows[row, until] > now:
            valid += 1
            if rows[row, until] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, rows[row, until])
    return valid, lasting, latest


@kernel
def sweep_rows(
    h: IntArray,
    old: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    all_columns: IntArray,
    key_columns: IntArray,
    line: IntArray,
    now: int,
) -> None:
    """Copies what is held after ``now`` into fresh arrays; ``line`` is a row to work with."""
    count, width, until = h[COUNT], all_columns.shape[0], h[UNTIL]
    h[COUNT] = 0
    # One row at a time as a batch of one, so that there is one way in. (The row's number
    # is no literal, which would have `insert` compiled once more.)
    first = 0 * count
    for row in range(count):
        if old[row, until] > now:
            for j in range(width):
                line[j, first] = old[row, j]
            insert(
                h, rows, values, keys, all_columns, key_columns,
                line, first, old[row, width], old[row, until],
            )  # fmt: skip
    h[ADDED] = 0

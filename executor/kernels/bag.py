"""A bag of rows of any width, for streams with deletions: each row may be taken back alone.

``rows`` is int64[capacity, width + 4]: the columns, the expiry, how many such rows there are,
whether it was said (coalescing alone looks at that), and the next row with the same key. Rows
are one entry if they agree in columns *and* expiry. As in :mod:`headrace.executor.kernels.rows`
there are two indexes, int64[capacity, 2] of (hash, row): ``values`` over columns and expiry,
``keys`` over the key columns, which leads to the first row of a chain.

An entry that nobody holds any more stays in its chain, with a count of 0, until a sweep.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import hash_in
from .tables import EMPTY, mixed

# The header of a bag.
COUNT, ADDED, SWEEP_AT, SWEEP_AFTER, BAG_FIELDS = range(5)

# Fields of a row after its columns.
EXPIRY, HELD, SAID, NEXT, ROW_FIELDS = range(5)


@kernel
def _same(
    rows: IntArray, row: int, held: IntArray, columns: IntArray, i: int, sought: IntArray
) -> bool:
    for j in range(held.shape[0]):
        if rows[row, held[j]] != columns[sought[j], i]:
            return False
    return True


@kernel
def first_of(
    rows: IntArray,
    keys: IntArray,
    held: IntArray,
    columns: IntArray,
    i: int,
    sought: IntArray,
) -> int:
    """The slot in ``keys`` of the rows whose columns ``held`` equal ``sought`` of batch row i."""
    hashed = hash_in(columns, i, sought)
    mask = keys.shape[0] - 1
    slot = hashed & mask
    while keys[slot, 1] != EMPTY:
        if keys[slot, 0] == hashed and _same(rows, keys[slot, 1], held, columns, i, sought):
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def entry(
    rows: IntArray, values: IntArray, every: IntArray, columns: IntArray, i: int, expiry: int
) -> int:
    """The slot in ``values`` of batch row i with an expiry, or the free one where it belongs."""
    hashed = mixed(hash_in(columns, i, every) + expiry)
    width = every.shape[0]
    mask = values.shape[0] - 1
    slot = hashed & mask
    while values[slot, 1] != EMPTY:
        row = values[slot, 1]
        if (
            values[slot, 0] == hashed
            and rows[row, width + EXPIRY] == expiry
            and _same(rows, row, every, columns, i, every)
        ):
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def add(
    h: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    every: IntArray,
    key_columns: IntArray,
    columns: IntArray,
    i: int,
    expiry: int,
    times: int,
) -> int:
    """Holds batch row i so many times more; gives its entry. The caller sees to room."""
    width = every.shape[0]
    slot = entry(rows, values, every, columns, i, expiry)
    row = values[slot, 1]
    if row == EMPTY:
        row = h[COUNT]
        h[COUNT] += 1
        h[ADDED] += 1
        values[slot, 0], values[slot, 1] = mixed(hash_in(columns, i, every) + expiry), row
        for j in range(width):
            rows[row, j] = columns[j, i]
        rows[row, width + EXPIRY] = expiry
        rows[row, width + HELD] = 0
        rows[row, width + SAID] = 0
        first = first_of(rows, keys, key_columns, columns, i, key_columns)
        rows[row, width + NEXT] = keys[first, 1]
        keys[first, 0], keys[first, 1] = hash_in(columns, i, key_columns), row
    rows[row, width + HELD] += times
    return row


@kernel
def take(
    rows: IntArray, values: IntArray, every: IntArray, columns: IntArray, i: int, expiry: int
) -> int:
    """Takes batch row i back once; gives its entry, or EMPTY if it is not held."""
    row = values[entry(rows, values, every, columns, i, expiry), 1]
    held = every.shape[0] + HELD
    if row == EMPTY or rows[row, held] == 0:
        return EMPTY
    rows[row, held] -= 1
    return row


@kernel
def is_due(h: IntArray, rows: IntArray, now: int) -> bool:
    """Whether the bag wants a sweep: it is full, or much may have expired."""
    return h[COUNT] == rows.shape[0] or (now >= h[SWEEP_AT] and h[ADDED] >= h[SWEEP_AFTER])


@kernel
def _stays(rows: IntArray, row: int, width: int, now: int) -> bool:
    used = rows[row, width + HELD] > 0 or rows[row, width + SAID] != 0
    return used and rows[row, width + EXPIRY] > now


@kernel
def count_kept(h: IntArray, rows: IntArray, now: int) -> tuple[int, int, int]:
    """How many entries :func:`sweep` keeps, how many of them never expire, and the latest
    expiry of the others.
    """
    width = rows.shape[1] - ROW_FIELDS
    kept, lasting, latest = 0, 0, now
    for row in range(h[COUNT]):
        if _stays(rows, row, width, now):
            kept += 1
            if rows[row, width + EXPIRY] == FOREVER:
                lasting += 1
            else:
                latest = max(latest, rows[row, width + EXPIRY])
    return kept, lasting, latest


@kernel
def sweep(
    h: IntArray,
    old: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    every: IntArray,
    key_columns: IntArray,
    line: IntArray,
    now: int,
) -> None:
    """Copies what is valid after ``now`` into fresh arrays; ``line`` is a row to work with."""
    count, width = h[COUNT], every.shape[0]
    h[COUNT] = 0
    first = 0 * count
    for row in range(count):
        if _stays(old, row, width, now):
            for j in range(width):
                line[j, first] = old[row, j]
            there = add(
                h, rows, values, keys, every, key_columns, line, first,
                old[row, width + EXPIRY], old[row, width + HELD],
            )  # fmt: skip
            rows[there, width + SAID] = old[row, width + SAID]
    h[ADDED] = 0

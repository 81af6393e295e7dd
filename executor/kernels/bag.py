"""A bag of rows, for streams with deletions: each copy of a row can be taken back.

Rows of equal columns *and* equal expiry share an entry of the store
(:mod:`headrace.executor.kernels.rows`), which counts its copies. An entry without copies stays in
its chain until a sweep.
"""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .rows import (
    COPIES,
    EXPIRY,
    NEXT,
    REPORTED,
    ROW_BITS,
    ROW_MASK,
    Rows,
    append,
    hash_in,
    row_at,
)
from .tables import EMPTY, mixed


@kernel
def _find_entry(held: Rows, columns: IntArray, i: int, expiry: int, hashed: int) -> int:
    """The slot in ``values`` of batch row ``i`` with an expiry, or the free slot for it."""
    rows, values, width = held.rows, held.values, held.columns.shape[0]
    mask = values.shape[0] - 1
    slot, tag = hashed & mask, hashed << ROW_BITS
    while values[slot] != EMPTY:
        row = values[slot] & ROW_MASK
        if (values[slot] ^ tag) >> ROW_BITS == 0 and rows[row, width + EXPIRY] == expiry:
            equal = True
            for j in range(width):
                equal &= rows[row, j] == columns[j, i]
            if equal:
                break
        slot = (slot + 1) & mask
    return slot


@kernel
def add(held: Rows, columns: IntArray, i: int, expiry: int) -> int:
    """Adds a copy of batch row ``i``; returns its entry. The caller ensures that there is room."""
    rows, width = held.rows, held.columns.shape[0]
    hashed = mixed(hash_in(columns, i, held.columns) + expiry)
    slot = _find_entry(held, columns, i, expiry, hashed)
    row = row_at(held.values, slot)
    if row == EMPTY:
        key_hash = hash_in(columns, i, held.key_columns)
        row = append(held, columns, i, expiry, hashed, slot, key_hash)
        rows[row, width + COPIES] = rows[row, width + REPORTED] = 0
    rows[row, width + COPIES] += 1
    return row


@kernel
def take(held: Rows, columns: IntArray, i: int, expiry: int) -> int:
    """Removes a copy of batch row ``i``; returns its entry, or EMPTY if there is no copy."""
    hashed = mixed(hash_in(columns, i, held.columns) + expiry)
    row = row_at(held.values, _find_entry(held, columns, i, expiry, hashed))
    copies = held.columns.shape[0] + COPIES
    if row == EMPTY or held.rows[row, copies] == 0:
        return EMPTY
    held.rows[row, copies] -= 1
    return row


@kernel
def latest(held: Rows, first: int, field: int, now: int) -> int:
    """The largest expiry of the entries of a chain with ``field`` set, but at least ``now``."""
    rows, width = held.rows, held.columns.shape[0]
    result, row = now, first
    while row != EMPTY:
        if rows[row, width + field] > 0:
            result = max(result, rows[row, width + EXPIRY])
        row = rows[row, width + NEXT]
    return result


@kernel
def write(held: Rows, row: int, ts: int, exp: int, out: IntArray, at: int) -> None:
    """Writes an entry as row ``at`` of ``out``."""
    width = held.columns.shape[0]
    for j in range(width):
        out[j, at] = held.rows[row, j]
    out[width, at], out[width + 1, at] = ts, exp

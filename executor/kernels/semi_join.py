"""Semi-join: gives a row of the left input wherever it and a row of the right one with its key
are valid.

The left rows are held as by the join. The right rows are held as their keys alone, each with its
latest expiry, the *reach* of the key. A held left row has been emitted up to the earlier of its own
expiry and the reach of its key, so it is emitted again only when one of both grows beyond that.

A left row that does not outlast the reach of its key is *covered*: longer right rows leave it
unchanged. Covered and expired rows are taken out of the chain of their key, so that an arriving
right row visits a left row once after the row was held. Where the key is the whole row there are
no chains, and a right row visits one left row.
"""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .rows import (
    ALONE,
    EXPIRY,
    HAS_CHAINS,
    NEXT,
    PREVIOUS,
    Input,
    Rows,
    append,
    find_row,
    find_value,
    first_of,
    hash_in,
    insert,
    is_due,
    link,
    row_at,
    unlink,
)
from .stops import DONE, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun on each side; of the right row whose partners are visited, the reach of its
# key before it, and the next partner; results written.
LEFT_ROW, RIGHT_ROW, REACH, PARTNER, OUT, HEADER_FIELDS = range(6)


@kernel
def _reach(keys: Rows, columns: IntArray, i: int, key_columns: IntArray) -> int:
    """The latest expiry of the key of row ``i`` of a batch; -1 if it is not held."""
    hashed = hash_in(columns, i, key_columns)
    slot = find_row(keys.values, keys.rows, keys.columns, columns, i, key_columns, hashed)
    row = row_at(keys.values, slot)
    return keys.rows[row, keys.columns.shape[0] + EXPIRY] if row != EMPTY else -1


@kernel
def _enter_left(held: Rows, keys: Rows, batch: Input, i: int, out: IntArray, written: int) -> int:
    """Holds a left row, and emits it where that adds validity; returns the rows written."""
    columns, now, expiry = batch.columns, batch.ts[i], batch.exp[i]
    rows, width = held.rows, held.columns.shape[0]
    reach = _reach(keys, columns, i, held.key_columns)
    hashed = hash_in(columns, i, held.columns)
    key_hash = hash_in(columns, i, held.key_columns)
    slot = find_value(held, columns, i, hashed)
    row = row_at(held.values, slot)
    emitted = now
    if row == EMPTY:
        append(held, columns, i, expiry, hashed, slot, key_hash)
    else:
        before = rows[row, width + EXPIRY]
        if before >= expiry:
            return written
        emitted = max(now, min(before, reach))
        rows[row, width + EXPIRY] = expiry
        if rows[row, width + PREVIOUS] == ALONE:
            link(held, row, key_hash)
    until = min(expiry, reach)
    if until <= emitted:
        return written
    return _write(columns, i, now, until, out, written)


@kernel
def _write(columns: IntArray, i: int, now: int, until: int, out: IntArray, written: int) -> int:
    width = out.shape[0] - 2
    for j in range(width):
        out[j, written] = columns[j, i]
    out[width, written] = now
    out[width + 1, written] = until
    return written + 1


@kernel
def _enter_right(h: IntArray, held: Rows, keys: Rows, batch: Input, j: int) -> None:
    """Prolongs the reach of a key, and finds its first left row."""
    columns, expiry = batch.columns, batch.exp[j]
    before = _reach(keys, columns, j, keys.columns)
    hashed = hash_in(columns, j, keys.columns)
    if insert(keys, columns, j, expiry, expiry, hashed) < expiry:
        h[REACH], h[PARTNER] = before, first_of(held, columns, j, keys.columns, hashed)


@kernel
def _visit(h: IntArray, held: Rows, now: int, reach: int, out: IntArray) -> bool:
    """Emits the left rows of a key that its new reach prolongs; False when ``out`` is full."""
    rows, width = held.rows, held.columns.shape[0]
    row, written, results = h[PARTNER], h[OUT], out.shape[0] - 2
    emitted = max(now, h[REACH])
    while row != EMPTY and written < out.shape[1]:
        expiry, following = rows[row, width + EXPIRY], rows[row, width + NEXT]
        if expiry > emitted:
            for j in range(results):
                out[j, written] = rows[row, j]
            out[results, written] = now
            out[results + 1, written] = min(expiry, reach)
            written += 1
        if expiry <= reach and held.header[HAS_CHAINS] != 0:
            unlink(held, row)
        row = following
    h[PARTNER], h[OUT] = row, written
    return row == EMPTY


@kernel
def advance(h: IntArray, held: Rows, keys: Rows, left: Input, right: Input, out: IntArray) -> int:
    """Reads both batches, merged by ts, left first; resumes from the header.

    ``right`` has the key columns alone, in the order of the columns of the left key. The rows
    written have all left columns.
    """
    while True:
        if h[PARTNER] != EMPTY:
            j = h[RIGHT_ROW] - 1
            if not _visit(h, held, right.ts[j], right.exp[j], out):
                return OUT_FULL
        i, j = h[LEFT_ROW], h[RIGHT_ROW]
        if i < left.ts.shape[0] and (j == right.ts.shape[0] or left.ts[i] <= right.ts[j]):
            if is_due(held, left.ts[i]):
                return SWEEP_DUE
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            h[LEFT_ROW] += 1
            h[OUT] = _enter_left(held, keys, left, i, out, h[OUT])
        elif j < right.ts.shape[0]:
            if is_due(keys, right.ts[j]):
                return RIGHT_SWEEP_DUE
            h[RIGHT_ROW] += 1
            _enter_right(h, held, keys, right, j)
        else:
            return DONE

"""Coalescing: what a row says beyond earlier rows of its value."""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from ..counters import ADDED_VALIDITY, DROPPED, Tally
from .compiling import kernel
from .rows import find_row, hash_in, insert, is_due
from .tables import EMPTY


@kernel
def advance(
    start: int,
    columns: IntArray,
    ts: IntArray,
    exp: IntArray,
    h: IntArray,
    all_columns: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    extends: IntArray,
    tally: Tally,
) -> int:
    """Marks in ``extends`` the rows that expire later than any before them of their value.

    Begins at row ``start``; returns the row at which a sweep is due, or the number of rows.
    """
    width = all_columns.shape[0]
    for i in range(start, ts.shape[0]):
        if is_due(h, rows, ts[i]):
            return i
        hashed = hash_in(columns, i, all_columns)
        row = values[find_row(values, rows, all_columns, columns, i, all_columns, hashed), 1]
        said = ts[i]  # until when an earlier row says the same
        if row == EMPTY:
            insert(h, rows, values, keys, all_columns, all_columns, columns, i, exp[i], exp[i])
        else:
            said = max(said, rows[row, width])
            rows[row, width] = max(exp[i], rows[row, width])
        extends[i] = 1 if said < exp[i] else 0
        if said >= exp[i]:
            tally[DROPPED] += 1
        elif exp[i] != FOREVER:
            tally[ADDED_VALIDITY] += exp[i] - said
    return ts.shape[0]

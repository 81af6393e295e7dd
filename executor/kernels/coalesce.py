"""Coalescing: what a row says beyond earlier rows of its value."""

from __future__ import annotations

from numba import njit

from executor.batch import IntArray
from executor.kernels.rows import insert, is_due


@njit(cache=True)
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
) -> int:
    """Marks in ``extends`` the rows that expire later than any before them of their value.

    Begins at row ``start``; returns the row at which a sweep is due, or the number of rows.
    """
    for i in range(start, ts.shape[0]):
        if is_due(h, rows, ts[i]):
            return i
        new = insert(h, rows, values, keys, all_columns, all_columns, columns, i, exp[i], exp[i])
        extends[i] = 1 if new else 0
    return ts.shape[0]

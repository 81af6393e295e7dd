"""Runs of values, and the windows that begin with them.

A *run* is a time without a gap through which a value is valid. Runs are held as a set of rows
(:mod:`headrace.executor.kernels.rows`) that has the start of the run in place of the expiry. A run
is held one tick past its end, for a row at its end goes on with it.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import COUNT, UNTIL, find_row, hash_in, insert, is_due
from .tables import EMPTY


@kernel
def advance(
    begin: int,
    columns: IntArray,
    ts: IntArray,
    exp: IntArray,
    length: int,
    slide: int,
    h: IntArray,
    all_columns: IntArray,
    rows: IntArray,
    values: IntArray,
    keys: IntArray,
    end: IntArray,
    start: IntArray,
) -> int:
    """For each row that begins or extends a run, where that began, in ``start``, and until when
    the row is valid in its window, in ``end``, 0 if it says nothing new; ``start`` is -1 for
    other rows.

    Begins at row ``begin``; returns the row at which a sweep is due, or the number of rows.
    """
    since, held = all_columns.shape[0], h[UNTIL]
    for i in range(begin, ts.shape[0]):
        if is_due(h, rows, ts[i]):
            return i
        hashed = hash_in(columns, i, all_columns)
        slot = find_row(values, rows, all_columns, columns, i, all_columns, hashed)
        row = values[slot, 1]
        until = exp[i] + 1 if exp[i] < FOREVER else FOREVER
        said = ts[i]
        if row != EMPTY and ts[i] < rows[row, held]:
            if until <= rows[row, held]:
                start[i], end[i] = -1, 0
                continue
            said = rows[row, held] - 1
        elif row == EMPTY:
            row = h[COUNT]
            insert(h, rows, values, keys, all_columns, all_columns, columns, i, ts[i], until)
        else:
            rows[row, since] = ts[i]
        rows[row, held] = until
        first = rows[row, since]
        close = min(exp[i], first // slide * slide + length)
        start[i] = first
        end[i] = close if close > said else 0
    return ts.shape[0]

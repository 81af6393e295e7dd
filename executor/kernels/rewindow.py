"""Runs of values, and the windows that begin with them.

A *run* is a period without a gap in which a value is valid. Runs are held as a set of rows
(:mod:`headrace.executor.kernels.rows`) with the start of the run in place of the expiry. A run is
held for one tick past its end, because a row that begins at its end continues the run.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import EXPIRY, UNTIL, Input, Rows, append, find_value, hash_in, is_due, row_at
from .stops import DONE, SWEEP_DUE
from .tables import EMPTY

# The header: the current row.
ROW, HEADER_FIELDS = range(2)


@kernel
def advance(
    h: IntArray, batch: Input, length: int, slide: int, held: Rows, end: IntArray, start: IntArray
) -> int:
    """Computes the run and the validity of each row; resumes from the header.

    Args:
        h: the header.
        batch: the input rows.
        length: the range of the window, in ticks.
        slide: the slide of the window, in ticks.
        held: the runs.
        end: receives the expiry of the row in its window; 0 if the row adds no validity.
        start: receives the start of the row's run; -1 if the row neither begins nor extends a run.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    rows, since, until_at = held.rows, held.columns.shape[0] + EXPIRY, held.header[UNTIL]
    for i in range(h[ROW], ts.shape[0]):
        if is_due(held, ts[i]):
            h[ROW] = i
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = row_at(held.values, slot)
        until = exp[i] + 1 if exp[i] < FOREVER else FOREVER
        reported = ts[i]
        if row == EMPTY:
            row = append(held, columns, i, ts[i], hashed, slot, hashed)
        elif ts[i] < rows[row, until_at]:
            if until <= rows[row, until_at]:
                start[i], end[i] = -1, 0
                continue
            reported = rows[row, until_at] - 1
        else:
            rows[row, since] = ts[i]
        rows[row, until_at] = until
        first = rows[row, since]
        close = min(exp[i], first // slide * slide + length)
        start[i] = first
        end[i] = close if close > reported else 0
    return DONE

"""Runs of values, and the windows that begin with them.

A *run* is a time without a gap through which a value is valid. Runs are held as a set of rows
(:mod:`headrace.executor.kernels.rows`) that has the start of the run in place of the expiry. A run
is held one tick past its end, for a row at its end goes on with it.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import EXPIRY, UNTIL, Input, Rows, append, find_value, hash_in, is_due
from .stops import DONE, SWEEP_DUE
from .tables import EMPTY

# The header: the row in work.
ROW, HEADER_FIELDS = range(2)


@kernel
def advance(
    h: IntArray, batch: Input, length: int, slide: int, held: Rows, end: IntArray, start: IntArray
) -> int:
    """For each row that begins or extends a run, where that began, in ``start``, and until when
    the row is valid in its window, in ``end``, 0 if it says nothing new; ``start`` is -1 for
    other rows.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    rows, since, until_at = held.rows, held.columns.shape[0] + EXPIRY, held.header[UNTIL]
    for i in range(h[ROW], ts.shape[0]):
        if is_due(held, ts[i]):
            h[ROW] = i
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = held.values[slot, 1]
        until = exp[i] + 1 if exp[i] < FOREVER else FOREVER
        reported = ts[i]
        if row == EMPTY:
            row = append(held, columns, i, ts[i], until, hashed, slot)
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

"""EVENT_REPORT: the values that are valid, new or gone at given ticks, those of events."""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel
from .expiring import TOP, dequeue_first, first_expiry, is_full, is_valid, new_row, row_of
from .report import (
    NEXT,
    PLACE,
    REPORTED,
    ROW,
    TOUCHED,
    Report,
    change,
    forget,
    is_reported,
    put_into_report,
    report,
    touch,
)
from .rows import Input
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY


@kernel
def take(state: Report, ticks: IntArray, rows: Input, out: IntArray) -> int:
    """Takes the rows of a batch, and writes the reports of ticks before the largest ts.

    ``ticks`` are in order; the header has the position of the next.
    """
    h = state.header
    while h[ROW] < rows.ts.shape[0]:
        i = h[ROW]
        stop = pass_time(state, ticks, rows.ts[i], out)
        if stop != DONE:
            return stop
        if is_full(state.values):
            return SWEEP_DUE
        change(state, rows, i)
        h[ROW] += 1
    return DONE


@kernel
def pass_time(state: Report, ticks: IntArray, now: int, out: IntArray) -> int:
    """Writes the reports of ticks before ``now``."""
    h = state.header
    while h[NEXT] < ticks.shape[0] and ticks[h[NEXT]] < now:
        tick = ticks[h[NEXT]]
        if not report(state, tick, tick + 1, out):
            return OUT_FULL
        h[NEXT] += 1
    return DONE


@kernel
def expire(state: Report, now: int) -> None:
    """Ends the validity of the values that expire until ``now``.

    No report before ``now`` is left. A value that the last report does not have is dropped.
    """
    while first_expiry(state.values) <= now:
        row = dequeue_first(state.values)
        if is_reported(state, row):
            touch(state, row)
        else:
            forget(state, row)


@kernel
def clear(state: Report) -> None:
    """Forgets the last report; only valid values are held, and all count as changed."""
    h, values = state.header, state.values
    h[ROW] = 0
    while h[REPORTED] > 0:
        h[REPORTED] -= 1
        row = state.reported[h[REPORTED]]
        values.own[row, PLACE] = 0
        touch(state, row)
    for row in range(values.header[TOP]):
        if is_valid(values, row):
            touch(state, row)
    k = 0
    while k < h[TOUCHED]:
        row = state.touched[k]
        if is_valid(values, row):
            k += 1
        else:
            forget(state, row)  # another row takes its place


@kernel
def restore(state: Report, columns: IntArray) -> int:
    """Puts values into the last report, after :func:`clear`."""
    h, values = state.header, state.values
    while h[ROW] < columns.shape[1]:
        if is_full(state.values):
            return SWEEP_DUE
        row = row_of(values, columns, h[ROW])
        if row == EMPTY:
            row = new_row(values, columns, h[ROW])
            touch(state, row)
        put_into_report(state, row)
        h[ROW] += 1
    return DONE

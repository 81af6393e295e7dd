"""REPORT: the values that are valid, new or gone at the multiples of a period."""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .expiring import (
    EXPIRING_FIELDS,
    FIRST_OWN,
    SECOND_OWN,
    Expiring,
    dequeue,
    dequeue_first,
    enqueue,
    extend,
    first_expiry,
    is_valid,
    new_row,
    row_of,
)
from .rows import Input, remove
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .store import COUNT
from .tables import EMPTY

# The header: the current row of the batch; the results written, and the space needed for more; the
# mode and the period; whether a time was told, and the present time; the tick of the last report;
# the values of the last report, and those that changed since.
ROW, OUT, NEED, MODE, EVERY, STARTED, AT, LAST, REPORTED, TOUCHED, HEADER_FIELDS = range(11)
ENTERING, EXIT, SNAPSHOT = range(3)

# Fields of a value: its place in the last report, from 1, or 0; and whether it changed since.
_PLACE, _IS_TOUCHED = FIRST_OWN, SECOND_OWN
VALUE_FIELDS = EXPIRING_FIELDS


class Report(NamedTuple):
    """The state of a report.

    Attributes:
        header: int64[HEADER_FIELDS].
        values: the valid values, and those that were valid at the last report.
        reported: the rows of the values of the last report.
        touched: the rows of the values that changed since.
    """

    header: IntArray
    values: Expiring
    reported: IntArray
    touched: IntArray


@kernel
def next_multiple(time: int, period: int) -> int:
    """The first multiple of ``period`` that is not before ``time``."""
    return -(-time // period) * period


@kernel
def take(state: Report, batch: Input, out: IntArray) -> int:
    """Takes the rows of a batch, and writes the reports before the largest ts."""
    h, values, columns = state.header, state.values, batch.columns
    held = values.held
    while h[ROW] < batch.ts.shape[0]:
        i = h[ROW]
        if h[STARTED] == 0 or batch.ts[i] != h[AT]:
            stop = pass_time(state, batch.ts[i], out)
            if stop != DONE:
                return stop
        if held.header[COUNT] == held.rows.shape[0]:
            return SWEEP_DUE
        row = row_of(values, columns, i)
        if batch.exp[i] >= 0:
            if row == EMPTY:
                row = new_row(values, columns, i)
            if is_valid(values, row):
                extend(values, row, batch.exp[i])
            else:
                enqueue(values, row, batch.exp[i])
                _touch(state, row)
        elif row != EMPTY and is_valid(values, row):
            dequeue(values, row)
            _touch(state, row)
        h[ROW] += 1
    return DONE


@kernel
def pass_time(state: Report, now: int, out: IntArray) -> int:
    """Writes the reports before ``now``."""
    h = state.header
    if h[STARTED] == 0:
        h[STARTED], h[AT] = 1, now
    tick = _next(state)
    while tick < now:
        if not _report(state, tick, out):
            return OUT_FULL
        tick = _next(state)
    h[AT] = max(h[AT], now)
    return DONE


@kernel
def _next(state: Report) -> int:
    """The next tick whose report may have rows or may end the validity of a value."""
    h, tick = state.header, FOREVER
    if h[TOUCHED] > 0:
        tick = next_multiple(h[AT], h[EVERY])
    first = first_expiry(state.values)
    if first <= FOREVER - h[EVERY]:
        tick = min(tick, next_multiple(first, h[EVERY]))
    if h[MODE] == SNAPSHOT and h[REPORTED] > 0:
        tick = min(tick, h[LAST] + h[EVERY])
    return tick


@kernel
def _touch(state: Report, row: int) -> None:
    h, held = state.header, state.values.held
    at = held.columns.shape[0] + _IS_TOUCHED
    if held.rows[row, at] == 0:
        held.rows[row, at] = 1
        state.touched[h[TOUCHED]] = row
        h[TOUCHED] += 1


@kernel
def _report(state: Report, tick: int, out: IntArray) -> bool:
    """Writes the report of a tick; False if there is no space for it."""
    h, values = state.header, state.values
    held = values.held
    rows, width = held.rows, held.columns.shape[0]
    while first_expiry(values) <= tick:
        _touch(state, dequeue_first(values))
    h[NEED] = h[TOUCHED] + (h[REPORTED] if h[MODE] == SNAPSHOT else 0)
    if h[OUT] + h[NEED] > out.shape[1]:
        return False
    for k in range(h[TOUCHED]):
        row = state.touched[k]
        rows[row, width + _IS_TOUCHED] = 0
        valid, reported = is_valid(values, row), rows[row, width + _PLACE] != 0
        if valid and not reported:
            state.reported[h[REPORTED]] = row
            h[REPORTED] += 1
            rows[row, width + _PLACE] = h[REPORTED]
            if h[MODE] == ENTERING:
                _write(state, row, tick, out)
        elif reported and not valid:
            last = state.reported[h[REPORTED] - 1]
            state.reported[rows[row, width + _PLACE] - 1] = last
            rows[last, width + _PLACE] = rows[row, width + _PLACE]
            h[REPORTED] -= 1
            if h[MODE] == EXIT:
                _write(state, row, tick, out)
        if not valid:
            remove(held, row)
    h[TOUCHED] = 0
    if h[MODE] == SNAPSHOT:
        for k in range(h[REPORTED]):
            _write(state, state.reported[k], tick, out)
    h[LAST] = tick
    return True


@kernel
def _write(state: Report, row: int, tick: int, out: IntArray) -> None:
    h, held = state.header, state.values.held
    width = held.columns.shape[0]
    for j in range(width):
        out[j, h[OUT]] = held.rows[row, j]
    out[width, h[OUT]], out[width + 1, h[OUT]] = tick, tick + h[EVERY]
    h[OUT] += 1

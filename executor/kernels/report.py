"""REPORT: the values that are valid, new or gone at the multiples of a period."""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .expiring import (
    Expiring,
    dequeue,
    dequeue_first,
    enqueue,
    extend,
    first_expiry,
    is_full,
    is_valid,
    new_row,
    remove,
    row_of,
)
from .rows import Input
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY

# The header: the current row of the batch; the results written, and the space needed for more; the
# mode, the period and the first tick; whether a time was told, and the present time; the tick of
# the last report, or the position of the next one; the values of the last report, and those that
# changed since.
ROW, OUT, NEED, MODE, EVERY, START, STARTED, AT, LAST, REPORTED, TOUCHED, HEADER_FIELDS = range(12)
NEXT = LAST
# CHANGES are the values that enter, and those that leave, with the expiry LEFT.
ENTERING, EXIT, SNAPSHOT, CHANGES = range(4)
LEFT = 0

# Fields of a value: its places in the last report and among the values that changed since, each
# from 1, or 0.
PLACE, _TOUCHED_AT, VALUE_FIELDS = range(3)


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
def next_tick(time: int, start: int, period: int) -> int:
    """The first of ``start``, ``start + period``, ... that is not before ``time``."""
    return start + next_multiple(max(0, time - start), period)


@kernel
def take(state: Report, batch: Input, out: IntArray) -> int:
    """Takes the rows of a batch, and writes the reports before the largest ts."""
    h = state.header
    while h[ROW] < batch.ts.shape[0]:
        i = h[ROW]
        if h[STARTED] == 0 or batch.ts[i] != h[AT]:
            stop = pass_time(state, batch.ts[i], out)
            if stop != DONE:
                return stop
        if is_full(state.values):
            return SWEEP_DUE
        change(state, batch, i)
        h[ROW] += 1
    return DONE


@kernel
def change(state: Report, batch: Input, i: int) -> None:
    """Begins, extends or ends the validity of a value as row ``i`` says; there is room for it."""
    values, columns = state.values, batch.columns
    row = row_of(values, columns, i)
    if batch.exp[i] >= 0:
        if row == EMPTY:
            row = new_row(values, columns, i)
        if is_valid(values, row):
            extend(values, row, batch.exp[i])
        else:
            enqueue(values, row, batch.exp[i])
            touch(state, row)
    elif row != EMPTY and is_valid(values, row):
        dequeue(values, row)
        touch(state, row)


@kernel
def pass_time(state: Report, now: int, out: IntArray) -> int:
    """Writes the reports before ``now``."""
    h = state.header
    if h[STARTED] == 0:
        h[STARTED], h[AT] = 1, now
    tick = _next(state)
    while tick < now:
        if not report(state, tick, tick + h[EVERY], out):
            return OUT_FULL
        h[LAST] = tick
        tick = _next(state)
    h[AT] = max(h[AT], now)
    return DONE


@kernel
def _next(state: Report) -> int:
    """The next tick whose report may have rows or may end the validity of a value."""
    h, tick = state.header, FOREVER
    if h[TOUCHED] > 0:
        tick = next_tick(h[AT], h[START], h[EVERY])
    first = first_expiry(state.values)
    if first <= FOREVER - h[EVERY]:
        tick = min(tick, next_tick(first, h[START], h[EVERY]))
    if h[MODE] == SNAPSHOT and h[REPORTED] > 0:
        tick = min(tick, h[LAST] + h[EVERY])
    return tick


@kernel
def touch(state: Report, row: int) -> None:
    """Notes that the validity of a value may have changed."""
    h, own = state.header, state.values.own
    if own[row, _TOUCHED_AT] == 0:
        state.touched[h[TOUCHED]] = row
        h[TOUCHED] += 1
        own[row, _TOUCHED_AT] = h[TOUCHED]


@kernel
def is_reported(state: Report, row: int) -> bool:
    """Whether the last report has a value."""
    return state.values.own[row, PLACE] != 0


@kernel
def put_into_report(state: Report, row: int) -> None:
    """Adds a value to those of the last report."""
    h = state.header
    state.reported[h[REPORTED]] = row
    h[REPORTED] += 1
    state.values.own[row, PLACE] = h[REPORTED]


@kernel
def forget(state: Report, row: int) -> None:
    """Drops a value that is neither valid nor reported."""
    h, own = state.header, state.values.own
    place = own[row, _TOUCHED_AT]
    if place != 0:
        last = state.touched[h[TOUCHED] - 1]
        state.touched[place - 1] = last
        own[last, _TOUCHED_AT] = place
        h[TOUCHED] -= 1
    remove(state.values, row)


@kernel
def report(state: Report, tick: int, until: int, out: IntArray) -> bool:
    """Writes the report of a tick, with ``until`` as expiry; False if there is no space for it."""
    h, values = state.header, state.values
    own = values.own
    while first_expiry(values) <= tick:
        touch(state, dequeue_first(values))
    h[NEED] = h[TOUCHED] + (h[REPORTED] if h[MODE] == SNAPSHOT else 0)
    if h[OUT] + h[NEED] > out.shape[1]:
        return False
    for k in range(h[TOUCHED]):
        row = state.touched[k]
        own[row, _TOUCHED_AT] = 0
        valid, reported = is_valid(values, row), is_reported(state, row)
        if valid and not reported:
            put_into_report(state, row)
            if h[MODE] == ENTERING or h[MODE] == CHANGES:
                _write(state, row, tick, until, out)
        elif reported and not valid:
            last = state.reported[h[REPORTED] - 1]
            state.reported[own[row, PLACE] - 1] = last
            own[last, PLACE] = own[row, PLACE]
            h[REPORTED] -= 1
            if h[MODE] == EXIT or h[MODE] == CHANGES:
                _write(state, row, tick, LEFT if h[MODE] == CHANGES else until, out)
        if not valid:
            remove(values, row)
    h[TOUCHED] = 0
    if h[MODE] == SNAPSHOT:
        for k in range(h[REPORTED]):
            _write(state, state.reported[k], tick, until, out)
    return True


@kernel
def _write(state: Report, row: int, tick: int, until: int, out: IntArray) -> None:
    h, columns = state.header, state.values.columns
    width = columns.shape[1]
    for j in range(width):
        out[j, h[OUT]] = columns[row, j]
    out[width, h[OUT]], out[width + 1, h[OUT]] = tick, until
    h[OUT] += 1

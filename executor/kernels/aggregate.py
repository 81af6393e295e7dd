"""AGGREGATE: the rows that the aggregates of the valid values of each key make.

All rows of one ts are one change. Time is *settled* up to a tick when the changes before the tick
are closed: each changed group has compared its aggregates with its *open* row.
"""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from . import expiring
from .aggregate_groups import (
    change,
    change_expiry,
    evaluate,
    full,
    group_of,
    is_same,
    last_expiry,
    make_due,
    mark,
)
from .aggregate_layout import (
    AT,
    CHANGED,
    CLOSED,
    COLLECTED,
    DIFFERENT,
    DUE,
    EVERY,
    FUNCTION,
    GROUP,
    GROUP_FIELDS,
    IS_CHANGED,
    IS_OPEN,
    NEED,
    OUT,
    RENEWAL,
    ROW,
    ROWS,
    SINCE,
    STARTED,
    STATE_FIELDS,
    TICK,
    UNTIL,
    Aggregates,
)
from .compiling import kernel
from .expiring import dequeue, dequeue_first, enqueue, extend, first_expiry, new_row, row_of
from .report import next_multiple
from .rows import FREED, PREVIOUS, TOP, Input, remove
from .stops import DONE, LISTS_DUE, OUT_FULL
from .store import COUNT
from .tables import EMPTY


@kernel
def take(state: Aggregates, batch: Input, keys: IntArray, out: IntArray) -> int:
    """Takes the rows of a batch with their keys.

    Writes the result rows that end before the largest ts.
    """
    h, values = state.header, state.values
    while h[ROW] < batch.ts.shape[0]:
        i = h[ROW]
        if h[STARTED] == 0 or batch.ts[i] != h[AT]:
            stop = pass_time(state, batch.ts[i], out)
            if stop != DONE:
                return stop
        stop = full(state)
        if stop != DONE:
            return stop
        row = row_of(values, batch.columns, i)
        if batch.exp[i] < 0:
            if row != EMPTY:
                dequeue(values, row)
                _leave(state, row)
        elif row != EMPTY:
            change_expiry(state, row, -1)
            extend(values, row, batch.exp[i])
            change_expiry(state, row, 1)
        else:
            row = new_row(values, batch.columns, i)
            enqueue(values, row, batch.exp[i])
            group = group_of(state, keys, i)
            values.own[row, GROUP] = group
            change(state, group, row, 1)
            change_expiry(state, row, 1)
        h[ROW] += 1
    return DONE


@kernel
def _leave(state: Aggregates, row: int) -> None:
    """Takes a value that is no longer valid out of its group and of the store."""
    change_expiry(state, row, -1)
    change(state, state.values.own[row, GROUP], row, -1)
    expiring.remove(state.values, row)


# -- time passes -----------------------------------------------------------------------------------


@kernel
def pass_time(state: Aggregates, now: int, out: IntArray) -> int:
    """Advances time to ``now``: values expire, and the changes before ``now`` are closed.

    FOREVER is the end of the input: all values that expire do so.
    """
    h, values = state.header, state.values
    if h[STARTED] == 0:
        h[STARTED], h[AT] = 1, now
    first = first_expiry(values)
    while first <= now and first < FOREVER:
        stop = _settle(state, first, out)
        if stop != DONE:
            return stop
        while first_expiry(values) == first:
            _leave(state, dequeue_first(values))
        first = first_expiry(values)
    return _settle(state, now, out) if now < FOREVER else DONE


@kernel
def _settle(state: Aggregates, now: int, out: IntArray) -> int:
    """Closes all changes before ``now``, and reports at the multiples of the period."""
    h, groups = state.header, state.groups
    if now <= h[AT]:
        return DONE
    if h[CLOSED] == 0:
        if h[EVERY] > 0:
            h[TICK] = next_multiple(h[AT], h[EVERY])
        # With a period, changes between two reports are closed together, at the second one.
        if h[EVERY] == 0 or h[TICK] < now:
            if h[DUE] > 0:
                return LISTS_DUE
            if not close(state, out):
                return OUT_FULL
        h[CLOSED] = 1
    if h[EVERY] > 0 and groups.header[COUNT] > 0:
        while h[TICK] < now:
            if not write_open(state, h[TICK], h[TICK] + h[EVERY], out):
                return OUT_FULL
            h[TICK] += h[EVERY]
    h[AT], h[CLOSED] = now, 0
    return DONE


@kernel
def _has_space(state: Aggregates, rows: int, out: IntArray) -> bool:
    state.header[NEED] = rows
    return state.header[OUT] + rows <= out.shape[1]


@kernel
def close(state: Aggregates, out: IntArray) -> bool:
    """Ends the open rows of the groups whose aggregates changed at the present time.

    Their new aggregates are open from then on. Returns False if there is no space for the rows.
    """
    h, groups = state.header, state.groups
    rows, width = groups.rows, groups.columns.shape[0]
    if not _has_space(state, 2 * h[CHANGED], out):
        return False
    opened = width + GROUP_FIELDS + state.calls.shape[0] * STATE_FIELDS
    for k in range(h[CHANGED]):
        group = state.changed[k]
        rows[group, width + IS_CHANGED] = 0
        holds = rows[group, width + ROWS] > 0
        if holds:
            evaluate(state, group)
        was_open = rows[group, width + IS_OPEN] != 0
        differs = was_open != holds or (holds and not is_same(state, group, opened))
        until = last_expiry(state, group) if holds and h[RENEWAL] != 0 else 0
        differs = differs or until != rows[group, width + UNTIL]
        if differs:
            if was_open and h[RENEWAL] != 0:
                _write(state, group, h[AT], ~rows[group, width + UNTIL], out)
            elif was_open and h[EVERY] == 0:
                _write(state, group, rows[group, width + SINCE], h[AT], out)
            rows[group, width + IS_OPEN], rows[group, width + SINCE] = 1 if holds else 0, h[AT]
            for j in range(state.fresh.shape[0]):
                rows[group, opened + j] = state.fresh[j]
            rows[group, width + UNTIL] = until
            if until != 0:
                _write(state, group, h[AT], until, out)
        if not holds:
            remove(groups, group)
    h[CHANGED] = 0
    return True


@kernel
def write_open(state: Aggregates, ts: int, exp: int, out: IntArray) -> bool:
    """Writes all open rows, from ``ts`` on, or from their begin if that is EMPTY.

    Returns False if there is no space for them.
    """
    groups = state.groups
    rows, width = groups.rows, groups.columns.shape[0]
    if not _has_space(state, groups.header[COUNT], out):
        return False
    for group in range(groups.header[TOP]):
        if rows[group, width + PREVIOUS] != FREED and rows[group, width + IS_OPEN] != 0:
            _write(state, group, rows[group, width + SINCE] if ts == EMPTY else ts, exp, out)
    return True


@kernel
def _write(state: Aggregates, group: int, ts: int, exp: int, out: IntArray) -> None:
    h, rows, width = state.header, state.groups.rows, state.groups.columns.shape[0]
    for j in range(width):
        out[j, h[OUT]] = rows[group, j]
    fields = 2 * state.calls.shape[0]
    opened = width + GROUP_FIELDS + state.calls.shape[0] * STATE_FIELDS
    for j in range(fields):
        out[width + j, h[OUT]] = rows[group, opened + j]
    out[width + fields, h[OUT]], out[width + fields + 1, h[OUT]] = ts, exp
    h[OUT] += 1


@kernel
def end(state: Aggregates, out: IntArray) -> int:
    """Writes the open rows at the end of the input: they never expire."""
    h, groups = state.header, state.groups
    stop = pass_time(state, FOREVER, out)
    if stop != DONE:
        return stop
    if h[CLOSED] == 0:
        if h[DUE] > 0:
            return LISTS_DUE
        if not close(state, out):
            return OUT_FULL
        h[CLOSED] = 1
    since = next_multiple(h[AT], h[EVERY]) if h[EVERY] > 0 else EMPTY
    if h[RENEWAL] == 0 and not write_open(state, since, FOREVER, out):
        return OUT_FULL
    for group in range(groups.header[TOP]):
        groups.rows[group, groups.columns.shape[0] + IS_OPEN] = 0
    h[AT] = FOREVER
    return DONE


@kernel
def reopen(state: Aggregates, keys: IntArray, since: IntArray, opened: IntArray, now: int) -> int:
    """Restores open rows at ``now``; every group may have changed since.

    ``opened`` is int64[rows, 2 * aggregates]: the kinds and bits of each open row.
    """
    h, groups = state.header, state.groups
    rows, width = groups.rows, groups.columns.shape[0]
    if h[ROW] == 0:
        for group in range(groups.header[TOP]):
            rows[group, width + IS_OPEN] = 0
    while h[ROW] < since.shape[0]:
        stop = full(state)
        if stop != DONE:
            return stop
        group = group_of(state, keys, h[ROW])
        rows[group, width + IS_OPEN], rows[group, width + SINCE] = 1, since[h[ROW]]
        at = width + GROUP_FIELDS + state.calls.shape[0] * STATE_FIELDS
        for j in range(opened.shape[1]):
            rows[group, at + j] = opened[h[ROW], j]
        h[ROW] += 1
    for group in range(groups.header[TOP]):
        if rows[group, width + PREVIOUS] != FREED:
            mark(state, group)
            for call in range(state.calls.shape[0]):
                if state.calls[call, FUNCTION] in (COLLECTED, DIFFERENT):
                    make_due(state, group, width + GROUP_FIELDS + call * STATE_FIELDS)
    h[STARTED], h[AT], h[CLOSED] = 1, now, 0
    return DONE

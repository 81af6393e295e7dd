"""Coalescing: the validity that a row adds to earlier rows of its value."""

from __future__ import annotations

from ..batch import FOREVER, IntArray
from ..counters import ADDED_VALIDITY, DROPPED, Tally
from . import bag
from .compiling import kernel
from .rows import (
    COPIES,
    EXPIRY,
    NEXT,
    REPORTED,
    Input,
    Rows,
    append,
    find_value,
    first_of,
    hash_in,
    is_due,
    row_at,
)
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY

# The header: the current row, results written, and the largest number of results of the row.
ROW, OUT, NEED, HEADER_FIELDS = range(4)


@kernel
def advance(h: IntArray, batch: Input, held: Rows, extends: IntArray, tally: Tally) -> int:
    """Sets ``extends`` to 1 for the rows that expire later than all earlier rows of their value."""
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    rows, at = held.rows, held.columns.shape[0] + EXPIRY
    for i in range(h[ROW], ts.shape[0]):
        if is_due(held, ts[i]):
            h[ROW] = i
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = row_at(held.values, slot)
        reported = ts[i]  # the expiry of earlier rows of the value
        if row == EMPTY:
            append(held, columns, i, exp[i], hashed, slot, hashed)
        else:
            reported = max(reported, rows[row, at])
            rows[row, at] = max(exp[i], rows[row, at])
        extends[i] = 1 if reported < exp[i] else 0
        if reported >= exp[i]:
            tally[DROPPED] += 1
        elif exp[i] != FOREVER:
            tally[ADDED_VALIDITY] += exp[i] - reported
    return DONE


@kernel
def _length(held: Rows, first: int) -> int:
    """The entries of a chain."""
    length, row = 0, first
    while row != EMPTY:
        length += 1
        row = held.rows[row, held.columns.shape[0] + NEXT]
    return length


@kernel
def _is_reported_beyond(held: Rows, first: int, until: int) -> bool:
    """Whether a reported entry of a chain expires after ``until``."""
    rows, width = held.rows, held.columns.shape[0]
    row = first
    while row != EMPTY:
        if rows[row, width + REPORTED] != 0 and rows[row, width + EXPIRY] > until:
            return True
        row = rows[row, width + NEXT]
    return False


@kernel
def _report_anew(held: Rows, first: int, now: int, holds: int, out: IntArray, written: int) -> int:
    """Retracts the reported rows of a value, and reports a row that expires at ``holds``.

    Reports none if ``holds`` is ``now``. Returns the number of rows written in total.
    """
    rows, width = held.rows, held.columns.shape[0]
    again, row = EMPTY, first
    while row != EMPTY:
        expiry = rows[row, width + EXPIRY]
        if rows[row, width + REPORTED] != 0 and expiry > now:
            bag.write(held, row, now, ~expiry, out, written)
            written += 1
        rows[row, width + REPORTED] = 0
        if holds > now and expiry == holds:
            again = row
        row = rows[row, width + NEXT]
    if again != EMPTY:
        bag.write(held, again, now, holds, out, written)
        written += 1
        rows[again, width + REPORTED] = 1
    return written


@kernel
def with_deletions(h: IntArray, batch: Input, held: Rows, out: IntArray) -> int:
    """Writes the largest expiry of a value whenever it changes.

    A row that expires later than the reported rows is reported. If the last row with the largest
    expiry is taken back, all reported rows are retracted, and the longest other row is reported.

    So the reported rows of a value last as long as its rows do. A row that expires no later than
    they do, and a retraction of a row that expires earlier, change nothing that is reported. New
    rows are first in the chain of their value, so that the reported row is met soon.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if is_due(held, now):
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        first = first_of(held, columns, i, held.columns, hashed)
        comes = exp[i] >= 0
        # Nothing expires after FOREVER, the largest integer, to which 1 must not be added.
        changes = not _is_reported_beyond(held, first, exp[i] - 1 if comes else ~exp[i])
        if changes:
            h[NEED] = 1 if comes else _length(held, first) + 1
            if h[OUT] + h[NEED] > out.shape[1]:
                return OUT_FULL
        if comes:
            row = bag.add(held, columns, i, exp[i])
            if changes and exp[i] > now:
                bag.write(held, row, now, exp[i], out, h[OUT])
                h[OUT] += 1
                held.rows[row, held.columns.shape[0] + REPORTED] = 1
        else:
            bag.take(held, columns, i, ~exp[i])
            if changes:
                reported = bag.latest(held, first, REPORTED, now)
                holds = bag.latest(held, first, COPIES, now)
                if holds < reported:
                    h[OUT] = _report_anew(held, first, now, holds, out, h[OUT])
        h[ROW] += 1
    return DONE

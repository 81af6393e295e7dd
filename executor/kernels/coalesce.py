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
    PREVIOUS,
    REPORTED,
    Input,
    Rows,
    append,
    find_value,
    first_of,
    hash_in,
    is_due,
    link,
    row_at,
    unlink,
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
def _outlasts(held: Rows, first: int, expiry: int) -> bool:
    """Whether the first row of a chain is reported, and expires after ``expiry``."""
    rows, width = held.rows, held.columns.shape[0]
    if first == EMPTY or rows[first, width + REPORTED] == 0:
        return False
    return rows[first, width + EXPIRY] > expiry


@kernel
def _is_last_copy(held: Rows, first: int, expiry: int) -> bool:
    """Whether the first row of a chain is reported, has this expiry, and one copy."""
    rows, width = held.rows, held.columns.shape[0]
    if first == EMPTY or rows[first, width + REPORTED] == 0:
        return False
    return rows[first, width + EXPIRY] == expiry and rows[first, width + COPIES] == 1


@kernel
def _length(held: Rows, first: int) -> int:
    """The rows of a chain."""
    length, row = 0, first
    while row != EMPTY:
        length += 1
        row = held.rows[row, held.columns.shape[0] + NEXT]
    return length


@kernel
def _lead(held: Rows, row: int, key_hash: int) -> None:
    """Puts a row first into its chain."""
    if held.rows[row, held.columns.shape[0] + PREVIOUS] != EMPTY:
        unlink(held, row)
        link(held, row, key_hash)


@kernel
def _report(held: Rows, row: int, now: int, out: IntArray, written: int) -> None:
    """Writes a row of the store as reported from ``now`` on."""
    width = held.columns.shape[0]
    bag.write(held, row, now, held.rows[row, width + EXPIRY], out, written)
    held.rows[row, width + REPORTED] = 1


@kernel
def _report_anew(
    held: Rows, first: int, now: int, key_hash: int, out: IntArray, written: int
) -> int:
    """Retracts all reported rows of a value, and reports the longest that remains, if any does.

    Readers of the results take a retraction as the end of all rows of its value. The longest row
    is first in the chain then. Returns the number of rows written in total.
    """
    rows, width = held.rows, held.columns.shape[0]
    holds = bag.latest(held, first, COPIES, now)
    longest, row = EMPTY, first
    while row != EMPTY:
        expiry = rows[row, width + EXPIRY]
        if expiry > now and rows[row, width + REPORTED] != 0:
            bag.write(held, row, now, ~expiry, out, written)
            written += 1
        rows[row, width + REPORTED] = 0
        if expiry == holds and holds > now:
            longest = row
        row = rows[row, width + NEXT]
    if longest != EMPTY:
        _report(held, longest, now, out, written)
        written += 1
        _lead(held, longest, key_hash)
    return written


@kernel
def with_deletions(h: IntArray, batch: Input, held: Rows, out: IntArray) -> int:
    """Writes the largest expiry of a value whenever it changes.

    A row that expires later than the reported rows of its value is reported. If the last copy of
    the longest row is taken back, all reported rows are retracted, and the longest other row is
    reported.

    So the reported rows of a value last as long as its rows do. The longest of them is first in the
    chain of the value, so that a row is compared with that one alone; only where it is taken back
    is the whole chain read.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if is_due(held, now):
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        first = first_of(held, columns, i, held.columns, hashed)
        if exp[i] >= 0:
            if h[OUT] == out.shape[1]:
                h[NEED] = 1
                return OUT_FULL
            extends = not _outlasts(held, first, exp[i] - 1)
            row = bag.add(held, columns, i, exp[i])
            _lead(held, row if extends else first, hashed)
            if extends and exp[i] > now:
                _report(held, row, now, out, h[OUT])
                h[OUT] += 1
        else:
            shrinks = _is_last_copy(held, first, ~exp[i])
            if shrinks:
                h[NEED] = _length(held, first) + 1
                if h[OUT] + h[NEED] > out.shape[1]:
                    return OUT_FULL
            bag.take(held, columns, i, ~exp[i])
            if shrinks:
                h[OUT] = _report_anew(held, first, now, hashed, out, h[OUT])
        h[ROW] += 1
    return DONE

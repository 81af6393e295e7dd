"""Symmetric hash join: adds each arriving row to its side, then probes the other side.

A row that comes again with a later expiry is joined with the partners that outlast its earlier
expiry. The pairs with all others are as valid as they were.

Over streams with deletions the sides are bags: a row is joined with each copy of its partners, and
a retraction of a row retracts the row's results.

A side may read an index that other joins read, too (:mod:`headrace.executor.kernels.shared_index`).
If both sides read one index, each row is joined first as a row of the left side with the rows
before it, then as a row of the right side with the rows up to itself.

An index has the columns of its key in its own order. A row of the other side is looked up with its
columns in that order, so the two sides may hash the same values in different orders.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from . import bag
from .checks import passes
from .compiling import kernel
from .rows import COPIES, EXPIRY, IS_BAG, NEXT, Input, Rows, first_of, hash_in, insert, is_due
from .shared_index import CHANGED, NOTHING, expiry_before, repeat
from .stops import DONE, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun on each side, the side of the current row and the row's expiry before it
# came again, the next partner and the number of its copies already joined, results written, and
# whether both sides read one index.
LEFT_ROW, RIGHT_ROW, IN_WORK, BEFORE, PARTNER, MET, OUT, ONE_INDEX, HEADER_FIELDS = range(9)
FROM_LEFT, FROM_RIGHT = 1, 2

# Fields of a check: its kind, the sources of its two values (:class:`Side`), and its bound.
KIND, FIRST_SOURCE, SECOND_SOURCE, BOUND, CHECK_FIELDS = range(5)


class Side(NamedTuple):
    """One side of a join.

    Attributes:
        held: the rows held, indexed by the variables that both sides bind.
        input: the arriving rows.
        sought: the columns of an arriving row that are compared with the key columns of the other
            side's index, in the order of that index.
        until: the time until which each arriving row is held: its expiry or earlier.
        sources: for each output column the column of an arriving row, or -1 - c for column c of
            its partner.
        checks: conditions on an arriving row and its partner, with sources as above.
        log: the changes of the arriving rows to an index that other joins read, too; without
            fields if the side has an index of its own.
    """

    held: Rows
    input: Input
    sought: IntArray
    until: IntArray
    sources: IntArray
    checks: IntArray
    log: IntArray


@kernel
def _is_shared(side: Side) -> bool:
    return side.log.shape[0] != 0


@kernel
def _find_first(h: IntArray, side: Side, i: int, other: Rows) -> None:
    """Finds the first partner of a row."""
    columns, sought = side.input.columns, side.sought
    h[PARTNER] = first_of(other, columns, i, sought, hash_in(columns, i, sought))
    h[MET] = 0


@kernel
def _enter(h: IntArray, side: Side, i: int, other: Rows) -> bool:
    """Adds or takes back a row, and finds its first partner; False if the row changes nothing.

    A row whose ``until`` has passed is not held, but is still joined with the other side.
    """
    held, columns, ts, exp = side.held, side.input.columns, side.input.ts[i], side.input.exp[i]
    h[BEFORE] = 0
    if _is_shared(side) and side.log[CHANGED, i] == NOTHING:
        return False
    if _is_shared(side):
        h[BEFORE] = expiry_before(held, side.log, i)
        repeat(held, exp, side.log, i)
    elif held.header[IS_BAG] != 0:
        if exp >= 0:
            bag.add(held, columns, i, exp)
        elif bag.take(held, columns, i, ~exp) == EMPTY:
            return False
    elif side.until[i] > ts:
        key_hash = hash_in(columns, i, held.key_columns)
        h[BEFORE] = insert(held, columns, i, exp, side.until[i], key_hash)
        if h[BEFORE] >= exp:
            return False
    _find_first(h, side, i, other)
    return True


@kernel
def _value(side: Side, i: int, rows: IntArray, partner: int, source: int) -> int:
    return side.input.columns[source, i] if source >= 0 else rows[partner, -1 - source]


@kernel
def _passes(side: Side, i: int, rows: IntArray, partner: int, entries: IntArray) -> bool:
    """Whether a row and its partner satisfy the checks."""
    checks = side.checks
    for k in range(checks.shape[0]):
        x = _value(side, i, rows, partner, checks[k, FIRST_SOURCE])
        y = _value(side, i, rows, partner, checks[k, SECOND_SOURCE])
        if not passes(checks[k, KIND], checks[k, BOUND], entries, x, y):
            return False
    return True


@kernel
def _meet(h: IntArray, side: Side, i: int, other: Rows, entries: IntArray, out: IntArray) -> bool:
    """Writes a result for each copy of each partner from ``PARTNER`` on that lasts long enough;
    False when ``out`` is full. A retraction (a negative ``exp``) writes retractions."""
    sources, rows = side.sources, other.rows
    now, exp, is_bag = side.input.ts[i], side.input.exp[i], other.header[IS_BAG] != 0
    width, other_width = sources.shape[0], other.columns.shape[0]
    expiry, outlasted = exp if exp >= 0 else ~exp, max(now, h[BEFORE])
    partner, met, written = h[PARTNER], h[MET], h[OUT]
    while partner != EMPTY and written < out.shape[1]:
        there = rows[partner, other_width + EXPIRY]
        copies = rows[partner, other_width + COPIES] if is_bag else 1
        if there <= outlasted or not _passes(side, i, rows, partner, entries):
            copies = 0
        while met < copies and written < out.shape[1]:
            for j in range(width):
                out[j, written] = _value(side, i, rows, partner, sources[j])
            until = min(expiry, there)
            out[width, written] = now
            out[width + 1, written] = until if exp >= 0 else ~until
            written += 1
            met += 1
        if met >= copies:
            partner, met = rows[partner, other_width + NEXT], 0
    h[PARTNER], h[MET], h[OUT] = partner, met, written
    return partner == EMPTY


@kernel
def _advance_one(h: IntArray, left: Side, right: Side, entries: IntArray, out: IntArray) -> int:
    """Joins a batch of both sides over the index that both read; resumes from the header."""
    held, batch = left.held, left.input
    while True:
        i = h[LEFT_ROW]
        if h[IN_WORK] == FROM_LEFT:
            if not _meet(h, left, i - 1, held, entries, out):
                return OUT_FULL
            _enter(h, right, i - 1, held)
            h[IN_WORK] = FROM_RIGHT
        if h[IN_WORK] == FROM_RIGHT:
            if not _meet(h, right, i - 1, held, entries, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        if i == batch.ts.shape[0]:
            return DONE
        h[LEFT_ROW] += 1
        if left.log[CHANGED, i] != NOTHING:
            h[BEFORE] = expiry_before(held, left.log, i)
            _find_first(h, left, i, held)
            h[IN_WORK] = FROM_LEFT


@kernel
def advance(h: IntArray, left: Side, right: Side, entries: IntArray, out: IntArray) -> int:
    """Joins both batches, merged by ts, left first; resumes from the header.

    Sides with an index of their own are swept only between two rows. ``entries`` are those of the
    dictionary, for checks.
    """
    if h[ONE_INDEX] != 0:
        return _advance_one(h, left, right, entries, out)
    left_ts, right_ts = left.input.ts, right.input.ts
    while True:
        if h[IN_WORK] == FROM_LEFT:
            if not _meet(h, left, h[LEFT_ROW] - 1, right.held, entries, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        elif h[IN_WORK] == FROM_RIGHT:
            if not _meet(h, right, h[RIGHT_ROW] - 1, left.held, entries, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        i, j = h[LEFT_ROW], h[RIGHT_ROW]
        if i < left_ts.shape[0] and (j == right_ts.shape[0] or left_ts[i] <= right_ts[j]):
            if not _is_shared(left) and is_due(left.held, left_ts[i]):
                return SWEEP_DUE
            h[LEFT_ROW] += 1
            if _enter(h, left, i, right.held):
                h[IN_WORK] = FROM_LEFT
        elif j < right_ts.shape[0]:
            if not _is_shared(right) and is_due(right.held, right_ts[j]):
                return RIGHT_SWEEP_DUE
            h[RIGHT_ROW] += 1
            if _enter(h, right, j, left.held):
                h[IN_WORK] = FROM_RIGHT
        else:
            return DONE

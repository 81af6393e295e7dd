"""Symmetric hash join: adds each arriving row to its side, then probes the other side.

Over streams with deletions the sides are bags: a row is joined with each copy of its partners, and
a retraction of a row retracts the row's results.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from . import bag
from .compiling import kernel
from .rows import COPIES, EXPIRY, IS_BAG, NEXT, Input, Rows, first_of, insert, is_due
from .stops import DONE, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun on each side, the side of the current row, the next partner and the number
# of its copies already joined, and results written.
LEFT_ROW, RIGHT_ROW, IN_WORK, PARTNER, MET, OUT, HEADER_FIELDS = range(7)
FROM_LEFT, FROM_RIGHT = 1, 2


class Side(NamedTuple):
    """One side of a join.

    Attributes:
        held: the rows held, indexed by the variables that both sides bind.
        input: the arriving rows.
        until: the time until which each arriving row is held: its expiry or earlier.
        sources: for each output column the column of an arriving row, or -1 - c for column c of
            its partner.
    """

    held: Rows
    input: Input
    until: IntArray
    sources: IntArray


@kernel
def _enter(h: IntArray, side: Side, i: int, other: Rows) -> bool:
    """Adds or takes back a row, and finds its first partner; False if the row changes nothing.

    A row whose ``until`` has passed is not held, but is still joined with the other side.
    """
    held, columns, ts, exp = side.held, side.input.columns, side.input.ts[i], side.input.exp[i]
    if held.header[IS_BAG] != 0:
        if exp >= 0:
            bag.add(held, columns, i, exp)
        elif bag.take(held, columns, i, ~exp) == EMPTY:
            return False
    elif side.until[i] > ts and not insert(held, columns, i, exp, side.until[i]):
        return False
    h[PARTNER] = first_of(other, columns, i, held.key_columns)
    h[MET] = 0
    return True


@kernel
def _meet(h: IntArray, side: Side, i: int, other: Rows, out: IntArray) -> bool:
    """Writes a result for each copy of each partner from ``PARTNER`` on; False when ``out`` is
    full. A retraction (a negative ``exp``) writes retractions."""
    columns, sources, rows = side.input.columns, side.sources, other.rows
    now, exp, is_bag = side.input.ts[i], side.input.exp[i], other.header[IS_BAG] != 0
    width, other_width = sources.shape[0], other.columns.shape[0]
    expiry = exp if exp >= 0 else ~exp
    partner, met, written = h[PARTNER], h[MET], h[OUT]
    while partner != EMPTY and written < out.shape[1]:
        there = rows[partner, other_width + EXPIRY]
        copies = rows[partner, other_width + COPIES] if is_bag else 1
        while there > now and met < copies and written < out.shape[1]:
            for j in range(width):
                source = sources[j]
                if source >= 0:
                    out[j, written] = columns[source, i]
                else:
                    out[j, written] = rows[partner, -1 - source]
            until = min(expiry, there)
            out[width, written] = now
            out[width + 1, written] = until if exp >= 0 else ~until
            written += 1
            met += 1
        if there <= now or met >= copies:
            partner, met = rows[partner, other_width + NEXT], 0
    h[PARTNER], h[MET], h[OUT] = partner, met, written
    return partner == EMPTY


@kernel
def advance(h: IntArray, left: Side, right: Side, out: IntArray) -> int:
    """Joins both batches, merged by ts, left first; resumes from the header.

    Sides are swept only between two rows.
    """
    left_ts, right_ts = left.input.ts, right.input.ts
    while True:
        if h[IN_WORK] == FROM_LEFT:
            if not _meet(h, left, h[LEFT_ROW] - 1, right.held, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        elif h[IN_WORK] == FROM_RIGHT:
            if not _meet(h, right, h[RIGHT_ROW] - 1, left.held, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        i, j = h[LEFT_ROW], h[RIGHT_ROW]
        if i < left_ts.shape[0] and (j == right_ts.shape[0] or left_ts[i] <= right_ts[j]):
            if is_due(left.held, left_ts[i]):
                return SWEEP_DUE
            h[LEFT_ROW] += 1
            if _enter(h, left, i, right.held):
                h[IN_WORK] = FROM_LEFT
        elif j < right_ts.shape[0]:
            if is_due(right.held, right_ts[j]):
                return RIGHT_SWEEP_DUE
            h[RIGHT_ROW] += 1
            if _enter(h, right, j, left.held):
                h[IN_WORK] = FROM_RIGHT
        else:
            return DONE

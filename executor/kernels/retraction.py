"""Operators over streams with deletions that pass edges on: RETRACT, and the edges of a path.

In such a stream a row with a negative expiry takes back one row of the same columns: that
with the expiry ``~exp`` (:class:`headrace.executor.batch.Batch`). What is valid at an instant is
the set of the values of which some row was given, not taken back and not expired. So an operator
gives for each row that it takes what follows from it, and takes that back with it: each is a
function of bags, and rows of one instant may come in any order that gives before it takes.
"""

from __future__ import annotations

from ..batch import IntArray
from . import bag
from .compiling import kernel
from .rows import COPIES, EXPIRY, NEXT, Input, Rows, first_of, is_due
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY

# The header: the row in work, results; for RETRACT whether the row is begun and which entry is
# next, and how many deletions matched no edge.
ROW, OUT, CHAIN, UNMATCHED, HEADER_FIELDS = range(5)
NOT_BEGUN = -2


@kernel
def retract(h: IntArray, batch: Input, held: Rows, out: IntArray) -> int:
    """Edges pass; a deletion (a negative expiry) takes back all open edges of its two ends."""
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    rows, width = held.rows, held.columns.shape[0]
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if h[CHAIN] == NOT_BEGUN:
            if is_due(held, now):
                return SWEEP_DUE
            if h[OUT] == out.shape[1]:
                return OUT_FULL
            if exp[i] >= 0:
                row = bag.add(held, columns, i, exp[i])
                bag.write(held, row, now, exp[i], out, h[OUT])
                h[OUT] += 1
                h[ROW] += 1
                continue
            h[CHAIN] = first_of(held, columns, i, held.key_columns)
            h[UNMATCHED] += bag.latest(held, h[CHAIN], COPIES, now) <= now
        while h[CHAIN] != EMPTY:
            row = h[CHAIN]
            expiry = rows[row, width + EXPIRY]
            while expiry > now and rows[row, width + COPIES] > 0:
                if h[OUT] == out.shape[1]:
                    return OUT_FULL
                bag.write(held, row, now, ~expiry, out, h[OUT])
                h[OUT] += 1
                rows[row, width + COPIES] -= 1
            h[CHAIN] = rows[row, width + NEXT]
        h[CHAIN] = NOT_BEGUN
        h[ROW] += 1
    return DONE


@kernel
def changes_of_edges(h: IntArray, batch: Input, held: Rows, out: IntArray) -> int:
    """Writes a row where the longest row of a value changes: with its expiry if that grew, with
    ``~expiry`` if it shrank (``~0``: there is none left). ``out`` has room for all.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if is_due(held, now):
            return SWEEP_DUE
        first = first_of(held, columns, i, held.columns)
        before = bag.latest(held, first, COPIES, now)
        if exp[i] >= 0:
            row = bag.add(held, columns, i, exp[i])
            if exp[i] > before:
                bag.write(held, row, now, exp[i], out, h[OUT])
                h[OUT] += 1
        else:
            row = bag.take(held, columns, i, ~exp[i])
            after = bag.latest(held, first, COPIES, now)
            if row != EMPTY and after < before:
                bag.write(held, row, now, ~after if after > now else ~0, out, h[OUT])
                h[OUT] += 1
        h[ROW] += 1
    return DONE

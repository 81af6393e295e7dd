"""Kernels that expand deletions of edges: RETRACT, and the changes of edges for a path.

In a stream with deletions a row with a negative expiry is a retraction: it takes back one row of
the same columns with the expiry ``~exp`` (:class:`headrace.executor.batch.Batch`). A value is valid
at a tick if it has a row that was neither taken back nor has expired. An operator emits the results
of each row, and retracts them when the row is taken back. So it is a function of bags, and rows of
one ts may arrive in any order in which a row precedes its retraction.
"""

from __future__ import annotations

from ..batch import IntArray
from . import bag
from .compiling import kernel
from .rows import COPIES, EXPIRY, NEXT, Input, Rows, first_of, hash_in, is_due
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY

# The header: the current row, results written; for RETRACT the next entry of the deletion's chain
# (NOT_BEGUN: the row is not begun), and the number of deletions that matched no edge.
ROW, OUT, CHAIN, UNMATCHED, HEADER_FIELDS = range(5)
NOT_BEGUN = -2


@kernel
def retract(h: IntArray, batch: Input, held: Rows, out: IntArray) -> int:
    """Passes edges on, and expands a deletion (a negative expiry).

    A deletion retracts all open edges from its source to its target.
    """
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
            hashed = hash_in(columns, i, held.key_columns)
            h[CHAIN] = first_of(held, columns, i, held.key_columns, hashed)
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
    """Writes a row for each change of the largest expiry of an edge.

    The row has the new expiry if it grew, and ``~expiry`` if it shrank (``~0`` if no row of the
    edge remains). ``out`` has room for all rows.
    """
    columns, ts, exp = batch.columns, batch.ts, batch.exp
    while h[ROW] < ts.shape[0]:
        i = h[ROW]
        now = ts[i]
        if is_due(held, now):
            return SWEEP_DUE
        hashed = hash_in(columns, i, held.columns)
        first = first_of(held, columns, i, held.columns, hashed)
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

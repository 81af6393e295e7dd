"""Semi-join over streams with deletions.

Both inputs are bags (:mod:`headrace.executor.kernels.bag`): the left rows by their key, and the
keys of the right rows. A set holds the *reach* of each key, the latest expiry of its right rows.

A left entry with copies gives a row up to the earlier of its expiry and the reach of its key. The
*open row* of an entry is the one that it emitted last. Where another is due, the other one is
emitted, then the open one retracted, so that the value stays valid for operators that hold bags.
So the state is a function of the valid rows. Entries stay in the chain of their key until they
expire, since a reach may shrink again.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from . import bag
from .compiling import kernel
from .rows import (
    COPIES,
    EXPIRY,
    NEXT,
    REPORTED,
    Input,
    Rows,
    find_row,
    first_of,
    hash_in,
    insert,
    is_due,
    row_at,
)
from .stops import DONE, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun on each side; of the right row whose partners are visited, the new reach of
# its key and the next partner; results written.
LEFT_ROW, RIGHT_ROW, REACH, PARTNER, OUT, HEADER_FIELDS = range(6)

OPEN = REPORTED
"""The field of a left entry with the expiry of its open row, 0 without one."""


class Stores(NamedTuple):
    """The state of the operator.

    Attributes:
        held: the left rows, a bag.
        keys: the keys of the right rows, a bag.
        reaches: the set of these keys, each with its reach as its expiry.
    """

    held: Rows
    keys: Rows
    reaches: Rows


@kernel
def _reach_row(reaches: Rows, columns: IntArray, i: int, key_columns: IntArray) -> int:
    """The row of the reach of batch row ``i``, or EMPTY."""
    hashed = hash_in(columns, i, key_columns)
    slot = find_row(reaches.values, reaches.rows, reaches.columns, columns, i, key_columns, hashed)
    return row_at(reaches.values, slot)


@kernel
def _open_until(held: Rows, row: int, now: int, until: int, out: IntArray, written: int) -> int:
    """Makes the open row of an entry last until ``until``, without one if ``until`` is past.

    Returns the rows written in total; at most two are added.
    """
    at = held.columns.shape[0] + OPEN
    opened = held.rows[row, at]
    if until <= now:
        until = 0
    held.rows[row, at] = until
    if until == opened:
        return written
    if until != 0:
        bag.write(held, row, now, until, out, written)
        written += 1
    if opened > now:
        bag.write(held, row, now, ~opened, out, written)
        written += 1
    return written


@kernel
def _enter_left(stores: Stores, batch: Input, i: int, out: IntArray, written: int) -> int:
    """Adds or takes back a left row; returns the rows written in total."""
    held, columns, now, exp = stores.held, batch.columns, batch.ts[i], batch.exp[i]
    if exp >= 0:
        row = bag.add(held, columns, i, exp)
        at = _reach_row(stores.reaches, columns, i, held.key_columns)
        if at == EMPTY:
            return written
        reach = stores.reaches.rows[at, stores.reaches.columns.shape[0] + EXPIRY]
        return _open_until(held, row, now, min(exp, reach), out, written)
    row = bag.take(held, columns, i, ~exp)
    if row == EMPTY or held.rows[row, held.columns.shape[0] + COPIES] != 0:
        return written
    return _open_until(held, row, now, 0, out, written)


@kernel
def _enter_right(h: IntArray, stores: Stores, batch: Input, j: int) -> None:
    """Changes the reach of a key, and finds its first left entry if the reach is another."""
    held, keys, reaches = stores.held, stores.keys, stores.reaches
    columns, now, exp = batch.columns, batch.ts[j], batch.exp[j]
    hashed = hash_in(columns, j, keys.columns)
    if exp >= 0:
        _ = bag.add(keys, columns, j, exp)
        if insert(reaches, columns, j, exp, exp, hashed) >= exp:
            return
        h[REACH] = exp
    else:
        entry = bag.take(keys, columns, j, ~exp)
        at = _reach_row(reaches, columns, j, keys.columns)
        if EMPTY in (entry, at):
            return
        first = first_of(keys, columns, j, keys.columns, hashed)
        field = reaches.columns.shape[0] + EXPIRY
        # Shorter rows, and further copies, leave the reach as it is.
        if ~exp < reaches.rows[at, field] or keys.rows[entry, keys.columns.shape[0] + COPIES] != 0:
            return
        h[REACH] = reaches.rows[at, field] = bag.latest(keys, first, COPIES, now)
    h[PARTNER] = first_of(held, columns, j, keys.columns, hashed)


@kernel
def _visit(h: IntArray, held: Rows, now: int, out: IntArray) -> bool:
    """Compares the left entries of a key with its new reach; False when ``out`` is full."""
    rows, width = held.rows, held.columns.shape[0]
    while h[PARTNER] != EMPTY:
        if h[OUT] + 2 > out.shape[1]:
            return False
        row = h[PARTNER]
        if rows[row, width + COPIES] != 0:
            until = min(rows[row, width + EXPIRY], h[REACH])
            h[OUT] = _open_until(held, row, now, until, out, h[OUT])
        h[PARTNER] = rows[row, width + NEXT]
    return True


@kernel
def advance(h: IntArray, stores: Stores, left: Input, right: Input, out: IntArray) -> int:
    """Reads both batches, merged by ts, left first; resumes from the header.

    ``right`` has the key columns alone, in the order of the columns of the left key. The rows
    written have all left columns.
    """
    while True:
        if h[PARTNER] != EMPTY and not _visit(h, stores.held, right.ts[h[RIGHT_ROW] - 1], out):
            return OUT_FULL
        i, j = h[LEFT_ROW], h[RIGHT_ROW]
        if i < left.ts.shape[0] and (j == right.ts.shape[0] or left.ts[i] <= right.ts[j]):
            if is_due(stores.held, left.ts[i]):
                return SWEEP_DUE
            if h[OUT] + 2 > out.shape[1]:
                return OUT_FULL
            h[LEFT_ROW] += 1
            h[OUT] = _enter_left(stores, left, i, out, h[OUT])
        elif j < right.ts.shape[0]:
            if is_due(stores.keys, right.ts[j]) or is_due(stores.reaches, right.ts[j]):
                return RIGHT_SWEEP_DUE
            h[RIGHT_ROW] += 1
            _enter_right(h, stores, right, j)
        else:
            return DONE

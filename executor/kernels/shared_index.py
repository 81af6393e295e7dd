"""The arriving rows of an index that several operators read.

The index takes in a batch once (:func:`absorb`) and logs what each row changes. Each reader then
undoes the changes (:func:`rewind`) and makes them again, row by row, as it comes to the rows
(:func:`repeat`). So a reader meets the same state as with an index of its own. To make a change
again is one write; to look a row up and to link it takes several reads.

A row that is not there yet, or no longer, has an expiry in the past, or no copies in a bag.
Look-ups pass over it. No row leaves the index before all readers are done.
"""

from __future__ import annotations

from ..batch import IntArray
from . import bag
from .compiling import kernel
from .rows import (
    COPIES,
    EXPIRY,
    IS_BAG,
    UNTIL,
    Input,
    Rows,
    append,
    find_value,
    hash_in,
    row_at,
)
from .store import COUNT
from .tables import EMPTY

# Fields of the log: the row of the store that an arriving row changes, and its expiry before.
CHANGED, BEFORE, LOG_FIELDS = range(3)

# Instead of a row: the arriving row changes nothing; it is not held, but still joined.
NOTHING, PASSING = -1, -2


@kernel
def absorb(held: Rows, batch: Input, until: IntArray, log: IntArray, first: int) -> int:
    """Takes rows in from ``first`` on; returns the number of the row that finds the store full."""
    columns, rows, h = batch.columns, held.rows, held.header
    width, is_bag = held.columns.shape[0], h[IS_BAG] != 0
    for i in range(first, batch.ts.shape[0]):
        if h[COUNT] == rows.shape[0]:
            return i
        exp = batch.exp[i]
        if is_bag:
            if exp >= 0:
                log[CHANGED, i] = bag.add(held, columns, i, exp)
            else:
                log[CHANGED, i] = bag.take(held, columns, i, ~exp)
            continue
        if until[i] <= batch.ts[i]:
            log[CHANGED, i] = PASSING
            continue
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = row_at(held.values, slot)
        log[CHANGED, i], log[BEFORE, i] = row, EMPTY
        if row == EMPTY:
            key_hash = hash_in(columns, i, held.key_columns)
            log[CHANGED, i] = row = append(held, columns, i, exp, hashed, slot, key_hash)
        elif rows[row, width + EXPIRY] >= exp:
            log[CHANGED, i] = NOTHING
            continue
        else:
            log[BEFORE, i] = rows[row, width + EXPIRY]
        rows[row, width + EXPIRY] = exp
        rows[row, h[UNTIL]] = until[i]
    return batch.ts.shape[0]


@kernel
def rewind(held: Rows, exp: IntArray, log: IntArray) -> None:
    """Undoes the changes of all rows of a batch, the last one first."""
    rows, width = held.rows, held.columns.shape[0]
    for k in range(exp.shape[0]):
        i = exp.shape[0] - 1 - k
        row = log[CHANGED, i]
        if row >= 0:
            if held.header[IS_BAG] == 0:
                rows[row, width + EXPIRY] = log[BEFORE, i]
            elif exp[i] >= 0:
                rows[row, width + COPIES] -= 1
            else:
                rows[row, width + COPIES] += 1


@kernel
def expiry_before(held: Rows, log: IntArray, i: int) -> int:
    """The expiry that row ``i`` of the batch had before it came again; 0 for a new row, and in a
    bag, where each copy counts."""
    if held.header[IS_BAG] != 0 or log[CHANGED, i] < 0:
        return 0
    return max(0, log[BEFORE, i])


@kernel
def repeat(held: Rows, exp: int, log: IntArray, i: int) -> None:
    """Makes the change of row ``i`` of the batch, whose expiry is ``exp``, again."""
    row, width = log[CHANGED, i], held.columns.shape[0]
    if row >= 0:
        if held.header[IS_BAG] == 0:
            held.rows[row, width + EXPIRY] = exp
        elif exp >= 0:
            held.rows[row, width + COPIES] += 1
        else:
            held.rows[row, width + COPIES] -= 1

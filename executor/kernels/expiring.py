"""Distinct values with their expiry, and a queue of them: for operators at the root of a plan.

A value is a row of a store without chains (:mod:`headrace.executor.kernels.rows`). It is *valid*
while it is in the queue. A value that is not valid stays in the store until its operator removes
it.

The queue is a binary heap of pairs (expiry, row) from position 1 on; its first field has the number
of pairs. The validity of a value may grow while the pair keeps the earlier expiry:
:func:`first_expiry` corrects the pair on top.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import EXPIRY, SET_FIELDS, Rows, append, find_value, hash_in, row_at
from .tables import EMPTY

# Fields of a row: its position in the queue, 0 if the value is not valid; and two that belong to
# the operator, 0 in a new row.
QUEUED, FIRST_OWN, SECOND_OWN, EXPIRING_FIELDS = range(SET_FIELDS, SET_FIELDS + 4)


class Expiring(NamedTuple):
    """The arrays of the values.

    Attributes:
        held: the store of the values.
        queue: int64[1 + capacity of the store, 2].
    """

    held: Rows
    queue: IntArray


@kernel
def row_of(values: Expiring, columns: IntArray, i: int) -> int:
    """The row of the value of batch row ``i``, or EMPTY."""
    held = values.held
    return row_at(held.values, find_value(held, columns, i, hash_in(columns, i, held.columns)))


@kernel
def new_row(values: Expiring, columns: IntArray, i: int) -> int:
    """Holds the value of batch row ``i``, which is not held; there is room for it."""
    held = values.held
    hashed = hash_in(columns, i, held.columns)
    row = append(held, columns, i, 0, hashed, find_value(held, columns, i, hashed), 0)
    for field in range(QUEUED, EXPIRING_FIELDS):
        held.rows[row, held.columns.shape[0] + field] = 0
    return row


@kernel
def is_valid(values: Expiring, row: int) -> bool:
    """Whether a held value is valid."""
    return values.held.rows[row, values.held.columns.shape[0] + QUEUED] != 0


@kernel
def extend(values: Expiring, row: int, expiry: int) -> None:
    """Extends the validity of a valid value to ``expiry`` at least."""
    at = values.held.columns.shape[0] + EXPIRY
    values.held.rows[row, at] = max(expiry, values.held.rows[row, at])


@kernel
def enqueue(values: Expiring, row: int, expiry: int) -> None:
    """Makes a held value valid until ``expiry``."""
    queue = values.queue
    values.held.rows[row, values.held.columns.shape[0] + EXPIRY] = expiry
    queue[0, 0] += 1
    _move_up(values, queue[0, 0], expiry, row)


@kernel
def dequeue(values: Expiring, row: int) -> None:
    """Makes a valid value invalid; the value remains held."""
    rows, queue, queued = values.held.rows, values.queue, values.held.columns.shape[0] + QUEUED
    at, last = rows[row, queued], queue[0, 0]
    rows[row, queued] = 0
    queue[0, 0] -= 1
    if at != last:
        expiry, moved = queue[last, 0], queue[last, 1]
        if at > 1 and queue[at >> 1, 0] > expiry:
            _move_up(values, at, expiry, moved)
        else:
            _move_down(values, at, expiry, moved)


@kernel
def first_expiry(values: Expiring) -> int:
    """The smallest expiry of the valid values; FOREVER if none expires."""
    rows, queue, at = values.held.rows, values.queue, values.held.columns.shape[0] + EXPIRY
    while queue[0, 0] > 0:
        row = queue[1, 1]
        expiry = rows[row, at]
        if expiry == queue[1, 0]:
            return expiry
        _move_down(values, 1, expiry, row)
    return FOREVER


@kernel
def dequeue_first(values: Expiring) -> int:
    """Makes the value on top of the queue invalid, and returns its row."""
    row = values.queue[1, 1]
    dequeue(values, row)
    return row


@kernel
def last_expiry(values: Expiring, otherwise: int) -> int:
    """The largest expiry before FOREVER of the valid values; ``otherwise`` if none expires."""
    rows, at = values.held.rows, values.held.columns.shape[0] + EXPIRY
    last = EMPTY
    for place in range(1, values.queue[0, 0] + 1):
        expiry = rows[values.queue[place, 1], at]
        if expiry < FOREVER:
            last = max(last, expiry)
    return otherwise if last == EMPTY else last


@kernel
def _move_up(values: Expiring, at: int, expiry: int, row: int) -> None:
    queue = values.queue
    while at > 1 and queue[at >> 1, 0] > expiry:
        _place(values, at, queue[at >> 1, 0], queue[at >> 1, 1])
        at >>= 1
    _place(values, at, expiry, row)


@kernel
def _move_down(values: Expiring, at: int, expiry: int, row: int) -> None:
    queue, count = values.queue, values.queue[0, 0]
    while 2 * at <= count:
        below = 2 * at
        if below < count and queue[below + 1, 0] < queue[below, 0]:
            below += 1
        if queue[below, 0] >= expiry:
            break
        _place(values, at, queue[below, 0], queue[below, 1])
        at = below
    _place(values, at, expiry, row)


@kernel
def _place(values: Expiring, at: int, expiry: int, row: int) -> None:
    values.queue[at, 0], values.queue[at, 1] = expiry, row
    values.held.rows[row, values.held.columns.shape[0] + QUEUED] = at

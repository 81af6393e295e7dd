"""Distinct values with their expiry, and a queue of them: for operators at the root of a plan.

A value is *valid* while it is in the queue. A value that is not valid stays in the store until its
operator removes it.

A value takes few bytes, since an operator may hold all rows of a long window: 4 for each column (a
code fits into 32 bits, see :class:`headrace.executor.dictionary.Dictionary`), 8 for the expiry, 8
for its neighbours in the queue, 8 for each field of the operator, and 11 to 21 for its slot in an
index as in :mod:`headrace.executor.kernels.rows`.

The valid values of one expiry are a *bucket*, a list with links both ways. The queue is a binary
heap of pairs (expiry, bucket) from position 1 on. So a value comes and goes without a look at the
others, and the queue is as long as there are different expiries. A bucket without values stays
until it is the first, or until the queue is full. A small table has buckets by the hash of their
expiry; where another expiry has taken the place of one there, two buckets have the same expiry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..batch import FOREVER, IntArray
from .compiling import kernel
from .rows import ROW_BITS, ROW_MASK, hash_in, slot_of, vacate
from .tables import EMPTY, mixed

SmallIntArray = NDArray[np.int32]

# The header: the values held; the number of rows from which on none was ever used, and the first
# free row below; the pairs in the queue; and the same of buckets as of rows.
COUNT, TOP, FREE, QUEUED, BUCKETS, FREE_BUCKET, HEADER_FIELDS = range(7)

# The links of a value: the next value of its bucket, and the one before. The first of a bucket has
# _FIRST less the number of the bucket. A free row has the next free row as NEXT.
NEXT, PREVIOUS, LINKS = range(3)
_NOT_VALID, FREED, _FIRST = -1, -2, -3


class Expiring(NamedTuple):
    """The arrays of the values.

    Attributes:
        header: int64[HEADER_FIELDS].
        numbers: the numbers of the columns, from 0.
        columns: int32[capacity, width].
        until: int64[capacity]: the expiry of each value.
        links: int32[capacity, LINKS].
        own: int64[capacity, fields]: what the operator notes of each value, 0 in a new one.
        slots: the index: 32 bits of the hash of a value above its row, or EMPTY.
        queue: int64[1 + most buckets, 2]: pairs of an expiry and a bucket.
        firsts: int32[most buckets]: the first value of each bucket, EMPTY without one; of a free
            bucket the next free one.
        recent: int64[a power of two, 2]: pairs of an expiry and its bucket, by hash; the bucket
            is EMPTY where none is known.
    """

    header: IntArray
    numbers: IntArray
    columns: SmallIntArray
    until: IntArray
    links: SmallIntArray
    own: IntArray
    slots: IntArray
    queue: IntArray
    firsts: SmallIntArray
    recent: IntArray


# -- the store -------------------------------------------------------------------------------------


@kernel
def is_full(values: Expiring) -> bool:
    """Whether another value, or another expiry, has no space."""
    h = values.header
    return h[COUNT] == values.until.shape[0] or h[QUEUED] == values.firsts.shape[0]


@kernel
def row_with(values: Expiring, columns: IntArray, i: int, sought: IntArray) -> int:
    """The row of the value that equals columns ``sought`` of batch row ``i``, or EMPTY."""
    index, hashed = values.slots, hash_in(columns, i, sought)
    mask = index.shape[0] - 1
    slot, tag = hashed & mask, hashed << ROW_BITS
    while index[slot] != EMPTY:
        if (index[slot] ^ tag) >> ROW_BITS == 0:
            row = index[slot] & ROW_MASK
            equal = True
            for j in range(sought.shape[0]):
                equal &= values.columns[row, j] == columns[sought[j], i]
            if equal:
                return row
        slot = (slot + 1) & mask
    return EMPTY


@kernel
def row_of(values: Expiring, columns: IntArray, i: int) -> int:
    """The row of the value of batch row ``i``, or EMPTY."""
    return row_with(values, columns, i, values.numbers)


@kernel
def new_row(values: Expiring, columns: IntArray, i: int) -> int:
    """Holds the value of batch row ``i``, which is not held; there is room for it."""
    h, index = values.header, values.slots
    row = h[FREE]
    if row == EMPTY:
        row = h[TOP]
        h[TOP] += 1
    else:
        h[FREE] = values.links[row, NEXT]
    h[COUNT] += 1
    hashed, mask = hash_in(columns, i, values.numbers), index.shape[0] - 1
    slot = hashed & mask
    while index[slot] != EMPTY:
        slot = (slot + 1) & mask
    index[slot] = (hashed << ROW_BITS) | row
    for j in range(values.columns.shape[1]):
        values.columns[row, j] = columns[j, i]
    for field in range(values.own.shape[1]):
        values.own[row, field] = 0
    values.links[row, NEXT], values.links[row, PREVIOUS] = EMPTY, _NOT_VALID
    return row


@kernel
def remove(values: Expiring, row: int) -> None:
    """Drops a value that is not valid; its row is free."""
    h, hashed = values.header, 0
    for j in range(values.columns.shape[1]):
        hashed = mixed(hashed + values.columns[row, j])
    vacate(values.slots, slot_of(values.slots, hashed, row))
    values.links[row, NEXT], values.links[row, PREVIOUS] = h[FREE], FREED
    h[FREE] = row
    h[COUNT] -= 1


# -- the queue -------------------------------------------------------------------------------------


@kernel
def is_valid(values: Expiring, row: int) -> bool:
    """Whether a held value is valid; false for a free row."""
    before = values.links[row, PREVIOUS]
    return before >= 0 or before <= _FIRST


@kernel
def enqueue(values: Expiring, row: int, expiry: int) -> None:
    """Makes a held value valid until ``expiry``; there is room for its bucket."""
    links, firsts, bucket = values.links, values.firsts, _bucket_of(values, expiry)
    values.until[row] = expiry
    after = firsts[bucket]
    if after != EMPTY:
        links[after, PREVIOUS] = row
    links[row, NEXT], links[row, PREVIOUS] = after, _FIRST - bucket
    firsts[bucket] = row


@kernel
def dequeue(values: Expiring, row: int) -> None:
    """Makes a valid value invalid; the value remains held."""
    links = values.links
    before, after = links[row, PREVIOUS], links[row, NEXT]
    if after != EMPTY:
        links[after, PREVIOUS] = before
    if before >= 0:
        links[before, NEXT] = after
    else:
        values.firsts[_FIRST - before] = after
    links[row, NEXT], links[row, PREVIOUS] = EMPTY, _NOT_VALID


@kernel
def extend(values: Expiring, row: int, expiry: int) -> None:
    """Extends the validity of a valid value to ``expiry`` at least; there is room for a bucket."""
    if expiry > values.until[row]:
        dequeue(values, row)
        enqueue(values, row, expiry)


@kernel
def first_expiry(values: Expiring) -> int:
    """The smallest expiry of the valid values; FOREVER if none expires."""
    queue = values.queue
    while values.header[QUEUED] > 0:
        if values.firsts[queue[1, 1]] != EMPTY:
            return queue[1, 0]
        _free_bucket(values, queue[1, 0], queue[1, 1])
        last = values.header[QUEUED]
        values.header[QUEUED] -= 1
        _move_down(values, 1, queue[last, 0], queue[last, 1])
    return FOREVER


@kernel
def dequeue_first(values: Expiring) -> int:
    """Makes a value that expires at :func:`first_expiry` invalid, and returns its row."""
    row = int(np.int64(values.firsts[values.queue[1, 1]]))  # callees would compile for int32 too
    dequeue(values, row)
    return row


@kernel
def last_expiry(values: Expiring, otherwise: int) -> int:
    """The largest expiry before FOREVER of the valid values; ``otherwise`` if none expires."""
    last = EMPTY
    for at in range(1, values.header[QUEUED] + 1):
        expiry = values.queue[at, 0]
        if expiry < FOREVER and values.firsts[values.queue[at, 1]] != EMPTY:
            last = max(last, expiry)
    return otherwise if last == EMPTY else last


@kernel
def drop_empty_buckets(values: Expiring) -> int:
    """Takes the buckets without values out of the queue; returns the number of the others."""
    queue, kept = values.queue, 0
    for at in range(1, values.header[QUEUED] + 1):
        expiry, bucket = queue[at, 0], queue[at, 1]
        if values.firsts[bucket] == EMPTY:
            _free_bucket(values, expiry, bucket)
        else:
            kept += 1
            queue[kept, 0], queue[kept, 1] = expiry, bucket
    values.header[QUEUED] = kept
    for at in range(kept >> 1, 0, -1):
        _move_down(values, at, queue[at, 0], queue[at, 1])
    return kept


@kernel
def _bucket_of(values: Expiring, expiry: int) -> int:
    """A bucket of an expiry; a new one if none is known."""
    h, recent, queue = values.header, values.recent, values.queue
    place = mixed(expiry) & (recent.shape[0] - 1)
    if recent[place, 0] == expiry and recent[place, 1] != EMPTY:
        return recent[place, 1]
    bucket = h[FREE_BUCKET]
    if bucket == EMPTY:
        bucket = h[BUCKETS]
        h[BUCKETS] += 1
    else:
        h[FREE_BUCKET] = values.firsts[bucket]
    values.firsts[bucket] = EMPTY
    recent[place, 0], recent[place, 1] = expiry, bucket
    h[QUEUED] += 1
    at = h[QUEUED]
    while at > 1 and queue[at >> 1, 0] > expiry:
        queue[at, 0], queue[at, 1] = queue[at >> 1, 0], queue[at >> 1, 1]
        at >>= 1
    queue[at, 0], queue[at, 1] = expiry, bucket
    return bucket


@kernel
def _free_bucket(values: Expiring, expiry: int, bucket: int) -> None:
    """Makes a bucket without values free; the caller takes it out of the queue."""
    recent = values.recent
    place = mixed(expiry) & (recent.shape[0] - 1)
    if recent[place, 1] == bucket:
        recent[place, 1] = EMPTY
    values.firsts[bucket] = values.header[FREE_BUCKET]
    values.header[FREE_BUCKET] = bucket


@kernel
def _move_down(values: Expiring, at: int, expiry: int, bucket: int) -> None:
    """Puts a pair at a position of the queue, or below while an earlier one is there."""
    queue, count = values.queue, values.header[QUEUED]
    while 2 * at <= count:
        below = 2 * at
        if below < count and queue[below + 1, 0] < queue[below, 0]:
            below += 1
        if queue[below, 0] >= expiry:
            break
        queue[at, 0], queue[at, 1] = queue[below, 0], queue[below, 1]
        at = below
    queue[at, 0], queue[at, 1] = expiry, bucket

"""Left join: gives the pairs of two inputs, and a left row while it has no partner.

All changes of one instant count together. A row of either side is joined when it is read, and emits
its pairs. A left row is *covered* until the largest expiry of the partners that it has met. So it
begins to be alone where its cover ends, unless another partner came in time: the queue has the
instant at which each such row is to be looked at next, and a row without a partner is looked at
when the instant of its arrival is over. A row that is alone is *open*, and a partner retracts it.

Both sides hold each value once with its largest expiry. Times are not negative.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .heap import pop, push
from .rows import (
    EXPIRY,
    FREED,
    NEXT,
    PREVIOUS,
    SET_FIELDS,
    TOP,
    Input,
    Rows,
    append,
    find_value,
    first_of,
    hash_in,
    insert,
    is_due,
    row_at,
)
from .stops import DONE, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun on each side, the side of the current row, its expiry before it came again,
# its next partner; the number of
# the current left row and how long it is covered; the present instant; the length of the queue;
# results written.
(
    LEFT_ROW, RIGHT_ROW, IN_WORK, BEFORE, PARTNER, CURRENT, COVERED, NOW, QUEUED, OUT,
    HEADER_FIELDS,
) = range(11)  # fmt: skip
_FROM_LEFT, _FROM_RIGHT = 1, 2

# Further fields of a left row: the expiry of its open row, 0 without one; until when partners cover
# it; and its instant in the queue, EMPTY outside.
_OPEN, _COVER, _LOOK_AT, LEFT_FIELDS = range(SET_FIELDS, SET_FIELDS + 4)


class LeftJoins(NamedTuple):
    """The state of the operator.

    Attributes:
        header: int64[HEADER_FIELDS].
        left: the left rows by key, with :data:`LEFT_FIELDS` fields.
        right: the right rows by key.
        queue: int64[capacity of ``left``, 2]: a heap of pairs (minus the instant, left row).
        own: the right columns of a result, behind the left ones.
        missing: int64[1], the code of a missing value.
    """

    header: IntArray
    left: Rows
    right: Rows
    queue: IntArray
    own: IntArray
    missing: IntArray


@kernel
def advance(state: LeftJoins, left: Input, right: Input, until: int, out: IntArray) -> int:
    """Joins both batches, merged by ts, left first, and looks at the rows of all instants before
    ``until`` and before the last row; resumes from the header.

    The sides are swept only between two rows. FOREVER is the end of the input.
    """
    h = state.header
    while True:
        if h[IN_WORK] == _FROM_LEFT:
            if not _meet_right_rows(state, left, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        elif h[IN_WORK] == _FROM_RIGHT:
            if not _meet_left_rows(state, right, out):
                return OUT_FULL
            h[IN_WORK] = EMPTY
        i, j = h[LEFT_ROW], h[RIGHT_ROW]
        more_right = j < right.ts.shape[0]
        if i < left.ts.shape[0] and (not more_right or left.ts[i] <= right.ts[j]):
            h[NOW] = left.ts[i]
            if not _look(state, h[NOW], out):
                return OUT_FULL
            if is_due(state.left, h[NOW]):
                return SWEEP_DUE
            h[LEFT_ROW] += 1
            if _enter_left(state, left, i):
                h[IN_WORK] = _FROM_LEFT
        elif more_right:
            h[NOW] = right.ts[j]
            if not _look(state, h[NOW], out):
                return OUT_FULL
            if is_due(state.right, h[NOW]):
                return RIGHT_SWEEP_DUE
            h[RIGHT_ROW] += 1
            if _enter_right(state, right, j):
                h[IN_WORK] = _FROM_RIGHT
        else:
            return DONE if _look(state, until, out) else OUT_FULL


@kernel
def _enter_left(state: LeftJoins, batch: Input, i: int) -> bool:
    """Holds a left row and finds its first partner; False if it is held with this expiry."""
    h, held = state.header, state.left
    width, columns = held.columns.shape[0], batch.columns
    hashed = hash_in(columns, i, held.columns)
    slot = find_value(held, columns, i, hashed)
    row = row_at(held.values, slot)
    key_hash = hash_in(columns, i, held.key_columns)
    h[BEFORE] = 0
    if row == EMPTY:
        row = append(held, columns, i, batch.exp[i], hashed, slot, key_hash)
        held.rows[row, width + _OPEN] = 0
        held.rows[row, width + _LOOK_AT] = EMPTY
    else:
        h[BEFORE] = held.rows[row, width + EXPIRY]
        if h[BEFORE] >= batch.exp[i]:
            return False
    held.rows[row, width + EXPIRY] = batch.exp[i]
    h[CURRENT], h[COVERED] = row, h[NOW]
    h[PARTNER] = first_of(state.right, columns, i, held.key_columns, key_hash)
    return True


@kernel
def _enter_right(state: LeftJoins, batch: Input, j: int) -> bool:
    """Holds a right row and finds its first partner; False if it is held with this expiry."""
    h, held, columns, expiry = state.header, state.right, batch.columns, batch.exp[j]
    key_hash = hash_in(columns, j, held.key_columns)
    h[BEFORE] = insert(held, columns, j, expiry, expiry, key_hash)
    if h[BEFORE] >= expiry:
        return False
    h[PARTNER] = first_of(state.left, columns, j, held.key_columns, key_hash)
    return True


@kernel
def _meet_right_rows(state: LeftJoins, batch: Input, out: IntArray) -> bool:
    """Writes the pairs of the current left row; False if ``out`` is full."""
    h, left, right = state.header, state.left, state.right
    width, others, own = left.columns.shape[0], right.columns.shape[0], state.own
    now, i = h[NOW], h[LEFT_ROW] - 1
    while h[PARTNER] != EMPTY:
        partner = h[PARTNER]
        there = right.rows[partner, others + EXPIRY]
        if there > max(now, h[BEFORE]):
            at = h[OUT]
            if at == out.shape[1]:
                return False
            for column in range(width):
                out[column, at] = batch.columns[column, i]
            for column in range(own.shape[0]):
                out[width + column, at] = right.rows[partner, own[column]]
            _write_times(out, at, now, min(batch.exp[i], there))
            h[OUT] += 1
        h[COVERED] = max(h[COVERED], there)
        h[PARTNER] = right.rows[partner, others + NEXT]
    left.rows[h[CURRENT], width + _COVER] = h[COVERED]
    _enqueue(state, h[CURRENT])
    return True


@kernel
def _meet_left_rows(state: LeftJoins, batch: Input, out: IntArray) -> bool:
    """Writes the pairs of the current right row, and retracts its partners that were alone; False
    if ``out`` is full."""
    h, left, own = state.header, state.left, state.own
    rows, width = left.rows, left.columns.shape[0]
    now, j = h[NOW], h[RIGHT_ROW] - 1
    expiry = batch.exp[j]
    while h[PARTNER] != EMPTY:
        row = h[PARTNER]
        there = rows[row, width + EXPIRY]
        if there > now:
            if h[OUT] + 2 > out.shape[1]:
                return False
            if rows[row, width + _OPEN] > now:
                _write_alone(state, row, now, ~rows[row, width + _OPEN], out)
            rows[row, width + _OPEN] = 0
            if there > h[BEFORE]:
                at = h[OUT]
                for column in range(width):
                    out[column, at] = rows[row, column]
                for column in range(own.shape[0]):
                    out[width + column, at] = batch.columns[own[column], j]
                _write_times(out, at, now, min(expiry, there))
                h[OUT] += 1
            rows[row, width + _COVER] = max(rows[row, width + _COVER], expiry)
            _enqueue(state, row)
        h[PARTNER] = rows[row, width + NEXT]
    return True


@kernel
def _enqueue(state: LeftJoins, row: int) -> None:
    """Looks at a left row when its cover ends, if it does not expire before.

    A row in the queue stays in its place: its cover is seen then.
    """
    h, rows, width = state.header, state.left.rows, state.left.columns.shape[0]
    cover = rows[row, width + _COVER]
    if rows[row, width + _LOOK_AT] == EMPTY and cover < rows[row, width + EXPIRY]:
        rows[row, width + _LOOK_AT] = cover
        push(state.queue, h[QUEUED], -cover, row)
        h[QUEUED] += 1


@kernel
def _look(state: LeftJoins, until: int, out: IntArray) -> bool:
    """Emits the left rows that are alone from an instant before ``until`` on; False if ``out`` is
    full. A row in the queue does not expire before its instant."""
    h, rows, width, queue = state.header, state.left.rows, state.left.columns.shape[0], state.queue
    while h[QUEUED] > 0 and -queue[0, 0] < until:
        if h[OUT] + 2 > out.shape[1]:
            return False
        now, row = -queue[0, 0], queue[0, 1]
        pop(queue, h[QUEUED])
        h[QUEUED] -= 1
        rows[row, width + _LOOK_AT] = EMPTY
        if rows[row, width + _COVER] > now:
            _enqueue(state, row)
            continue
        expiry, opened = rows[row, width + EXPIRY], rows[row, width + _OPEN]
        # The new row comes first, so that the value stays valid for consumers that count rows.
        _write_alone(state, row, now, expiry, out)
        if opened > now:
            _write_alone(state, row, now, ~opened, out)
        rows[row, width + _OPEN] = expiry
    return True


@kernel
def _write_alone(state: LeftJoins, row: int, ts: int, exp: int, out: IntArray) -> None:
    """Writes a left row with missing values; there is room."""
    at, width = state.header[OUT], state.left.columns.shape[0]
    for column in range(width):
        out[column, at] = state.left.rows[row, column]
    for column in range(state.own.shape[0]):
        out[width + column, at] = state.missing[0]
    _write_times(out, at, ts, exp)
    state.header[OUT] += 1


@kernel
def _write_times(out: IntArray, at: int, ts: int, exp: int) -> None:
    out[out.shape[0] - 2, at], out[out.shape[0] - 1, at] = ts, exp


@kernel
def requeue(left: Rows, queue: IntArray) -> None:
    """Fills an empty queue anew, after the left rows have moved."""
    width, size = left.columns.shape[0], 0
    for row in range(left.header[TOP]):
        held = left.rows[row, width + PREVIOUS] != FREED
        if held and left.rows[row, width + _LOOK_AT] != EMPTY:
            push(queue, size, -left.rows[row, width + _LOOK_AT], row)
            size += 1

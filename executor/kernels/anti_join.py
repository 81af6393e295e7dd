"""Anti-join: gives a row of the left input wherever it is valid and no right row with its key is.

All changes of one instant count together. A call reads whole instants: those of both batches, and
those at which a key of the right input expires. At each instant it applies all changes first, then
compares each left row that they concern with the *open* row, the one emitted last: a row begins, is
retracted, or takes the place of an open row with another expiry. So no row is emitted that a later
change of its instant takes away, and the state is a function of the valid rows.

The left rows are held by key. The right rows are held as their keys alone, in a queue by expiry
(:mod:`headrace.executor.kernels.expiring`). A retraction ends the validity of its value, as over
coalesced inputs.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from .compiling import kernel
from .expiring import (
    Expiring,
    dequeue,
    dequeue_first,
    enqueue,
    extend,
    first_expiry,
    is_full,
    is_valid,
    new_row,
    remove,
    row_of,
    row_with,
)
from .rows import (
    EXPIRY,
    NEXT,
    SET_FIELDS,
    Input,
    Rows,
    append,
    find_value,
    first_of,
    hash_in,
    row_at,
)
from .stops import DONE, EDGES_FULL, OUT_FULL, RIGHT_SWEEP_DUE, SWEEP_DUE
from .store import COUNT, is_sweep_due
from .tables import EMPTY

# The header: the step within the present instant, and that instant; the first row of each side in
# the instant, and the first one behind it; the current row of the step; the next left row of the
# key that is visited, and whether that key is matched; results written.
(
    STEP, NOW, LEFT_ROW, RIGHT_ROW, LEFT_END, RIGHT_END, ROW, PARTNER, MATCHED, OUT, HEADER_FIELDS,
) = range(11)  # fmt: skip
_BETWEEN, _APPLY_RIGHT, _APPLY_LEFT, _KEYS_READ, _KEYS_EXPIRED, _ROWS_READ = range(6)

# Further field of a left row: the expiry of its open row, 0 without one.
OPEN = SET_FIELDS
LEFT_FIELDS = SET_FIELDS + 1

_WAS_MATCHED, KEY_FIELDS = range(2)
"""The field of a key that says whether it was matched after the last instant that changed it."""


class AntiJoins(NamedTuple):
    """The state of the operator.

    Attributes:
        header: int64[HEADER_FIELDS].
        held: the left rows, with :data:`LEFT_FIELDS` fields.
        keys: the keys of the valid right rows.
        key: int64[columns of the key, 1], space for a key.
    """

    header: IntArray
    held: Rows
    keys: Expiring
    key: IntArray


@kernel
def advance(state: AntiJoins, left: Input, right: Input, until: int, out: IntArray) -> int:
    """Reads both batches and passes all instants before ``until``; resumes from the header.

    ``right`` has the key columns alone, in the order of the columns of the left key. All rows are
    of instants before ``until``. FOREVER is the end of the input.
    """
    h = state.header
    while True:
        step = h[STEP]
        if step == _BETWEEN:
            if not _begin(state, left, right, until):
                return DONE
            if is_sweep_due(state.held.header, h[NOW]):
                return SWEEP_DUE
        elif step == _APPLY_RIGHT:
            if not _apply_right(state, right):
                return RIGHT_SWEEP_DUE
        elif step == _APPLY_LEFT:
            if not _apply_left(state, left):
                return EDGES_FULL
        elif step == _KEYS_READ:
            if not _compare_keys(state, right, out):
                return OUT_FULL
        elif step == _KEYS_EXPIRED:
            if not _expire_keys(state, out):
                return OUT_FULL
        else:
            if not _compare_rows(state, left, out):
                return OUT_FULL
            h[LEFT_ROW], h[RIGHT_ROW] = h[LEFT_END], h[RIGHT_END]
        h[STEP] = (step + 1) % (_ROWS_READ + 1)
        h[ROW] = h[RIGHT_ROW] if h[STEP] in (_APPLY_RIGHT, _KEYS_READ) else h[LEFT_ROW]


@kernel
def _begin(state: AntiJoins, left: Input, right: Input, until: int) -> bool:
    """Begins the next instant; False if none is before ``until``."""
    h = state.header
    i, j = h[LEFT_ROW], h[RIGHT_ROW]
    now = first_expiry(state.keys)
    if i < left.ts.shape[0]:
        now = min(now, left.ts[i])
    if j < right.ts.shape[0]:
        now = min(now, right.ts[j])
    if now >= until:
        return False
    while i < left.ts.shape[0] and left.ts[i] == now:
        i += 1
    while j < right.ts.shape[0] and right.ts[j] == now:
        j += 1
    h[NOW], h[LEFT_END], h[RIGHT_END], h[PARTNER] = now, i, j, EMPTY
    return True


@kernel
def _apply_right(state: AntiJoins, right: Input) -> bool:
    """Changes the expiries of keys; False if the store is full."""
    h, keys = state.header, state.keys
    for j in range(h[ROW], h[RIGHT_END]):
        h[ROW] = j
        if is_full(keys):
            return False
        row, expiry = row_of(keys, right.columns, j), right.exp[j]
        if expiry < 0:
            if row != EMPTY and is_valid(keys, row):
                dequeue(keys, row)
        elif row == EMPTY:
            enqueue(keys, new_row(keys, right.columns, j), expiry)
        elif is_valid(keys, row):
            extend(keys, row, expiry)
        else:
            enqueue(keys, row, expiry)
    return True


@kernel
def _apply_left(state: AntiJoins, left: Input) -> bool:
    """Changes the expiries of left rows; False if the store is full."""
    h, held = state.header, state.held
    width = held.columns.shape[0]
    for i in range(h[ROW], h[LEFT_END]):
        h[ROW] = i
        columns, expiry = left.columns, left.exp[i]
        hashed = hash_in(columns, i, held.columns)
        slot = find_value(held, columns, i, hashed)
        row = row_at(held.values, slot)
        if expiry < 0:
            if row != EMPTY:
                held.rows[row, width + EXPIRY] = 0
        elif row != EMPTY:
            held.rows[row, width + EXPIRY] = max(held.rows[row, width + EXPIRY], expiry)
        else:
            if held.header[COUNT] == held.rows.shape[0]:
                return False
            key_hash = hash_in(columns, i, held.key_columns)
            row = append(held, columns, i, expiry, hashed, slot, key_hash)
            held.rows[row, width + OPEN] = 0
    return True


@kernel
def _compare_keys(state: AntiJoins, right: Input, out: IntArray) -> bool:
    """Compares the left rows of each key that was read and is matched now, or not any more."""
    h, keys, held = state.header, state.keys, state.held
    while True:
        if not _visit(state, out):
            return False
        j = h[ROW]
        if j == h[RIGHT_END]:
            return True
        h[ROW] += 1
        row = row_of(keys, right.columns, j)
        if row == EMPTY:
            continue
        matched = is_valid(keys, row)
        was = keys.own[row, _WAS_MATCHED] != 0
        keys.own[row, _WAS_MATCHED] = 1 if matched else 0
        if not matched:
            remove(keys, row)
        if matched != was:
            hashed = hash_in(right.columns, j, keys.numbers)
            h[PARTNER] = first_of(held, right.columns, j, keys.numbers, hashed)
            h[MATCHED] = 1 if matched else 0


@kernel
def _expire_keys(state: AntiJoins, out: IntArray) -> bool:
    """Removes the keys that expire now, and compares their left rows."""
    h, keys = state.header, state.keys
    while True:
        if not _visit(state, out):
            return False
        if first_expiry(keys) > h[NOW]:
            return True
        row = dequeue_first(keys)
        for j in range(keys.columns.shape[1]):
            state.key[j, 0] = keys.columns[row, j]
        remove(keys, row)
        hashed = hash_in(state.key, 0, keys.numbers)
        h[PARTNER] = first_of(state.held, state.key, 0, keys.numbers, hashed)
        h[MATCHED] = 0


@kernel
def _visit(state: AntiJoins, out: IntArray) -> bool:
    """Compares the other left rows of the visited key; False if ``out`` is full."""
    h, held = state.header, state.held
    width = held.columns.shape[0]
    while h[PARTNER] != EMPTY:
        row = h[PARTNER]
        if not _compare(state, row, h[MATCHED] != 0, out):
            return False
        h[PARTNER] = held.rows[row, width + NEXT]
    return True


@kernel
def _compare_rows(state: AntiJoins, left: Input, out: IntArray) -> bool:
    """Compares each left row that was read; False if ``out`` is full."""
    h, held, keys = state.header, state.held, state.keys
    for i in range(h[ROW], h[LEFT_END]):
        h[ROW] = i
        hashed = hash_in(left.columns, i, held.columns)
        row = row_at(held.values, find_value(held, left.columns, i, hashed))
        if row == EMPTY:
            continue
        key = row_with(keys, left.columns, i, held.key_columns)
        if not _compare(state, row, key != EMPTY, out):
            return False
    return True


@kernel
def _compare(state: AntiJoins, row: int, matched: bool, out: IntArray) -> bool:
    """Emits what differs between a left row and its open row; False if ``out`` is full."""
    h, held = state.header, state.held
    rows, width, now = held.rows, held.columns.shape[0], h[NOW]
    expiry, opened = rows[row, width + EXPIRY], rows[row, width + OPEN]
    if matched or expiry <= now:
        expiry = 0
    if opened <= now:
        opened = 0
    if expiry != opened:
        if h[OUT] + 2 > out.shape[1]:
            return False
        # The new row comes first, so that the value stays valid for consumers that count rows.
        if expiry != 0:
            _write(held, row, now, expiry, out, h[OUT])
            h[OUT] += 1
        if opened != 0:
            _write(held, row, now, ~opened, out, h[OUT])
            h[OUT] += 1
    rows[row, width + OPEN] = expiry
    return True


@kernel
def _write(held: Rows, row: int, ts: int, exp: int, out: IntArray, at: int) -> None:
    width = held.columns.shape[0]
    for j in range(width):
        out[j, at] = held.rows[row, j]
    out[width, at], out[width + 1, at] = ts, exp

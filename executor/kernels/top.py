"""TOP_K: the first rows among the valid rows in an order.

The valid rows lie in two heaps. The *first* heap has the first rows up to the limit, the last of
them on top; the *rest* has the others, the first of them on top. A row that comes is compared with
the last of the first rows alone, and no other row is looked at unless the row is one of the first.

With an offset, the first heap has as many rows more. Each of its rows lies in another heap, too:
the *skipped* rows before the offset, the last of them on top, and the *shown* ones after it, the
first of them on top. Only these are results. Without an offset all of the first heap are shown.

All rows of one instant are one change. A call reads whole instants: those of the batch, and those
at which a row expires. At each instant it applies all changes, then compares each row that was or
is one of the first with the *open* row, the one emitted last: a row begins, is retracted, or is
given anew with another expiry. So the state is a function of the valid rows. A retraction ends the
validity of its value.

A heap has pairs of a *prefix* and a row, from position 1 on. The prefix is a number that rises with
the value of the first column of the order, so that most rows are compared by it alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..batch import IntArray
from . import ordered
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
)
from .rows import Input
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY
from .vertices import BOOLEAN, INTEGER, LENGTH, MISSING, START, STRING

# The header: the rows that the first heap has at most, and those of them that are skipped; the step
# within the present instant, and that instant; the first row of the
# batch in the instant, the first one behind it, and the current one; the rows in each heap; the
# rows that changed at the instant, and the next of them to compare; and the results written.
(
    KEPT, OFFSET, STEP, NOW, BEGIN, END, ROW, FIRSTS, RESTS, SKIPS, SHOWNS, CHANGED, COMPARED, OUT,
    HEADER_FIELDS,
) = range(15)  # fmt: skip
_BETWEEN, _APPLY, _EXPIRE, _COMPARE = range(4)

# Fields of a row: its position in its heap, positive in the first one, negative in the rest, 0 if
# it is not valid; whether it changed at the present instant; the expiry of its open row, 0 without
# one; its prefix; and its position in the other heap of a first row, positive among the shown,
# negative among the skipped, 0 in neither.
_PLACE, _IS_CHANGED, _OPEN, _PREFIX, _SIDE, ROW_FIELDS = range(6)

FIRST, REST, SKIPPED, SHOWN = 0, 1, 2, 3
"""The heaps; the last two only with an offset."""

_STRINGS, _TRUTHS = 0x7FF1 << 48, 0x7FF2 << 48
"""The prefixes of the empty string and of false, above those of all numbers."""
_LAST = (1 << 63) - 1
"""The prefix of a missing value."""


class Tops(NamedTuple):
    """The state of the operator.

    Attributes:
        header: int64[HEADER_FIELDS].
        values: the valid values, with :data:`ROW_FIELDS` fields.
        order: int64[columns, 2]: each column of the rows in the order, and whether it descends.
        heaps: int64[2, 1 + capacity of the store, 2]; with an offset there are four heaps.
        changed: int64[capacity of the store], the rows that changed at the present instant.
        texts: the dictionary's arrays; no nodes.
    """

    header: IntArray
    values: Expiring
    order: IntArray
    heaps: IntArray
    changed: IntArray
    texts: ordered.Nodes


@kernel
def advance(state: Tops, batch: Input, until: int, out: IntArray) -> int:
    """Reads a batch and passes all instants before ``until``; resumes from the header.

    All rows are of instants before ``until``. FOREVER is the end of the input.
    """
    h = state.header
    while True:
        step = h[STEP]
        if step == _BETWEEN:
            if not _begin(state, batch, until):
                return DONE
        elif step == _APPLY:
            if not _apply(state, batch):
                return SWEEP_DUE
        elif step == _EXPIRE:
            while first_expiry(state.values) <= h[NOW]:
                _leave(state, dequeue_first(state.values))
            h[COMPARED] = 0
        else:
            if not _compare(state, out):
                return OUT_FULL
            h[CHANGED], h[BEGIN] = 0, h[END]
        h[STEP] = (step + 1) % (_COMPARE + 1)


@kernel
def _begin(state: Tops, batch: Input, until: int) -> bool:
    """Begins the next instant; False if none is before ``until``."""
    h, i = state.header, state.header[BEGIN]
    now = first_expiry(state.values)
    if i < batch.ts.shape[0]:
        now = min(now, batch.ts[i])
    if now >= until:
        return False
    h[ROW] = i
    while i < batch.ts.shape[0] and batch.ts[i] == now:
        i += 1
    h[NOW], h[END] = now, i
    return True


@kernel
def _apply(state: Tops, batch: Input) -> bool:
    """Takes the rows of the instant; False if the store is full."""
    h, values = state.header, state.values
    for i in range(h[ROW], h[END]):
        h[ROW] = i
        if is_full(values):
            return False
        row, expiry = row_of(values, batch.columns, i), batch.exp[i]
        if expiry < 0:
            if row != EMPTY and is_valid(values, row):
                dequeue(values, row)
                _leave(state, row)
        elif row != EMPTY and is_valid(values, row):
            extend(values, row, expiry)
            if _is_shown(state, row):
                _mark(state, row)
        else:
            if row == EMPTY:
                row = new_row(values, batch.columns, i)
                values.own[row, _PREFIX] = _prefix(state, row)
            enqueue(values, row, expiry)
            _enter(state, row)
    return True


@kernel
def _compare(state: Tops, out: IntArray) -> bool:
    """Emits what differs between the changed rows and their open rows; False if ``out`` is full.

    Removes the rows that are not valid.
    """
    h, values, own, now = state.header, state.values, state.values.own, state.header[NOW]
    for k in range(h[COMPARED], h[CHANGED]):
        h[COMPARED] = k
        row = state.changed[k]
        opened = own[row, _OPEN]
        expiry = values.until[row] if _is_shown(state, row) else 0
        if opened <= now:
            opened = 0
        if expiry != opened:
            if h[OUT] + 2 > out.shape[1]:
                return False
            if opened != 0:
                _write(state, row, ~opened, out)
            if expiry != 0:
                _write(state, row, expiry, out)
        own[row, _OPEN], own[row, _IS_CHANGED] = expiry, 0
        if not is_valid(values, row):
            remove(values, row)
    return True


@kernel
def _write(state: Tops, row: int, exp: int, out: IntArray) -> None:
    h, columns = state.header, state.values.columns
    width = columns.shape[1]
    for j in range(width):
        out[j, h[OUT]] = columns[row, j]
    out[width, h[OUT]], out[width + 1, h[OUT]] = h[NOW], exp
    h[OUT] += 1


# -- the heaps -------------------------------------------------------------------------------------


@kernel
def _is_shown(state: Tops, row: int) -> bool:
    """Whether a row is a result."""
    place = _PLACE if state.header[OFFSET] == 0 else _SIDE
    return state.values.own[row, place] > 0


@kernel
def _enter(state: Tops, row: int) -> None:
    """Puts a row that became valid into its heap; the last of the first rows may go to the rest."""
    h, heaps = state.header, state.heaps
    prefix = state.values.own[row, _PREFIX]
    if h[FIRSTS] < h[KEPT]:
        _push(state, FIRST, prefix, row)
        _include(state, prefix, row)
        return
    last_prefix, last = heaps[FIRST, 1, 0], heaps[FIRST, 1, 1]
    if not _is_before(state, prefix, row, last_prefix, last):
        _push(state, REST, prefix, row)
        return
    _move_down(state, FIRST, 1, prefix, row)
    _push(state, REST, last_prefix, last)
    _include(state, prefix, row)
    _exclude(state, last)


@kernel
def _leave(state: Tops, row: int) -> None:
    """Takes a row that is not valid any more out of its heap; the first of the rest may move up."""
    h, own = state.header, state.values.own
    place = own[row, _PLACE]
    own[row, _PLACE] = 0
    if place > 0:
        _take(state, FIRST, place)
        _exclude(state, row)
        if h[RESTS] > 0:
            prefix, first = state.heaps[REST, 1, 0], state.heaps[REST, 1, 1]
            _take(state, REST, 1)
            _push(state, FIRST, prefix, first)
            _include(state, prefix, first)
    else:
        _take(state, REST, -place)
    if own[row, _IS_CHANGED] == 0:
        remove(state.values, row)


@kernel
def _include(state: Tops, prefix: int, row: int) -> None:
    """Counts a row that came into the first heap among the skipped or the shown rows."""
    h, heaps = state.header, state.heaps
    if h[OFFSET] == 0:
        _mark(state, row)
        return
    if h[SKIPS] < h[OFFSET]:
        _push(state, SKIPPED, prefix, row)
        return
    last_prefix, last = heaps[SKIPPED, 1, 0], heaps[SKIPPED, 1, 1]
    if _is_before(state, prefix, row, last_prefix, last):
        _move_down(state, SKIPPED, 1, prefix, row)
        prefix, row = last_prefix, last
    _push(state, SHOWN, prefix, row)
    _mark(state, row)


@kernel
def _exclude(state: Tops, row: int) -> None:
    """Takes a row that left the first heap out of the skipped or the shown rows."""
    h, own = state.header, state.values.own
    if h[OFFSET] == 0:
        _mark(state, row)
        return
    side = own[row, _SIDE]
    own[row, _SIDE] = 0
    if side > 0:
        _take(state, SHOWN, side)
        _mark(state, row)
        return
    _take(state, SKIPPED, -side)
    if h[SHOWNS] > 0:
        prefix, first = state.heaps[SHOWN, 1, 0], state.heaps[SHOWN, 1, 1]
        _take(state, SHOWN, 1)
        _push(state, SKIPPED, prefix, first)
        _mark(state, first)


@kernel
def _mark(state: Tops, row: int) -> None:
    own = state.values.own
    if own[row, _IS_CHANGED] == 0:
        own[row, _IS_CHANGED] = 1
        state.changed[state.header[CHANGED]] = row
        state.header[CHANGED] += 1


@kernel
def _push(state: Tops, side: int, prefix: int, row: int) -> None:
    """Adds a row to a heap."""
    state.header[FIRSTS + side] += 1
    _move_up(state, side, state.header[FIRSTS + side], prefix, row)


@kernel
def _take(state: Tops, side: int, at: int) -> None:
    """Takes out the row at a position of a heap."""
    heap, last = state.heaps[side], state.header[FIRSTS + side]
    state.header[FIRSTS + side] -= 1
    if at == last:
        return
    prefix, row = heap[last, 0], heap[last, 1]
    if at > 1 and _is_above(state, side, prefix, row, heap[at >> 1, 0], heap[at >> 1, 1]):
        _move_up(state, side, at, prefix, row)
    else:
        _move_down(state, side, at, prefix, row)


@kernel
def _move_up(state: Tops, side: int, at: int, prefix: int, row: int) -> None:
    heap = state.heaps[side]
    while at > 1 and _is_above(state, side, prefix, row, heap[at >> 1, 0], heap[at >> 1, 1]):
        _place(state, side, at, heap[at >> 1, 0], heap[at >> 1, 1])
        at >>= 1
    _place(state, side, at, prefix, row)


@kernel
def _move_down(state: Tops, side: int, at: int, prefix: int, row: int) -> None:
    heap, count = state.heaps[side], state.header[FIRSTS + side]
    while 2 * at <= count:
        below = 2 * at
        if below < count and _is_above(
            state, side, heap[below + 1, 0], heap[below + 1, 1], heap[below, 0], heap[below, 1]
        ):
            below += 1
        if not _is_above(state, side, heap[below, 0], heap[below, 1], prefix, row):
            break
        _place(state, side, at, heap[below, 0], heap[below, 1])
        at = below
    _place(state, side, at, prefix, row)


@kernel
def _place(state: Tops, side: int, at: int, prefix: int, row: int) -> None:
    state.heaps[side, at, 0], state.heaps[side, at, 1] = prefix, row
    place = _PLACE if side in (FIRST, REST) else _SIDE
    state.values.own[row, place] = at if side in (FIRST, SHOWN) else -at


@kernel
def _is_above(state: Tops, side: int, prefix: int, row: int, other_prefix: int, other: int) -> bool:
    """Whether a row belongs above another one: behind it where the last row is on top."""
    if side in (FIRST, SKIPPED):
        return _is_before(state, other_prefix, other, prefix, row)
    return _is_before(state, prefix, row, other_prefix, other)


# -- the order -------------------------------------------------------------------------------------


@kernel
def _is_before(state: Tops, prefix: int, row: int, other_prefix: int, other: int) -> bool:
    """Whether a row comes before another one."""
    if prefix != other_prefix:
        return prefix < other_prefix
    rows, entries = state.values.columns, state.texts.entries
    for k in range(state.order.shape[0]):
        column, descends = state.order[k, 0], state.order[k, 1] != 0
        code, other_code = rows[row, column], rows[other, column]
        if code == other_code:
            continue
        kind, other_kind = (
            min(entries[code, LENGTH], STRING),
            min(entries[other_code, LENGTH], STRING),
        )
        bits, other_bits = entries[code, START], entries[other_code, START]
        if MISSING in (kind, other_kind):
            return other_kind == MISSING
        if kind == STRING:
            bits = code
        if other_kind == STRING:
            other_bits = other_code
        order = ordered.order(state.texts, kind, bits, other_kind, other_bits)
        if order == 0:  # an integer and an equal number
            order = other_kind - kind
        return order > 0 if descends else order < 0
    return False


@kernel
def _prefix(state: Tops, row: int) -> int:
    """The prefix of a row: it is not above that of any row behind it."""
    if state.order.shape[0] == 0:
        return 0
    entries = state.texts.entries
    code = state.values.columns[row, state.order[0, 0]]
    kind, bits = min(entries[code, LENGTH], STRING), entries[code, START]
    if kind == MISSING:
        return _LAST
    if kind == STRING:
        prefix = _STRINGS
        for k in range(min(entries[code, LENGTH], 6)):
            prefix += int(np.int64(state.texts.strings[bits + k]) << (40 - 8 * k))
    elif kind == BOOLEAN:
        prefix = _TRUTHS + bits
    else:
        if kind == INTEGER:
            bits = int(np.float64(bits).view(np.int64))
        prefix = bits ^ 0x7FFFFFFFFFFFFFFF if bits < 0 else bits
    return ~prefix if state.order[0, 1] != 0 else prefix

"""The exact sums of AGGREGATE: of values, of their squares, and of partial sums."""

from __future__ import annotations

from . import exact_sums
from .aggregate_layout import (
    FLOATS,
    HIGH,
    INFINITES,
    LIMBS_FREE,
    LIMBS_TOP,
    LIMBS_USED,
    LINK,
    LOW,
    VALUES,
    Aggregates,
)
from .compiling import kernel
from .tables import EMPTY
from .vertices import INTEGER, LENGTH, NUMBER, START


@kernel
def add_number(
    state: Aggregates, group: int, at: int, kind: int, bits: int, sign: int, squares: bool
) -> None:
    """Adds ``sign`` times a number to a sum, with ``squares`` also its square to that of squares;
    ignores other values."""
    rows = state.groups.rows
    if kind == INTEGER:
        rows[group, at + HIGH] += sign * (bits >> 32)
        rows[group, at + LOW] += sign * (bits & 0xFFFFFFFF)
        if squares:
            exact_sums.add_square(state.limbs, _limbs_of(state, group, at), bits, sign)
    elif kind == NUMBER:
        rows[group, at + FLOATS] += sign
        if exact_sums.is_infinite(bits):
            rows[group, at + INFINITES] += sign
        else:
            link = _limbs_of(state, group, at)
            exact_sums.add_float(state.limbs, link, bits, sign)
            if squares:
                exact_sums.add_square_of_float(state.limbs, link, bits, sign)
    else:
        return
    rows[group, at + VALUES] += sign
    _free_limbs(state, group, at, squares)


@kernel
def _limbs_of(state: Aggregates, group: int, at: int) -> int:
    """The row of limbs of a sum; a new one if it has none."""
    rows = state.groups.rows
    if rows[group, at + LINK] == EMPTY:
        rows[group, at + LINK] = _new_limbs(state)
    return rows[group, at + LINK]


@kernel
def add_part(state: Aggregates, group: int, at: int, code: int, sign: int, squares: bool) -> None:
    """Adds ``sign`` times a partial sum: numbers in decimal digits, with spaces between.

    They are the fields of a state from VALUES to LOW, and then pairs of a limb and its value. Any
    other text is that of no values: the plan may come from elsewhere.
    """
    rows, entries, strings = state.groups.rows, state.bags.entries, state.bags.strings
    start, end = entries[code, START], entries[code, START] + entries[code, LENGTH]
    for k in range(start, end):
        if not (0x30 <= strings[k] <= 0x39 or strings[k] == 0x20 or strings[k] == 0x2D):
            return
    if start == end:
        return
    field, number, direction, limb = 0, 0, 1, 0
    for k in range(start, end + 1):
        byte = strings[k] if k < end else 0x20
        if byte == 0x2D:
            direction = -1
        elif byte != 0x20:
            number = 10 * number + (byte - 0x30)
        else:
            number *= direction
            if field <= LOW - VALUES:
                rows[group, at + VALUES + field] += sign * number
            elif (field - LOW + VALUES) % 2 == 1:
                limb = number
            elif 0 <= limb < state.limbs.shape[1]:
                state.limbs[_limbs_of(state, group, at), limb] += sign * number
            field, number, direction = field + 1, 0, 1
    _free_limbs(state, group, at, squares)


@kernel
def _free_limbs(state: Aggregates, group: int, at: int, squares: bool) -> None:
    """Frees the limbs of a sum without floats; those of ``squares`` if there are no values."""
    h, rows = state.header, state.groups.rows
    if rows[group, at + (VALUES if squares else FLOATS)] == 0 and rows[group, at + LINK] != EMPTY:
        state.limbs[rows[group, at + LINK], 0] = h[LIMBS_FREE]
        h[LIMBS_FREE] = rows[group, at + LINK]
        h[LIMBS_USED] -= 1
        rows[group, at + LINK] = EMPTY


@kernel
def _new_limbs(state: Aggregates) -> int:
    """A row of limbs that are 0."""
    h = state.header
    at = h[LIMBS_FREE]
    if at == EMPTY:
        at = h[LIMBS_TOP]
        h[LIMBS_TOP] += 1
    else:
        h[LIMBS_FREE] = state.limbs[at, 0]
    h[LIMBS_USED] += 1
    for k in range(state.limbs.shape[1]):
        state.limbs[at, k] = 0
    return at

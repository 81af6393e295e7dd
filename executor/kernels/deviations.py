"""Standard deviations from the exact sums of values and of their squares, rounded once.

For n values with the sum S and the sum of squares Q the variance is (n * Q - S^2) / (n * m), with m
= n - 1 for a sample and m = n for a population. The numerator is an exact long number. Of the
quotient the first 109 or 110 bits make a root of 55 bits, two more than a float has; its last bit
is set if the root is not exact (*rounding to odd*), so that it can be rounded once more.
"""

from __future__ import annotations

import math

from ..batch import IntArray
from . import exact_sums
from .compiling import kernel
from .exact_sums import LIMBS, bit

_MASK = (1 << 32) - 1
_HALF = 28
_HALF_MASK = (1 << _HALF) - 1
_WINDOW = 8
"""The first limbs of the numerator; the others only say whether the root is exact. A division by n
and m takes 60 bits at most, so that more than the bits of a root remain."""
_MOST_VALUES = 1 << 30
_LAST = 2044
"""The root has 55 bits. With its last one beyond this position it is beyond the largest float."""


@kernel
def deviation(
    limbs: IntArray,
    at: int,
    high: int,
    low: int,
    values: int,
    divisor: int,
    scratch: IntArray,
    squares: IntArray,
    root: IntArray,
) -> int:
    """The bits of the float nearest to a deviation; -1 if it is beyond the range of floats.

    Args:
        limbs: the sums of floats, and of the squares of all values.
        at: the row of the sums.
        high: the sum of the integers, divided by 2^32.
        low: the rest of the sum of the integers, which may exceed 32 bits.
        values: the number n of values.
        divisor: m.
        scratch: int64[LIMBS].
        squares: int64[2 * LIMBS + 1].
        root: int64[1, LIMBS].
    """
    if values >= _MOST_VALUES:
        return -1
    last = 2 * LIMBS
    squares[last] = 0
    for k in range(last):
        squares[k] = limbs[at, LIMBS + k]
    exact_sums.carry(squares)
    over = 0
    for k in range(last):
        product = squares[k] * values + over
        squares[k] = product & _MASK
        over = product >> 32
    squares[last] += over
    exact_sums.load(limbs, at, high, low, scratch)
    _subtract_square(squares, scratch)
    # A sum of partial sums from a plan that others wrote may be any number.
    if exact_sums.carry(squares):
        return 0
    if squares[last] != 0:
        return -1
    top = last
    while top >= 0 and squares[top] == 0:
        top -= 1
    return 0 if top < 0 else _root(squares, top, values, divisor, scratch, root)


@kernel
def _subtract_square(number: IntArray, of: IntArray) -> None:
    """Subtracts the square of a number with limbs of 32 bits; leaves the carries."""
    first, last = 0, LIMBS - 1
    while first < last and of[first] == 0:
        first += 1
    while last > first and of[last] == 0:
        last -= 1
    for i in range(first, last + 1):
        for j in range(first, last + 1):
            low, high = of[i] * (of[j] & 0xFFFF), of[i] * (of[j] >> 16)
            number[i + j] -= (low & _MASK) + ((high & 0xFFFF) << 16)
            number[i + j + 1] -= (low >> 32) + (high >> 16)


@kernel
def _root(
    number: IntArray, top: int, values: int, divisor: int, scratch: IntArray, root: IntArray
) -> int:
    """The bits of the root of a number, whose first limb is ``top``, divided by n and m."""
    inexact = False
    for k in range(top - _WINDOW + 1):
        inexact |= number[k] != 0
    for k in range(_WINDOW):
        place = top - _WINDOW + 1 + k
        scratch[k] = number[place] if place >= 0 else 0
    for by in (values, divisor):
        rest = 0
        for k in range(_WINDOW - 1, -1, -1):
            rest = (rest << 32) | scratch[k]
            scratch[k] = rest // by
            rest %= by
        inexact |= rest != 0
    length = 32 * _WINDOW
    while bit(scratch, length - 1) == 0:
        length -= 1
    shift = length - 4 * _HALF + 2
    shift += shift & 1
    for k in range(shift):
        inexact |= bit(scratch, k) != 0
    high, low = 0, 0
    for k in range(2 * _HALF):
        low |= bit(scratch, shift + k) << k
        if shift + 2 * _HALF + k < 32 * _WINDOW:
            high |= bit(scratch, shift + 2 * _HALF + k) << k
    found = int(math.sqrt(float(high) * float(1 << 2 * _HALF) + float(low)))
    while _is_less(high, low, found):
        found -= 1
    while not _is_less(high, low, found + 1):
        found += 1
    if inexact or not _is_square(high, low, found):
        found |= 1
    return _placed(found, shift // 2 + 16 * (top - _WINDOW + 1), scratch, root)


@kernel
def _square(root: int) -> tuple[int, int]:
    """The square of a number of 56 bits, divided by 2^56, and the rest."""
    high, low = root >> _HALF, root & _HALF_MASK
    middle = 2 * high * low
    rest = ((middle & _HALF_MASK) << _HALF) + low * low
    return high * high + (middle >> _HALF) + (rest >> 2 * _HALF), rest & ((1 << 2 * _HALF) - 1)


@kernel
def _is_less(high: int, low: int, root: int) -> bool:
    """Whether a number is less than the square of ``root``."""
    square_high, square_low = _square(root)
    return high < square_high or (high == square_high and low < square_low)


@kernel
def _is_square(high: int, low: int, root: int) -> bool:
    square_high, square_low = _square(root)
    return high == square_high and low == square_low


@kernel
def _placed(found: int, position: int, scratch: IntArray, root: IntArray) -> int:
    """The bits of the float nearest to ``found * 2^(position - 1074)``."""
    if position > _LAST:
        return -1
    if position < -30:
        gone = -30 - position
        found = (found >> gone) | (found & ((1 << gone) - 1) != 0) if gone < 60 else 1
        position = -30
    for k in range(LIMBS):
        root[0, k] = 0
    exact_sums.add(root, 0, found, max(position, 0), 1)
    return exact_sums.quotient(root, 0, 0, 0, 1 << max(-position, 0), scratch)

"""Exact sums of floats, as long fixed-point numbers in units of 2^-1074, the smallest float.

A sum has :data:`LIMBS` limbs of 32 bits, least significant first, each in 64 bits. Adding a float
changes three limbs by less than 2^33, and no carry is propagated. So a limb is the sum of the parts
of the added floats, and does not overflow with fewer than 2^30 of them. :func:`quotient` propagates
the carries and rounds once, so the result does not depend on the order of additions and removals.
"""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from .compiling import kernel

LIMBS = 69
"""Limbs of a sum of fewer than 2^30 floats and integers, with a limb for the sign."""
LIMBS_WITH_SQUARES = 3 * LIMBS
"""Limbs of a sum and of the sum of squares after it, in units of 2^-2148, of fewer than 2^28
values."""

_MASK = (1 << 32) - 1
_MANTISSA_BITS = 52
INTEGERS_AT = 1074
"""The position of the bit of the integer 1; among squares it is twice that."""
_SQUARES_AT = 32 * LIMBS
_THIRD = 21
_THIRD_MASK = (1 << _THIRD) - 1
_INFINITE = 0x7FF << _MANTISSA_BITS
_SIGN = -(1 << 63)


@kernel
def is_infinite(bits: int) -> bool:
    """Whether the bits are those of an infinite float."""
    return (bits & _INFINITE) == _INFINITE


@kernel
def add_float(limbs: IntArray, at: int, bits: int, sign: int) -> None:
    """Adds ``sign`` times a finite float to the sum in row ``at``."""
    mantissa, exponent = _parts(bits)
    if bits < 0:
        sign = -sign
    add(limbs, at, mantissa, exponent, sign)


@kernel
def _parts(bits: int) -> tuple[int, int]:
    """The absolute value of a finite float as a whole number and the exponent of its unit."""
    exponent = (bits >> _MANTISSA_BITS) & 0x7FF
    mantissa = bits & ((1 << _MANTISSA_BITS) - 1)
    if exponent > 0:
        mantissa |= 1 << _MANTISSA_BITS
        exponent -= 1
    return mantissa, exponent


@kernel
def add_square_of_float(limbs: IntArray, at: int, bits: int, sign: int) -> None:
    """Adds ``sign`` times the square of a finite float to the sum of squares in row ``at``."""
    mantissa, exponent = _parts(bits)
    _add_square(limbs, at, mantissa, 2 * exponent, sign)


@kernel
def add_square(limbs: IntArray, at: int, integer: int, sign: int) -> None:
    """Adds ``sign`` times the square of an integer to the sum of squares in row ``at``."""
    _add_square(limbs, at, integer, 2 * INTEGERS_AT, sign)


@kernel
def _add_square(limbs: IntArray, at: int, value: int, position: int, sign: int) -> None:
    """Adds the square of a value of three parts, each of 21 bits, the first one with its sign."""
    low, middle, high = value & _THIRD_MASK, (value >> _THIRD) & _THIRD_MASK, value >> 2 * _THIRD
    first = _SQUARES_AT + position
    add(limbs, at, low * low, first, sign)
    add(limbs, at, 2 * low * middle, first + _THIRD, sign)
    add(limbs, at, middle * middle + 2 * low * high, first + 2 * _THIRD, sign)
    add(limbs, at, 2 * middle * high, first + 3 * _THIRD, sign)
    add(limbs, at, high * high, first + 4 * _THIRD, sign)


@kernel
def add(limbs: IntArray, at: int, value: int, position: int, sign: int) -> None:
    """Adds ``sign * value * 2^position``, for values of 64 bits with their sign."""
    limb, shift = position >> 5, position & 31
    low, high = (value & _MASK) << shift, (value >> 32) << shift
    limbs[at, limb] += sign * (low & _MASK)
    limbs[at, limb + 1] += sign * ((low >> 32) + (high & _MASK))
    limbs[at, limb + 2] += sign * (high >> 32)


@kernel
def quotient(limbs: IntArray, at: int, high: int, low: int, by: int, scratch: IntArray) -> int:
    """The bits of the float nearest to a sum of floats and integers divided by ``by``.

    A tie goes to the even float. The result is -1, which is the bits of no number, if it is beyond
    the range of floats.

    Args:
        limbs: the sums of floats.
        at: the row of the sum of the floats; negative if there are none.
        high: the sum of the integers, divided by 2^32.
        low: the rest of the sum of the integers, which may exceed 32 bits.
        by: the divisor, from 1 to 2^30.
        scratch: int64[LIMBS].
    """
    is_negative = load(limbs, at, high, low, scratch)
    rest = 0
    for k in range(LIMBS - 1, -1, -1):
        if by == 1 or (rest == 0 and scratch[k] == 0):
            continue
        rest = (rest << 32) | scratch[k]
        scratch[k] = rest // by
        rest %= by
    bits = _rounded(scratch, rest, by)
    return -1 if bits >= _INFINITE else bits | _SIGN if is_negative and bits != 0 else bits


@kernel
def load(limbs: IntArray, at: int, high: int, low: int, scratch: IntArray) -> bool:
    """Sets ``scratch`` to the absolute value of a sum of floats and integers, in limbs of 32 bits.

    Returns whether the sum is negative. The arguments are those of :func:`quotient`.
    """
    for k in range(LIMBS):
        scratch[k] = limbs[at, k] if at >= 0 else 0
    high += low >> 32
    limb, shift = INTEGERS_AT >> 5, INTEGERS_AT & 31
    for word in range(3):
        # The integer has three words: its low 32 bits, the next 32 bits, and the signed rest.
        part = low & _MASK if word == 0 else high & _MASK if word == 1 else high >> 32
        scratch[limb + word] += (part << shift) & _MASK
        scratch[limb + word + 1] += (part << shift) >> 32
    is_negative = carry(scratch)
    if is_negative:
        for k in range(LIMBS):
            scratch[k] = -scratch[k]
        carry(scratch)
    return is_negative


@kernel
def carry(number: IntArray) -> bool:
    """Brings all limbs but the last into 0 to 2^32 - 1; returns whether the number is negative."""
    over, last = 0, number.shape[0] - 1
    for k in range(last):
        total = number[k] + over
        number[k] = total & _MASK
        over = total >> 32
    number[last] += over
    return number[last] < 0


@kernel
def _rounded(number: IntArray, rest: int, by: int) -> int:
    """The bits of the float nearest to ``(number + rest / by) * 2^-1074``."""
    top = LIMBS - 1
    while top > 0 and number[top] == 0:
        top -= 1
    length = 0
    while number[top] >> length != 0:
        length += 1
    length += 32 * top
    shift = length - (_MANTISSA_BITS + 1)
    if shift <= 0:  # all bits fit, and the first bit to drop is in the rest
        bits = (number[1] << 32) | number[0]
        return bits + 1 if 2 * rest > by or (2 * rest == by and bits & 1 == 1) else bits
    if shift >= _INFINITE >> _MANTISSA_BITS:
        return _INFINITE
    mantissa = 0
    for k in range(_MANTISSA_BITS + 1):
        mantissa |= bit(number, shift + k) << k
    # The leading bit of the mantissa adds 1 to the exponent.
    bits = mantissa + (shift << _MANTISSA_BITS)
    if bit(number, shift - 1) == 0:
        return bits
    beyond = rest
    for k in range((shift - 1) >> 5):
        beyond |= number[k]
    beyond |= number[(shift - 1) >> 5] & ((1 << ((shift - 1) & 31)) - 1)
    return bits + 1 if beyond != 0 or bits & 1 == 1 else bits


@kernel
def bit(number: IntArray, position: int) -> int:
    """The bit at a position of a number with limbs of 32 bits."""
    return (number[position >> 5] >> (position & 31)) & 1


@kernel
def compared(integer: int, bits: int) -> int:
    """-1, 0 or 1 as an integer is less than, equal to or greater than a finite or infinite float.

    The comparison is exact.
    """
    number = np.int64(bits).view(np.float64)
    if number >= 9223372036854775808.0:
        return -1
    if number < -9223372036854775808.0:
        return 1
    whole = np.int64(number)  # rounded towards zero
    if integer != whole:
        return -1 if integer < whole else 1
    rest = number - np.float64(whole)
    return -1 if rest > 0 else 1 if rest < 0 else 0

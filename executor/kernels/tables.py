"""Open-addressing maps from a pair of integers to a number, over one flat array.

A table is int64[capacity, 3] of ``(first, second, value)``, its capacity a power of two;
value -1 marks a free slot. Nothing is ever removed: a sweep builds a new table.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..batch import IntArray
from .compiling import kernel

Scalar = TypeVar("Scalar", bound="np.generic[Any]")

GOLDEN = -7046029254386353131
"""2^64 divided by the golden ratio, odd, as a signed number."""

EMPTY = -1


@kernel
def mixed(value: int) -> int:
    """A hash of one integer with well-mixed low bits."""
    product = value * GOLDEN
    return product ^ (product >> 32)


@kernel
def find(table: IntArray, first: int, second: int) -> int:
    """The slot of a key, or the free slot for it."""
    mask = table.shape[0] - 1
    slot = mixed(mixed(first) + second) & mask
    while table[slot, 2] != EMPTY and (table[slot, 0] != first or table[slot, 1] != second):
        slot = (slot + 1) & mask
    return slot


@kernel
def put(table: IntArray, first: int, second: int, value: int) -> None:
    """Sets the value of a key; the caller ensures that there is room."""
    slot = find(table, first, second)
    table[slot, 0] = first
    table[slot, 1] = second
    table[slot, 2] = value


@kernel
def copy_into(table: IntArray, larger: IntArray) -> None:
    """Puts all keys of ``table`` into another."""
    for slot in range(table.shape[0]):
        if table[slot, 2] != EMPTY:
            put(larger, table[slot, 0], table[slot, 1], table[slot, 2])


def capacity_for(entries: int) -> int:
    """The smallest power of two that is at least twice ``entries``."""
    return 1 << (2 * entries - 1).bit_length()


def new_table(entries: int) -> IntArray:
    """An empty table with room for ``entries`` keys at a load of at most a half."""
    return np.full((capacity_for(entries), 3), EMPTY, np.int64)


def enlarged_table(table: IntArray, entries: int) -> IntArray:
    """The same keys in a table with room for ``entries``."""
    larger = new_table(entries)
    copy_into(table, larger)
    return larger


def enlarged(array: NDArray[Scalar], length: int) -> NDArray[Scalar]:
    """The same rows in an array of ``length`` rows, the rest undefined."""
    larger = np.empty((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger

"""Accumulators: aggregates of one group, to which values are added and from which they are removed.

Accumulators are exact, so a result does not depend on the order of rows. A sum of floats is an
integer multiple of the smallest positive float (2^-1074), rounded once by ``result``.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any, Final, Protocol

from ...algebra.aggregates import Function
from ...algebra.scalar import LARGEST_INTEGER, SMALLEST_INTEGER

_BITS: Final = 1074
_ONE: Final = 1 << _BITS
_SMALLEST_HEAP: Final = 16


class Accumulator(Protocol):
    """An aggregate over values that are not missing."""

    def add(self, value: Any) -> None:
        """Adds a value."""
        ...

    def remove(self, value: Any) -> None:
        """Removes a value that was added before."""
        ...

    def result(self) -> Any:
        """The aggregate; None if it is missing."""
        ...


class Count:
    """The number of values."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Any) -> None:
        """Adds a value."""
        self._count += 1

    def remove(self, value: Any) -> None:
        """Removes a value that was added before."""
        self._count -= 1

    def result(self) -> int:
        """The aggregate."""
        return self._count


class CountDistinct:
    """The number of distinct values."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, Any]] = Counter()

    def add(self, value: Any) -> None:
        """Adds a value."""
        self._counts[_order(value)] += 1

    def remove(self, value: Any) -> None:
        """Removes a value that was added before."""
        _take(self._counts, _order(value))

    def result(self) -> int:
        """The aggregate."""
        return len(self._counts)


class Sum:
    """The sum of the numbers; an integer if all are integers. Other values are ignored."""

    __slots__ = ("_count", "_floats", "_fraction", "_infinite", "_whole")

    def __init__(self) -> None:
        self._whole = self._fraction = self._count = self._floats = self._infinite = 0

    def add(self, value: Any) -> None:
        """Adds a value."""
        self._change(value, 1)

    def remove(self, value: Any) -> None:
        """Removes a value that was added before."""
        self._change(value, -1)

    def _change(self, value: Any, sign: int) -> None:
        if isinstance(value, float):
            self._floats += sign
            if value - value != 0.0:
                self._infinite += sign
            else:
                numerator, denominator = value.as_integer_ratio()
                # The denominator is a power of two.
                self._fraction += sign * (numerator << (_BITS + 1 - denominator.bit_length()))
        elif isinstance(value, int) and not isinstance(value, bool):
            self._whole += sign * value
        else:
            return
        self._count += sign

    def result(self) -> int | float | None:
        """The aggregate."""
        if not self._count or self._infinite:
            return None
        if not self._floats:
            return self._whole if SMALLEST_INTEGER <= self._whole <= LARGEST_INTEGER else None
        return self._divided(1)

    def _divided(self, by: int) -> float | None:
        try:
            if not self._floats:
                return self._whole / by
            return ((self._whole << _BITS) + self._fraction) / (_ONE * by)
        except OverflowError:
            return None


class Mean(Sum):
    """The mean of the numbers. Other values are ignored."""

    __slots__ = ()

    def result(self) -> float | None:
        """The aggregate."""
        return self._divided(self._count) if self._count and not self._infinite else None


class Least:
    """The least or the greatest value; numbers come before strings, strings before truth values.

    Keeps a heap of the distinct values. A removed value stays in the heap until it is on top.
    """

    __slots__ = ("_counts", "_entry", "_heap")

    def __init__(self, greatest: bool = False) -> None:
        self._counts: Counter[tuple[int, Any]] = Counter()
        self._heap: list[Any] = []
        self._entry: Any = _Down if greatest else _Up

    def add(self, value: Any) -> None:
        """Adds a value."""
        key = _order(value)
        self._counts[key] += 1
        if self._counts[key] == 1:
            heapq.heappush(self._heap, self._entry(key))

    def remove(self, value: Any) -> None:
        """Removes a value that was added before."""
        _take(self._counts, _order(value))
        if len(self._heap) > 2 * len(self._counts) + _SMALLEST_HEAP:
            self._heap = [self._entry(key) for key in self._counts]
            heapq.heapify(self._heap)

    def result(self) -> Any:
        """The aggregate."""
        while self._heap:
            key = self._heap[0].key
            if key in self._counts:
                return key[1]
            heapq.heappop(self._heap)
        return None


class _Up:
    __slots__ = ("key",)

    def __init__(self, key: tuple[int, Any]) -> None:
        self.key = key

    def __lt__(self, other: _Up) -> bool:
        return self.key < other.key


class _Down(_Up):
    __slots__ = ()

    def __lt__(self, other: _Up) -> bool:
        return other.key < self.key


def accumulator(function: Function) -> Accumulator:
    """An empty accumulator of a function."""
    match function:
        case "count":
            return Count()
        case "count_distinct":
            return CountDistinct()
        case "sum":
            return Sum()
        case "avg":
            return Mean()
        case "min":
            return Least()
        case "max":
            return Least(greatest=True)


def _order(value: Any) -> tuple[int, Any]:
    """A sort key that orders values of different kinds by kind."""
    if isinstance(value, bool):
        return 2, value
    return (1 if isinstance(value, str) else 0), value


def _take(counts: Counter[tuple[int, Any]], key: tuple[int, Any]) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]

"""Distinct counts and degrees of a stream of vertices, in bounded memory.

A k-minimum-values sketch (Bar-Yossef et al. 2002; Beyer et al. 2007) keeps the ``KEPT`` values with
the smallest hashes, and the number of occurrences of each. Up to ``KEPT`` distinct values, all
counts are exact. Beyond, the kept values are a uniform sample of the distinct values, and the
standard error of a count is about 1 / sqrt(KEPT), 0.4 %.

All sketches use the same hash, so two of them keep the same values: their *coordinated* samples
estimate the values that both have, and the inner product of their counts, without bias.

Beyond ``KEPT`` values, a sketch also has ``COUNTERS`` counters of the most frequent values (Misra
and Gries 1982, merged as in Agarwal et al. 2013), since a sample of the values may miss them. A
counter is too low by at most 1 / COUNTERS of the number of occurrences.

A :class:`RowSample` keeps a uniform sample of rows. Both depend on the rows alone, without random
numbers: the same input has the same statistics, and so the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .raw import Column

KEPT = 1 << 16
COUNTERS = 1 << 10
COMPARED = 1 << 14
"""The most values of a sketch that are compared with another sketch."""
SAMPLED = 1 << 12
"""The number of rows that a :class:`RowSample` keeps."""

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Sketch:
    """The hashes and counts of one kind of value; fed by :meth:`add`."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._counts: Counts = np.empty(0, np.int64)
        self._overflowed = False
        self._frequent: tuple[Hashes, Counts] = self._hashes, self._counts
        self._total = 0

    def add(self, hashes: Hashes) -> None:
        """Adds the hashes of some values, with repeats."""
        seen, seen_counts = np.unique(hashes, return_counts=True)
        merged, counts = _merged((self._hashes, self._counts), (seen, seen_counts))
        if self._overflowed:
            self._frequent = _largest(*_merged(self._frequent, (seen, seen_counts)))
        elif len(merged) > self._kept:
            self._overflowed = True
            self._frequent = _largest(merged, counts)
        # The largest kept hash only falls, so a value kept now was kept since its first
        # occurrence: its count is complete.
        self._hashes, self._counts = merged[: self._kept], counts[: self._kept]
        self._total += len(hashes)

    @property
    def total(self) -> int:
        """The number of added values, with repeats."""
        return self._total

    @property
    def distinct(self) -> float:
        """The number of distinct values; an estimate if there are more than the sketch keeps."""
        if not self._overflowed:
            return float(len(self._hashes))
        return (self._kept - 1) / ((float(self._hashes[-1]) + 1) / 2.0**64)

    @property
    def skew(self) -> float | None:
        """Mean squared count over squared mean count: 1 if all values are equally frequent.

        None for an empty sketch.
        """
        if not len(self._counts):
            return None
        counts = self._counts.astype(np.float64)
        return float(np.mean(counts**2) / np.mean(counts) ** 2)

    def most_frequent(self, most: int) -> tuple[Hashes, Counts]:
        """The hashes and counts of at most ``most`` values, the most frequent first.

        The counts are exact up to ``KEPT`` distinct values.
        """
        hashes, counts = self._heavy()
        order = np.lexsort((hashes, -counts))[:most]
        return hashes[order], counts[order]

    def degrees(self) -> Degrees:
        """The counts to compare with those of another sketch."""
        hashes, counts = self._heavy()
        if len(hashes) > COUNTERS:
            largest = np.sort(np.argpartition(counts, -COUNTERS)[-COUNTERS:])
            hashes, counts = hashes[largest], counts[largest]
        kept = self._hashes, self._counts
        if len(self._hashes) > COMPARED:
            limit = int(self._hashes[COMPARED])
            kept = self._hashes[:COMPARED], self._counts[:COMPARED]
        else:
            limit = int(self._hashes[-1]) if self._overflowed else 1 << 64
        return Degrees(self._total, limit, kept, (hashes, counts))

    def _heavy(self) -> tuple[Hashes, Counts]:
        """The values with counters; all values if the sketch has not overflowed."""
        if not self._overflowed:
            return self._hashes, self._counts
        hashes, counts = self._frequent
        mine, exact = _matching(hashes, self._hashes)
        counts = counts.copy()
        counts[mine] = self._counts[exact]
        return hashes, counts


@dataclass(frozen=True, slots=True)
class Degrees:
    """The number of occurrences of values, to compare two sketches.

    Attributes:
        total: the number of occurrences of all values.
        limit: the values with hashes below this number are in ``kept``; 2**64 if all are.
        kept: at most ``COMPARED`` values by ascending hash, with their counts.
        frequent: at most ``COUNTERS`` values by ascending hash, with their counts.
    """

    total: int
    limit: int
    kept: tuple[Hashes, Counts]
    frequent: tuple[Hashes, Counts]

    def compared(self, other: Degrees) -> tuple[float, float]:
        """The sum over all values of the product of both counts, and the number of shared values.

        Both are exact if both sides keep all values. Otherwise values that are frequent on both
        sides have their counters, and the other values kept by both stand for the rest.
        """
        hashes, left, right = _common(self.kept, other.kept)
        limit = min(self.limit, other.limit)
        if limit == 1 << 64:
            return float(left @ right), float(len(hashes))
        frequent, of_left, of_right = _common(self.frequent, other.frequent)
        sampled = hashes < np.uint64(limit)
        sampled[_matching(hashes, frequent)[0]] = False
        scale = 2.0**64 / limit
        product = float(of_left @ of_right) + scale * float(left[sampled] @ right[sampled])
        return product, len(frequent) + scale * float(sampled.sum())


class RowSample:
    """A uniform sample of the values of a column, of at most ``kept`` rows.

    A row is kept if the hash of its number is among the smallest.
    """

    def __init__(self, kept: int = SAMPLED) -> None:
        self._kept = kept
        self._rows = 0
        self._limit: np.uint64 | None = None
        self._priorities: Hashes = np.empty(0, np.uint64)
        self._values: list[Column] = []

    def add(self, values: Column) -> None:
        """Adds the values of some rows, in the order of the rows."""
        priorities = _mixed(
            np.arange(self._rows + 1, self._rows + len(values) + 1, dtype=np.uint64)
        )
        self._rows += len(values)
        if self._limit is not None:
            (chosen,) = np.nonzero(priorities < self._limit)
            if not len(chosen):
                return
            values, priorities = values.take(pa.array(chosen)), priorities[chosen]
        self._values.append(values)
        self._priorities = np.concatenate([self._priorities, priorities])
        if len(self._priorities) > 2 * self._kept:
            self._shrink()

    @property
    def values(self) -> Column:
        """The sampled values; None without rows."""
        if not self._values:
            return None
        if len(self._priorities) > self._kept:
            self._shrink()
        return pa.concat_arrays(self._values)

    def _shrink(self) -> None:
        order = np.argpartition(self._priorities, self._kept)
        chosen = np.sort(order[: self._kept])
        self._limit = self._priorities[order[self._kept]]
        self._priorities = self._priorities[chosen]
        self._values = [pa.concat_arrays(self._values).take(pa.array(chosen))]


def _merged(one: tuple[Hashes, Counts], other: tuple[Hashes, Counts]) -> tuple[Hashes, Counts]:
    """The sums of two sets of counts, sorted by hash."""
    merged, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(merged), np.int64)
    np.add.at(counts, place, np.concatenate([one[1], other[1]]))
    return merged, counts


def _largest(hashes: Hashes, counts: Counts) -> tuple[Hashes, Counts]:
    """The ``COUNTERS`` largest counts, less the largest one that is left out."""
    if len(counts) <= COUNTERS:
        return hashes, counts
    left_out = np.partition(counts, -COUNTERS - 1)[-COUNTERS - 1]
    larger = counts > left_out
    return hashes[larger], counts[larger] - left_out


def _common(
    left: tuple[Hashes, Counts], right: tuple[Hashes, Counts]
) -> tuple[Hashes, Floats, Floats]:
    """The hashes that both sides have, and the counts of each side."""
    i, j = _matching(left[0], right[0])
    return left[0][i], left[1][i].astype(np.float64), right[1][j].astype(np.float64)


def _matching(left: Hashes, right: Hashes) -> tuple[Places, Places]:
    """The places of the hashes that both sides have; both are ascending without repeats."""
    if len(left) > len(right):
        j, i = _matching(right, left)
        return i, j
    if not len(left):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    place = np.minimum(np.searchsorted(right, left), len(right) - 1)
    (i,) = np.nonzero(right[place] == left)
    return i, place[i]


def hashes_of(values: Column) -> Hashes:
    """64-bit hashes of a column of values, the same in every process."""
    import pandas as pd  # imported here, since it is slow to import

    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    encoded = values.dictionary_encode()
    different = encoded.dictionary
    if pa.types.is_integer(different.type) or pa.types.is_floating(different.type):
        of_different = different.to_numpy(zero_copy_only=False)
    else:
        of_different = np.array(different.to_pylist(), dtype=object)
    hashes: Hashes = pd.util.hash_array(of_different, categorize=False)
    spread: Hashes = hashes[encoded.indices.to_numpy(zero_copy_only=False)]
    return spread


def pair_hashes(first: Hashes, second: Hashes) -> Hashes:
    """Hashes of ordered pairs."""
    return _mixed(_mixed(first) + np.uint64(0x9E3779B97F4A7C15) * _mixed(second))


def _mixed(x: Hashes) -> Hashes:
    """The finaliser of splitmix64: every bit of the result depends on every bit of ``x``."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

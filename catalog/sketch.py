"""Distinct counts and degrees of a stream of vertices, in bounded memory.

A k-minimum-values sketch (Bar-Yossef et al. 2002; Beyer et al. 2007) keeps the ``KEPT`` values with
the smallest hashes, and the number of occurrences of each. Up to ``KEPT`` distinct values, all
counts are exact. Beyond, the kept values are a uniform sample of the distinct values, and the
standard error of a count is about 1 / sqrt(KEPT), 0.4 %.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .raw import Column

KEPT = 1 << 16

Hashes = NDArray[np.uint64]


class Sketch:
    """The hashes and counts of one kind of value; fed by :meth:`add`."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.int64)
        self._overflowed = False

    def add(self, hashes: Hashes) -> None:
        """Adds the hashes of some values, with repeats."""
        seen, seen_counts = np.unique(hashes, return_counts=True)
        merged, place = np.unique(np.concatenate([self._hashes, seen]), return_inverse=True)
        counts = np.zeros(len(merged), np.int64)
        np.add.at(counts, place, np.concatenate([self._counts, seen_counts]))
        self._overflowed |= len(merged) > self._kept
        # The largest kept hash only falls, so a value kept now was kept since its first
        # occurrence: its count is complete.
        self._hashes, self._counts = merged[: self._kept], counts[: self._kept]

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

"""Stores of rows (:mod:`headrace.executor.kernels.rows`) that operators hold."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels import rows as kernel
from ..kernels.tables import EMPTY, capacity_for
from .base import Swept

_SMALLEST = 64


class RowSet(Swept):
    """A set of rows: each row once with its largest expiry.

    Args:
        width: the number of columns.
        keys: the columns of an index; without columns all rows have one key. None: no index.
        early: whether each row has a time until which it is held, which may be before its expiry.
    """

    def __init__(self, width: int, keys: tuple[int, ...] | None, *, early: bool = False) -> None:
        super().__init__(np.zeros(kernel.HEADER_FIELDS, np.int64))
        self.header[kernel.UNTIL] = width + (kernel.HELD_UNTIL if early else kernel.EXPIRY)
        self._fields = kernel.EARLY_SET_FIELDS if early else kernel.SET_FIELDS
        self._keyed = keys is not None
        self._columns: IntArray = np.arange(width, dtype=np.int64)
        self._keys: IntArray = np.array(keys or (), np.int64)
        self.arrays = self._new_arrays(_SMALLEST)

    def _new_arrays(self, capacity: int) -> kernel.Rows:
        slots = capacity_for(capacity)
        return kernel.Rows(
            self.header,
            np.empty((capacity, len(self._columns) + self._fields), np.int64),
            np.full((slots, 2), EMPTY, np.int64),
            np.full((slots if self._keyed else 0, 2), EMPTY, np.int64),
            self._columns,
            self._keys,
        )

    def purge(self, now: int) -> None:
        """Drops expired rows; the new arrays have room for at least twice the others."""
        old = self.arrays
        count, lasting, latest = kernel.count_valid(old, now)
        self.arrays = self._new_arrays(max(_SMALLEST, 2 * count))
        line = np.empty((len(self._columns), 1), np.int64)
        kernel.copy_valid(old, self.arrays, line, now)
        self._swept(now, lasting, latest)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(array.nbytes for array in self.arrays)


class Bag(RowSet):
    """A bag of rows with an index by ``keys``; each copy of a row can be taken back."""

    def __init__(self, width: int, keys: tuple[int, ...]) -> None:
        super().__init__(width, keys)
        self.header[kernel.IS_BAG] = 1
        self._fields = kernel.BAG_FIELDS
        self.arrays = self._new_arrays(_SMALLEST)

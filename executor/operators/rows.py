"""Stores of rows (:mod:`headrace.executor.kernels.rows`) that operators hold."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels import rows as kernel
from ..kernels.tables import EMPTY, capacity_for, enlarged
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
        self._by_value = self._keyed and sorted(self._keys.tolist()) == list(range(width))
        if self._by_value:  # one hash for both indexes
            self._columns = self._keys
        self._begin()

    def _begin(self) -> None:
        """Sets up an empty store."""
        self.header[kernel.HAS_CHAINS] = self._keyed and not self._by_value
        self.header[kernel.FREE] = EMPTY
        self.arrays = self._arrays(self._new_rows(_SMALLEST), *self._new_indexes(_SMALLEST))

    def _new_rows(self, capacity: int) -> IntArray:
        return np.empty((capacity, len(self._columns) + self._fields), np.int64)

    def _new_indexes(self, capacity: int) -> tuple[IntArray, IntArray]:
        """Empty indexes of values and of keys."""
        values: IntArray = np.full(capacity_for(capacity), EMPTY, np.int64)
        if self._by_value:
            return values, values
        return values, np.full(len(values) if self._keyed else 0, EMPTY, np.int64)

    def _arrays(self, rows: IntArray, values: IntArray, keys: IntArray) -> kernel.Rows:
        return kernel.Rows(self.header, rows, values, keys, self._columns, self._keys)

    def purge(self, now: int) -> None:
        """Drops expired rows; afterwards at least a quarter of the places are free."""
        lasting, latest = kernel.release(self.arrays, now)
        count, capacity = self.entries, len(self.arrays.rows)
        if 4 * count > 3 * capacity:
            self._grow(2 * capacity)
        elif 8 * count < capacity and capacity > _SMALLEST:
            self._shrink(max(_SMALLEST, capacity_for(count)))
        self._swept(now, lasting, latest)

    def double(self) -> None:
        """Makes room for as many rows again; all rows stay in their places."""
        self._grow(2 * len(self.arrays.rows))

    def _grow(self, capacity: int) -> None:
        """Makes room; all rows stay in their places."""
        old = self.arrays
        values, keys = self._new_indexes(capacity)
        kernel.copy_index(old.values, values)
        if self.header[kernel.HAS_CHAINS]:
            kernel.copy_index(old.keys, keys)
        self.arrays = self._arrays(enlarged(old.rows, capacity), values, keys)

    def _shrink(self, capacity: int) -> None:
        """Moves the rows to smaller arrays."""
        old = self.arrays
        self.arrays = self._arrays(self._new_rows(capacity), *self._new_indexes(capacity))
        kernel.copy_rows(old, self.arrays)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        arrays = {id(array): array for array in self.arrays}
        return sum(array.nbytes for array in arrays.values())


class Bag(RowSet):
    """A bag of rows with an index by ``keys``; each copy of a row can be taken back."""

    def __init__(self, width: int, keys: tuple[int, ...]) -> None:
        super().__init__(width, keys)
        self.header[kernel.IS_BAG] = 1
        self._fields = kernel.BAG_FIELDS
        self._by_value = False  # a value has a row for each of its expiries
        self._begin()

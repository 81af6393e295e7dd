"""The arrays of a set of rows (`headrace.executor.kernels.rows`)."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels import rows as kernel
from ..kernels.tables import EMPTY, capacity_for
from ..schedule import LEAST_ADDED, Schedule

_SMALLEST = 64


class RowSet:
    """Rows of ``width`` columns, each once with its largest expiry.

    With ``keys`` (perhaps none: then all rows are of one key) there is an index by them.
    ``early``: each row says for itself until when it is held, which may be before it expires.
    """

    def __init__(self, width: int, keys: tuple[int, ...] | None, *, early: bool = False) -> None:
        self.columns: IntArray = np.arange(width, dtype=np.int64)
        self.keys: IntArray = np.array(keys or (), np.int64)
        self._schedule = Schedule()
        self._keyed = keys is not None
        self.h: IntArray = np.zeros(kernel.SET_FIELDS, np.int64)
        self.h[kernel.SWEEP_AFTER] = LEAST_ADDED
        self.h[kernel.UNTIL] = width + 2 if early else width
        self._fields = width + 3 if early else width + 2
        self._allocate(_SMALLEST)

    def _allocate(self, capacity: int) -> None:
        slots = capacity_for(capacity)
        self.rows: IntArray = np.empty((capacity, self._fields), np.int64)
        self.values: IntArray = np.full((slots, 2), EMPTY, np.int64)
        self.index: IntArray = np.full((slots if self._keyed else 0, 2), EMPTY, np.int64)

    def sweep(self, now: int) -> None:
        """Drops what is held no longer; afterwards there is room for at least as much again."""
        valid, lasting, latest = kernel.count_valid_rows(self.h, self.rows, now)
        old = self.rows
        self._allocate(max(_SMALLEST, 2 * valid))
        line = np.empty((len(self.columns), 1), np.int64)
        kernel.sweep_rows(
            self.h, old, self.rows, self.values, self.index, self.columns, self.keys, line, now
        )
        self._schedule.swept(now, lasting, latest)
        self.h[kernel.SWEEP_AT] = self._schedule.due_at
        self.h[kernel.SWEEP_AFTER] = max(LEAST_ADDED, valid // 4)

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        if self._schedule.is_due(now, self.entries):
            self.sweep(now)

    @property
    def entries(self) -> int:
        """Rows held."""
        return int(self.h[kernel.COUNT])

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return self.rows.nbytes + self.values.nbytes + self.index.nbytes

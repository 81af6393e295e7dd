"""The arrays of a bag of rows (`headrace.executor.kernels.bag`)."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels import bag as kernel
from ..kernels.tables import EMPTY, capacity_for
from ..schedule import LEAST_ADDED, Schedule

_SMALLEST = 64


class Bag:
    """Rows of ``width`` columns, found by those of ``keys``; each can be taken back."""

    def __init__(self, width: int, keys: tuple[int, ...]) -> None:
        self.columns: IntArray = np.arange(width, dtype=np.int64)
        self.keys: IntArray = np.array(keys, np.int64)
        self._schedule = Schedule()
        self.h: IntArray = np.zeros(kernel.BAG_FIELDS, np.int64)
        self.h[kernel.SWEEP_AFTER] = LEAST_ADDED
        self._allocate(_SMALLEST)

    def _allocate(self, capacity: int) -> None:
        slots = capacity_for(capacity)
        width = len(self.columns)
        self.rows: IntArray = np.empty((capacity, width + kernel.ROW_FIELDS), np.int64)
        self.values: IntArray = np.full((slots, 2), EMPTY, np.int64)
        self.index: IntArray = np.full((slots, 2), EMPTY, np.int64)

    def sweep(self, now: int) -> None:
        """Drops what expired or was taken back; then there is room for as much again."""
        kept, lasting, latest = kernel.count_kept(self.h, self.rows, now)
        old = self.rows
        self._allocate(max(_SMALLEST, 2 * kept))
        line = np.empty((len(self.columns), 1), np.int64)
        kernel.sweep(
            self.h, old, self.rows, self.values, self.index, self.columns, self.keys, line, now
        )
        self._schedule.swept(now, lasting, latest)
        self.h[kernel.SWEEP_AT] = self._schedule.due_at
        self.h[kernel.SWEEP_AFTER] = max(LEAST_ADDED, kept // 4)

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        if self._schedule.is_due(now, self.entries):
            self.sweep(now)

    @property
    def entries(self) -> int:
        """Entries held, those that were taken back since the last sweep included."""
        return int(self.h[kernel.COUNT])

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return self.rows.nbytes + self.values.nbytes + self.index.nbytes

"""COALESCE: passes only the rows that extend the validity of their value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch, IntArray
from ..counters import Tally, new_tally
from ..kernels import coalesce as kernel
from ..kernels import stops
from ..kernels.rows import Input
from .base import Holding, Results, drive
from .rows import Bag, RowSet


class CoalesceOperator(Holding):
    """Holds the largest expiry of each value."""

    def __init__(self, width: int) -> None:
        self._held = RowSet(width, None)
        self._stores = (self._held,)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self.tally: Tally = new_tally()

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows that expire later than every earlier row of their value."""
        (batch,) = inputs
        extends = self.extends(batch)
        return batch.take(extends) if wanted else Batch.empty(batch.width)

    def extends(self, batch: Batch) -> NDArray[np.bool_]:
        """A mask of the rows that expire later than every earlier row of their value."""
        h, held, rows = self._h, self._held, Input(*batch.arrays)
        extends = np.empty(len(batch), np.int64)
        h[kernel.ROW] = 0
        drive(
            lambda: kernel.advance(h, rows, held.arrays, extends, self.tally),
            {stops.SWEEP_DUE: lambda: held.purge(int(batch.ts[h[kernel.ROW]]))},
        )
        return extends.astype(np.bool_)


class CoalesceWithDeletions(Holding):
    """Emits the longest row of each value, and retracts it when another row becomes the longest."""

    def __init__(self, width: int) -> None:
        self._held = Bag(width, tuple(range(width)))
        self._stores = (self._held,)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Rows that expire later than the emitted rows of their value, and retractions of rows."""
        (batch,) = inputs
        h, held, rows = self._h, self._held, Input(*batch.arrays)
        results = Results(batch.width, wanted)
        take = partial(results.drain, h, kernel.OUT, kernel.NEED)
        h[kernel.ROW] = 0
        drive(
            lambda: kernel.with_deletions(h, rows, held.arrays, results.buffer),
            {
                stops.SWEEP_DUE: lambda: held.purge(int(batch.ts[h[kernel.ROW]])),
                stops.OUT_FULL: take,
            },
        )
        take()
        return results.batch()

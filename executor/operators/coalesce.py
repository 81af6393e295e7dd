"""COALESCE: only what extends the validity of a value passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch
from ..counters import Tally, new_tally
from ..kernels import coalesce as kernel
from .base import Holding
from .rowset import RowSet


class CoalesceOperator(Holding):
    """Holds for each value its largest expiry."""

    def __init__(self, width: int) -> None:
        self._held = RowSet(width, None)
        self._stores = (self._held,)
        self.tally: Tally = new_tally()

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows that expire later than every earlier row of their value."""
        (batch,) = inputs
        extends = self.extends(batch)
        return batch.take(extends) if wanted else Batch.empty(batch.width)

    def extends(self, batch: Batch) -> NDArray[np.bool_]:
        """Which rows expire later than every earlier row of their value."""
        held = self._held
        extends = np.empty(len(batch), np.int64)
        row = 0
        while (
            row := kernel.advance(
                row, batch.columns, batch.ts, batch.exp,
                held.h, held.columns, held.rows, held.values, held.index, extends, self.tally,
            )
        ) < len(batch):  # fmt: skip
            held.sweep(int(batch.ts[row]))
        return extends.astype(np.bool_)

"""RETRACT: expands deletions of edges into retractions (negative tuples)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..batch import Batch, IntArray, merged
from ..kernels import retraction as kernel
from ..kernels import stops
from ..kernels.rows import Input
from .base import Holding, Results, drive
from .rows import Bag


class RetractOperator(Holding):
    """Expands an edge deletion into one retraction per live row of the edge.

    In: the edges of a scan. An edge with a negative expiry is a deletion; only its source and
    target count. Out: the edges, and for each deletion a retraction of every open edge from its
    source to its target, edges of the same ts included. So a deletion waits until application time
    has passed its ts.
    """

    def __init__(self, width: int) -> None:
        self._held = Bag(width, (0, 1))
        self._stores = (self._held,)
        self._waiting = Batch.empty(width)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.CHAIN] = kernel.NOT_BEGUN

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Edges and retractions; deletions of the largest ts wait."""
        (batch,) = inputs
        if not len(batch):
            return Batch.empty(batch.width)
        rows = merged([self._waiting, batch])
        rows = rows.take(np.lexsort((rows.exp < 0, rows.ts)))
        waits = (rows.exp < 0) & (rows.ts == rows.ts[-1])
        self._waiting = rows.take(waits)
        return self._retracted(rows.take(~waits) if waits.any() else rows, wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The retractions of waiting deletions, once no further edge of their ts can arrive."""
        waiting = self._waiting
        if not len(waiting) or waiting.ts[0] >= now:
            return Batch.empty(waiting.width)
        self._waiting = Batch.empty(waiting.width)
        return self._retracted(waiting, wanted)

    def _retracted(self, batch: Batch, wanted: bool) -> Batch:
        h, held, rows = self._h, self._held, Input(*batch.arrays)
        results = Results(batch.width, wanted)
        take = partial(results.drain, h, kernel.OUT)
        h[kernel.ROW] = 0
        drive(
            lambda: kernel.retract(h, rows, held.arrays, results.buffer),
            {
                stops.SWEEP_DUE: lambda: held.purge(int(batch.ts[h[kernel.ROW]])),
                stops.OUT_FULL: take,
            },
        )
        take()
        return results.batch()

    @property
    def unmatched(self) -> int:
        """Deletions without an open edge, since the operator was built."""
        return int(self._h[kernel.UNMATCHED])

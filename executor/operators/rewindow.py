"""REWINDOW: limits each run of a value to the window in which the run begins.

A *run* is a period without a gap in which a value is valid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import Rewindow
from ...algebra.plan import PhysicalPlan
from ..batch import FOREVER, Batch, IntArray
from ..kernels import rewindow as kernel
from ..kernels import stops
from ..kernels.rows import Input
from .base import Holding, drive
from .rows import RowSet


def kept_beyond(plan: PhysicalPlan) -> int:
    """The number of ticks for which the operators of a plan hold expired values.

    It is 1 with REWINDOW, because a run may continue at the tick at which it ends; else 0.
    """
    return int(any(isinstance(node.operator, Rewindow) for node in plan.nodes))


class RewindowOperator(Holding):
    """Holds the latest run of each value.

    The begin of a run does not follow from the valid input, so runs are recorded for checkpoints.

    Attributes:
        records_runs: whether to record runs.
        recorded_runs: the runs that began or grew since the list was last emptied, as rows from the
            begin of a run to one tick past its end.
    """

    def __init__(self, width: int, length: int, slide: int) -> None:
        self._held = RowSet(width, None, early=True)
        self._stores = (self._held,)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._window = length, slide
        self._restored_runs: Batch | None = None
        self.records_runs = False
        self.recorded_runs: list[Batch] = []

    def restore_runs(self, runs: Batch) -> None:
        """Restores runs. The next call of :meth:`process` replays their input, and ignores it."""
        self._restored_runs = runs

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The rows that begin a window or extend the validity of their value in it."""
        (batch,) = inputs
        if self._restored_runs is not None:
            runs, self._restored_runs = self._restored_runs, None
            ends = np.where(runs.exp < FOREVER, runs.exp - 1, FOREVER)
            return self._advanced(Batch(runs.columns, runs.ts, ends), record=False)
        return self._advanced(batch, record=self.records_runs)

    def _advanced(self, batch: Batch, *, record: bool) -> Batch:
        h, held, rows = self._h, self._held, Input(*batch.arrays)
        end, start = np.empty(len(batch), np.int64), np.empty(len(batch), np.int64)
        h[kernel.ROW] = 0
        drive(
            lambda: kernel.advance(h, rows, *self._window, held.arrays, end, start),
            {stops.SWEEP_DUE: lambda: held.purge(int(batch.ts[h[kernel.ROW]]))},
        )
        if record:
            grown = batch.take(start >= 0)
            until = np.where(grown.exp < FOREVER, grown.exp + 1, FOREVER)
            self.recorded_runs.append(Batch(grown.columns, start[start >= 0], until))
        valid = end > 0
        kept = batch.take(valid)
        return Batch(kept.columns, kept.ts, end[valid])

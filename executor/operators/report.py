"""REPORT: the rows that are valid, new or gone at the ticks of a period.

A report is returned when application time has passed its tick. The state is a function of the rows
that were valid at or after the tick of the last report, which is the last of the period before the
current time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...algebra.physical import ReportRows
from ..batch import FOREVER, Batch, IntArray, lasting
from ..dictionary import Dictionary
from ..kernels import report as kernel
from ..kernels import stops
from ..kernels.rows import Input
from ..kernels.tables import enlarged
from .base import Results, drive
from .valid_values import ValidValues

MODES = {"entering": kernel.ENTERING, "exit": kernel.EXIT, "snapshot": kernel.SNAPSHOT}


class ReportedValues:
    """The valid values, the values of the last report, and those that changed since."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._held = ValidValues(width, kernel.VALUE_FIELDS)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._reported, self._touched = np.empty((2, self._held.capacity), np.int64)

    def _driven(self, step: Callable[[IntArray], int], wanted: bool) -> Batch:
        results = Results(self._width, wanted)

        def take() -> None:
            results.drain(self._h, kernel.OUT, kernel.NEED)

        drive(
            lambda: step(results.buffer),
            {stops.OUT_FULL: take, stops.SWEEP_DUE: self._enlarge},
        )
        self._h[kernel.NEED] = 0
        take()
        return results.batch()

    @property
    def _state(self) -> kernel.Report:
        return kernel.Report(self._h, self._held.expiring, self._reported, self._touched)

    def _enlarge(self) -> None:
        self._held.enlarge()
        self._reported = enlarged(self._reported, self._held.capacity)
        self._touched = enlarged(self._touched, self._held.capacity)

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired values."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired values."""

    @property
    def entries(self) -> int:
        """Values held."""
        return self._held.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._held.nbytes + self._reported.nbytes + self._touched.nbytes


class ReportOperator(ReportedValues):
    """Holds the valid values, and the values that were valid at the last report.

    Over deletions the input is coalesced, so a retraction ends the validity of its value.
    """

    def __init__(self, operator: ReportRows, width: int, dictionary: Dictionary) -> None:
        super().__init__(width)
        self._every, self._start = operator.every, operator.start or 0
        self._dictionary = dictionary
        self._h[kernel.MODE] = MODES[operator.mode]
        self._h[kernel.EVERY], self._h[kernel.START] = self._every, self._start

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The reports of the ticks before the largest ts of the rows."""
        (batch,) = inputs
        if self._start and len(batch):  # what expires before the first report is in none
            batch = batch.take(lasting(batch.exp) > self._start)
        if not len(batch):
            return Batch.empty(self._width)
        self._dictionary.hold(batch.columns, self._needed_until(lasting(batch.exp)))
        rows = Input(*batch.arrays)
        self._h[kernel.ROW] = 0
        return self._driven(lambda out: kernel.take(self._state, rows, out), wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The reports before ``now``; at the end of the input, those up to the last change."""
        h, until = self._h, now
        if not h[kernel.STARTED] or h[kernel.AT] == FOREVER:
            return Batch.empty(self._width)
        if now == FOREVER:
            last = max(int(h[kernel.AT]), self._held.last(int(h[kernel.AT])))
            first = self._start + next_multiple(max(0, last - self._start), self._every)
            until = min(first + 1, FOREVER - 1)
        reports = self._driven(lambda out: kernel.pass_time(self._state, until, out), wanted)
        if now == FOREVER:
            h[kernel.AT] = FOREVER
        return reports

    def _needed_until(self, until: IntArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The tick of the report that may say that a value is gone, for each expiry."""
        since = np.maximum(until - self._start, 0)
        ticks = self._start - -since // self._every * self._every
        return np.where(until > FOREVER - self._every, FOREVER - 1, ticks)


def next_multiple(time: int, period: int) -> int:
    """The first multiple of ``period`` that is not before ``time``."""
    return -(-time // period) * period

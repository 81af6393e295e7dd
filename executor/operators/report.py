"""REPORT: the rows that are valid, new or gone at each tick that is a multiple of a period.

A report is returned when application time has passed its tick. The state is a function of the rows
that were valid at or after the tick of the last report. That tick is the last multiple of the
period before the current time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import ReportRows
from ..batch import FOREVER, Batch, IntArray, lasting
from ..dictionary import Dictionary
from .valid_values import ValidValues, Value, next_multiple, values_of


class ReportOperator:
    """Holds the valid values, and the values that were valid at the last report.

    Over deletions the input is coalesced, so a retraction ends the validity of its value.
    """

    def __init__(self, operator: ReportRows, width: int, dictionary: Dictionary) -> None:
        self._mode = operator.mode
        self._every = operator.every
        self._width = width
        self._dictionary = dictionary
        self._held = ValidValues()
        self._valid: dict[Value, None] = {}
        self._touched: dict[Value, None] = {}
        self._at: int | None = None
        self._last = 0
        self._values: list[Value] = []
        self._ticks: list[int] = []

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The reports of the ticks before the largest ts of the rows."""
        (batch,) = inputs
        if len(batch):
            self._dictionary.hold(batch.columns, self._needed_until(lasting(batch.exp)))
        for value, ts, exp in zip(
            values_of(batch), batch.ts.tolist(), batch.exp.tolist(), strict=True
        ):
            if ts != self._at:
                self._pass(ts)
            if exp < 0:
                self._held.remove(value)
            else:
                self._held.add(value, exp)
            self._touched[value] = None
        return self._results(wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The reports before ``now``; at the end of the input, those up to the last change."""
        if self._at is not None:
            if now == FOREVER:
                last = max(self._at, self._held.last(self._at))
                self._pass(next_multiple(last, self._every) + 1)
                self._at = FOREVER
            else:
                self._pass(now)
        return self._results(wanted)

    def _needed_until(self, until: IntArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The tick of the report that may say that a value is gone, for each expiry."""
        ticks = -(-until // self._every) * self._every
        return np.where(until > FOREVER - self._every, FOREVER - 1, ticks)

    def _pass(self, now: int) -> None:
        if self._at is None:
            self._at = now
        while (tick := self._next()) < now:
            self._report(tick)
        self._at = max(self._at, now)

    def _next(self) -> int:
        """The next tick whose report may have rows or may end the validity of a value."""
        assert self._at is not None
        tick = FOREVER
        if self._touched:
            tick = next_multiple(self._at, self._every)
        first = self._held.first()
        if first <= FOREVER - self._every:
            tick = min(tick, next_multiple(first, self._every))
        if self._mode == "snapshot" and self._valid:
            tick = min(tick, self._last + self._every)
        return tick

    def _report(self, tick: int) -> None:
        for value in self._held.expired(tick):
            self._touched[value] = None
        for value in self._touched:
            there, was = value in self._held.expiry, value in self._valid
            if there and not was:
                self._valid[value] = None
                if self._mode == "entering":
                    self._emit(value, tick)
            elif was and not there:
                del self._valid[value]
                if self._mode == "exit":
                    self._emit(value, tick)
        self._touched.clear()
        if self._mode == "snapshot":
            self._values.extend(self._valid)
            self._ticks.extend([tick] * len(self._valid))
        self._last = tick

    def _emit(self, value: Value, tick: int) -> None:
        self._values.append(value)
        self._ticks.append(tick)

    def _results(self, wanted: bool) -> Batch:
        values, ticks = self._values, self._ticks
        self._values, self._ticks = [], []
        if not wanted or not ticks:
            return Batch.empty(self._width)
        ts = np.array(ticks, np.int64)
        columns = np.array(values, np.int64).reshape(len(ts), self._width).T
        return Batch(np.ascontiguousarray(columns), ts, ts + self._every)

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired values."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`process` and :meth:`advance` drop expired values."""

    @property
    def entries(self) -> int:
        """Values held."""
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory for state, in bytes."""
        return self._held.nbytes + 100 * len(self._valid)

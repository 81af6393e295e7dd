"""REPORT: what is valid, new or gone at each multiple of a period.

A report is given when time has come past its instant. What is held is a function of the rows that
were valid at or after the latest instant reported, and that instant one of time: it is the last
multiple of the period before it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import ReportRows
from ..batch import FOREVER, Batch, IntArray, lasting
from ..dictionary import Dictionary
from .valid_values import ValidValues, Value, next_multiple, values_of


class ReportOperator:
    """Holds the rows that are valid, and which of them were at the latest instant.

    Over deletions its input is coalesced: a row taken back ends the validity of its value.
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
        self._instants: list[int] = []

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The reports before the ts of some row."""
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
        return self._given(wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The reports before ``now``; at the end of time those up to the last change."""
        if self._at is not None:
            if now == FOREVER:
                last = max(self._at, self._held.last(self._at))
                self._pass(next_multiple(last, self._every) + 1)
                self._at = FOREVER
            else:
                self._pass(now)
        return self._given(wanted)

    def _needed_until(self, until: IntArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """A value is named in the report at the first instant at which it is gone."""
        instants = -(-until // self._every) * self._every
        return np.where(until > FOREVER - self._every, FOREVER - 1, instants)

    def _pass(self, now: int) -> None:
        if self._at is None:
            self._at = now
        while (instant := self._next()) < now:
            self._report(instant)
        self._at = max(self._at, now)

    def _next(self) -> int:
        """The next instant with anything to look at."""
        assert self._at is not None
        found = FOREVER
        if self._touched:
            found = next_multiple(self._at, self._every)
        first = self._held.first()
        if first <= FOREVER - self._every:
            found = min(found, next_multiple(first, self._every))
        if self._mode == "snapshot" and self._valid:
            found = min(found, self._last + self._every)
        return found

    def _report(self, instant: int) -> None:
        for value in self._held.expired(instant):
            self._touched[value] = None
        for value in self._touched:
            there, was = value in self._held.expiry, value in self._valid
            if there and not was:
                self._valid[value] = None
                if self._mode == "entering":
                    self._give(value, instant)
            elif was and not there:
                del self._valid[value]
                if self._mode == "exit":
                    self._give(value, instant)
        self._touched.clear()
        if self._mode == "snapshot":
            self._values.extend(self._valid)
            self._instants.extend([instant] * len(self._valid))
        self._last = instant

    def _give(self, value: Value, instant: int) -> None:
        self._values.append(value)
        self._instants.append(instant)

    def _given(self, wanted: bool) -> Batch:
        values, instants = self._values, self._instants
        self._values, self._instants = [], []
        if not wanted or not instants:
            return Batch.empty(self._width)
        ts = np.array(instants, np.int64)
        columns = np.array(values, np.int64).reshape(len(ts), self._width).T
        return Batch(np.ascontiguousarray(columns), ts, ts + self._every)

    def tick(self, now: int) -> None:
        """What expires is given back when time passes."""

    def purge(self, now: int) -> None:
        """What expires is given back when time passes."""

    @property
    def entries(self) -> int:
        """Values held."""
        return len(self._held)

    @property
    def nbytes(self) -> int:
        """Bytes of memory, roughly."""
        return self._held.nbytes + 100 * len(self._valid)

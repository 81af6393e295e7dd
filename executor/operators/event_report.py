"""EVENT_REPORT: the rows that are valid, new or gone at events of other inputs.

A report is returned when application time has passed its tick. The valid values follow from the
valid input. The values of the last report, the number of events since then and the tick of the last
event do not, so a batch records them as open rows: a value, or :data:`COUNTER` with the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ...algebra.physical import EventReportRows
from ..batch import FOREVER, Batch, IntArray, lasting, merged
from ..dictionary import Dictionary
from ..kernels import event_report as kernel
from ..kernels import report as layout
from ..kernels.rows import Input
from .report import MODES, ReportedValues

VALUE: Final = 0
COUNTER: Final = 1
"""The first column of an open row: a value of the last report, or the number of events."""


class EventReportOperator(ReportedValues):
    """Holds the valid values, those of the last report, and the ticks whose report is to come.

    Over deletions the input is coalesced, so a retraction ends the validity of its value.

    Attributes:
        records_changes: whether to record what enters and leaves, for :meth:`open_row_changes`.
    """

    def __init__(self, operator: EventReportRows, width: int, dictionary: Dictionary) -> None:
        super().__init__(width)
        self.records_changes = False
        self._mode, self._events, self._start = operator.mode, operator.events, operator.start or 0
        self._dictionary = dictionary
        snapshot = self._mode == "snapshot"
        self._h[layout.MODE] = MODES["snapshot"] if snapshot else layout.CHANGES
        self._count = 0
        self._latest = -1
        self._ticks: IntArray = np.empty(0, np.int64)
        self._recorded: list[Batch] = []

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The reports of the ticks before the largest ts of the rows."""
        batch, *events = inputs
        self._see(events)
        if not len(batch):
            return Batch.empty(self._width)
        self._dictionary.hold(batch.columns, lasting(batch.exp))
        rows = Input(*batch.arrays)
        self._h[layout.ROW] = 0
        return self._chosen(lambda out: kernel.take(self._state, self._ticks, rows, out), wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The reports before ``now``; no report follows the last event."""
        reports = self._chosen(
            lambda out: kernel.pass_time(self._state, self._ticks, now, out), wanted
        )
        self._ticks = self._ticks[self._h[layout.NEXT] :]
        self._h[layout.NEXT] = 0
        if now < FOREVER:
            kernel.expire(self._state, now)
            self._hold_until_left(now)
        return reports

    def _see(self, events: Sequence[Batch]) -> None:
        """Counts the times at which something arrived, and notes the ticks of reports."""
        arrived = [batch.ts for batch in events if len(batch)]
        if not arrived:
            return
        times = np.unique(np.concatenate(arrived))
        times = times[(times > self._latest) & (times >= self._start)]
        if len(times):
            numbers = self._count + np.arange(1, len(times) + 1)
            due = times[numbers % self._events == 0]
            self._ticks = np.concatenate([self._ticks, due])
            self._count = int(numbers[-1]) % self._events
            self._latest = int(times[-1])

    def _chosen(self, step: Callable[[IntArray], int], wanted: bool) -> Batch:
        """The rows that the mode reports, of those that a step writes."""
        rows = self._driven(step, wanted or self.records_changes)
        if self._mode == "snapshot":
            return rows
        if self.records_changes and len(rows):
            self._recorded.append(rows)
        left = rows.exp == layout.LEFT
        chosen = rows.take(np.flatnonzero(left if self._mode == "exit" else ~left))
        return Batch(chosen.columns, chosen.ts, chosen.ts + 1)

    def _hold_until_left(self, now: int) -> None:
        """Keeps the values of the last report that are not valid any more until the next call."""
        touched = self._touched[: self._h[layout.TOUCHED]]
        if len(touched):
            columns = self._held.expiring.columns[touched].T.astype(np.int64)
            self._dictionary.hold(columns, np.full(len(touched), now, np.int64))

    def open_row_changes(self) -> Batch:
        """The values that left the last report or came into it, and the number of events."""
        width = 2 + self._width
        batches = [self._open_rows(rows) for rows in self._recorded]
        self._recorded.clear()
        columns = self._dictionary.encode(pa.nulls(width), np.zeros(width, np.int64))
        numbers = np.array([COUNTER, self._count], np.int64)
        columns[[0, -1]] = self._dictionary.encode(pa.array(numbers), np.zeros(2, np.int64))
        ts, exp = (np.array([time], np.int64) for time in (self._latest, FOREVER))
        return merged([*batches, Batch(columns.reshape(-1, 1), ts, exp)])

    def _open_rows(self, rows: Batch) -> Batch:
        count = len(rows)
        marks = self._dictionary.encode(pa.array(np.full(count, VALUE)), np.zeros(count, np.int64))
        nothing = self._dictionary.encode(pa.nulls(count), np.zeros(count, np.int64))
        columns = np.concatenate([marks[np.newaxis], rows.columns, nothing[np.newaxis]])
        return Batch(columns, rows.ts, np.where(rows.exp == layout.LEFT, 0, FOREVER))

    def restore_open_rows(self, rows: Batch, now: int) -> None:
        """Restores the last report and the events, after a replay of the input valid at ``now``."""
        kinds = self._dictionary.integers(rows.columns[0])[0]
        (counter,) = np.flatnonzero(kinds == COUNTER)
        self._count = int(self._dictionary.integers(rows.columns[-1, [counter]])[0][0])
        self._latest = int(rows.ts[counter])
        waits = self._count == 0 and self._latest >= max(now, self._start)
        self._ticks = np.array([self._latest] if waits else [], np.int64)
        self._h[layout.NEXT] = 0
        kernel.clear(self._state)
        values = np.require(rows.columns[1:-1, kinds == VALUE], np.int64, ["C", "W"])
        self._driven(lambda _: kernel.restore(self._state, values), wanted=False)
        kernel.expire(self._state, now)
        self._hold_until_left(now)
        self._recorded.clear()

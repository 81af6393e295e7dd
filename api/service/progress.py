"""How far a run of a plan has come, with rates and lags, as a document.

In: what the executor tells (`Progress`, `RunReport`). Out: a `ProgressDocument`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from ...algebra.durations import DurationError, ticks
from ...documents.runs import ProgressDocument
from ...executor.counters import Counters
from ...executor.spark.report import Progress, RunReport

RATE_SECONDS = 10.0
"""Edges and results per second are means of so much time."""

FAR_SECONDS = 10 * 365 * 86_400.0
"""Times that are further off are none of the clock."""


class RunProgress:
    """The progress of one run of a plan."""

    def __init__(self, time_unit: str) -> None:
        """``time_unit`` is that of the plan."""
        self._tick = _seconds(time_unit)
        self._seen: deque[tuple[float, int, int]] = deque()

    def so_far(self, progress: Progress) -> ProgressDocument:
        """How far the run has come."""
        edges_per_second, results_per_second = self._rates(progress.edges, progress.results)
        entries, size = _state(progress.operators)
        return ProgressDocument(
            phase=progress.phase,
            fraction=progress.fraction,
            batch=progress.batch,
            edges=progress.edges,
            results=progress.results,
            late=progress.late,
            rejected=progress.rejected,
            now=progress.now,
            lag=self._lag(progress),
            ticks=progress.ticks,
            seconds=progress.seconds,
            edges_per_second=edges_per_second,
            results_per_second=results_per_second,
            state_entries=entries,
            state_bytes=size,
        )

    @staticmethod
    def at_end(report: RunReport) -> ProgressDocument:
        """What a run that has ended did in all."""
        entries, size = _state(report.operators)
        return ProgressDocument(
            phase="done",
            fraction=1.0,
            batch=report.batches,
            edges=report.relevant,
            results=report.results,
            late=report.late,
            rejected=report.rejected,
            now=None,
            lag=None,
            ticks=report.ticks,
            seconds=report.seconds,
            edges_per_second=report.edges_per_second,
            results_per_second=report.updates_per_second,
            state_entries=entries,
            state_bytes=size,
        )

    def _lag(self, progress: Progress) -> float | None:
        """Seconds by which a live stream's time is behind the clock, if that is what it tells."""
        if progress.fraction is not None or progress.now is None or self._tick is None:
            return None
        behind = time.time() - progress.now * self._tick
        return max(behind, 0.0) if abs(behind) < FAR_SECONDS else None

    def _rates(self, edges: int, results: int) -> tuple[float, float]:
        now = time.monotonic()
        self._seen.append((now, edges, results))
        while len(self._seen) > 2 and now - self._seen[0][0] > RATE_SECONDS:
            self._seen.popleft()
        then, edges_then, results_then = self._seen[0]
        seconds = now - then
        if not seconds:
            return 0.0, 0.0
        return (edges - edges_then) / seconds, (results - results_then) / seconds


def _seconds(time_unit: str) -> float | None:
    """The length of a time unit; None for one that is none of the clock's."""
    try:
        return ticks(f"1 {time_unit}", "microsecond") / 1_000_000
    except DurationError:
        return None


def _state(operators: Mapping[int, Counters]) -> tuple[int, int]:
    """Entries and bytes that the operators hold."""
    return (
        sum(done.state_entries for done in operators.values()),
        sum(done.state_bytes for done in operators.values()),
    )

"""The progress of a run as a document, with rates and lag.

In: reports of the executor (`Progress`, `RunReport`). Out: a `ProgressDocument`.
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
"""The time over which edges and results per second are averaged, in seconds."""

FAR_SECONDS = 10 * 365 * 86_400.0
"""A stream whose time is further from the clock has no lag, in seconds."""


class RunProgress:
    """The progress of one run of a plan."""

    def __init__(self, time_unit: str) -> None:
        """Creates the progress of a run; ``time_unit`` is the time unit of the plan."""
        self._tick = _seconds(time_unit)
        self._seen: deque[tuple[float, int, int]] = deque()

    def so_far(self, progress: Progress) -> ProgressDocument:
        """Returns the current progress of the run."""
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
        """Returns the total progress of a finished run."""
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
        """Returns the seconds that a live stream is behind the clock, or None."""
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
    """Returns the length of a time unit in seconds; None for a unit without a fixed length."""
    try:
        return ticks(f"1 {time_unit}", "microsecond") / 1_000_000
    except DurationError:
        return None


def _state(operators: Mapping[int, Counters]) -> tuple[int, int]:
    """Returns the number of entries and the bytes of all states."""
    return (
        sum(done.state_entries for done in operators.values()),
        sum(done.state_bytes for done in operators.values()),
    )

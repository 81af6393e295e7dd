"""What is told of a run while it goes on: its progress and its operators, as JSON values.

In: what the executor tells (`Progress`, `RunReport`). Out: documents that have the names of
``run --metrics`` and ``explain --analyze``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from ...algebra.durations import DurationError, ticks
from ...algebra.plan import PhysicalPlan
from ...executor.counters import Counters
from ...executor.spark.report import Progress, RunReport
from ...running.measures import measured

RATE_SECONDS = 10.0
"""Edges and results per second are means of so much time."""

FAR_SECONDS = 10 * 365 * 86_400.0
"""Times that are further off are none of the clock."""

Documents = tuple[dict[str, Any], list[dict[str, Any]]]
"""Of the progress, and of each operator."""


class Account:
    """The account of one run of a plan."""

    def __init__(self, plan: PhysicalPlan) -> None:
        self._plan = plan
        self._tick = _seconds(plan.time_unit)
        self._seen: deque[tuple[float, int, int]] = deque()

    def of_progress(self, progress: Progress) -> Documents:
        """The account so far."""
        edges_per_second, results_per_second = self._rates(progress.edges, progress.results)
        shown = {
            "phase": progress.phase,
            "fraction": progress.fraction,
            "batch": progress.batch,
            "edges": progress.edges,
            "results": progress.results,
            "late": progress.late,
            "rejected": progress.rejected,
            "now": progress.now,
            "lag": self._lag(progress),
            "ticks": progress.ticks,
            "seconds": progress.seconds,
            "edges_per_second": edges_per_second,
            "results_per_second": results_per_second,
            **_state(progress.operators),
        }
        return shown, self._operators(progress.operators, progress.ticks)

    def of_report(self, report: RunReport) -> Documents:
        """The account of a run that has ended."""
        shown = {
            "phase": "done",
            "fraction": 1.0,
            "batch": report.batches,
            "edges": report.relevant,
            "results": report.results,
            "late": report.late,
            "rejected": report.rejected,
            "now": None,
            "lag": None,
            "ticks": report.ticks,
            "seconds": report.seconds,
            "edges_per_second": report.edges_per_second,
            "results_per_second": report.updates_per_second,
            **_state(report.operators),
        }
        return shown, self._operators(report.operators, report.ticks)

    def _lag(self, progress: Progress) -> float | None:
        """Seconds by which a live stream's time is behind the clock, if that is what it tells."""
        if progress.fraction is not None or progress.now is None or self._tick is None:
            return None
        behind = time.time() - progress.now * self._tick
        return max(behind, 0.0) if abs(behind) < FAR_SECONDS else None

    def _operators(self, counters: Mapping[int, Counters], ticks: int) -> list[dict[str, Any]]:
        return [
            {"node": node, **found.document()}
            for node, found in measured(self._plan, counters, ticks).items()
        ]

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


def _state(operators: Mapping[int, Counters]) -> dict[str, int]:
    return {
        "state_entries": sum(done.state_entries for done in operators.values()),
        "state_bytes": sum(done.state_bytes for done in operators.values()),
    }

"""Measures times with their spread, and describes the machine."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

from headrace.running.machine import headline, machine

__all__ = ["ROOT", "Spread", "Timed", "headline", "machine", "peak_bytes", "save", "timed"]

T = TypeVar("T")
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of a number of measurements, with the smallest and the largest."""

    median: float
    low: float
    high: float
    runs: int

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(median(values), min(values), max(values), len(values))

    def text(self, digits: int = 1) -> str:
        """The median, with the smallest and the largest if there are several runs."""
        middle = f"{self.median:,.{digits}f}"
        if self.runs == 1:
            return middle
        return f"{middle} ({self.low:,.{digits}f}-{self.high:,.{digits}f})"


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """The outcome of an action, with its wall time and processor time.

    On a shared machine compare processor times.
    """

    outcome: T
    wall_ms: Spread
    cpu_ms: Spread


def timed(
    action: Callable[[], T], repeats: int, *, seconds: float = 10.0, collect: bool = False
) -> Timed[T]:
    """Runs an action once to warm up, then up to ``repeats`` times within ``seconds``.

    Garbage is collected between runs; during a run only if ``collect``.
    """
    outcome = action()
    wall: list[float] = []
    cpu: list[float] = []
    until = time.perf_counter() + seconds
    for _ in range(max(repeats, 1)):
        gc.collect()
        if not collect:
            gc.disable()
        try:
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            outcome = action()
            cpu.append((time.process_time() - cpu_start) * 1000)
            wall.append((time.perf_counter() - wall_start) * 1000)
        finally:
            gc.enable()
        if time.perf_counter() > until:
            break
    return Timed(outcome, Spread.of(wall), Spread.of(cpu))


def save(path: Path | None, benchmark: str, options: dict[str, Any], rows: Sequence[Any]) -> None:
    """Writes the results of a benchmark as JSON, if there is a path."""
    if path is None:
        return
    document = {
        "benchmark": benchmark,
        "machine": machine(),
        "options": options,
        "rows": [asdict(r) if is_dataclass(r) and not isinstance(r, type) else r for r in rows],
    }
    path.write_text(json.dumps(document, indent=1, default=str) + "\n", "utf-8")


def peak_bytes() -> int:
    """The peak memory of this process, in bytes; 0 if the system does not report it.

    Does not use ``getrusage``, where a process starts with the peak of its parent.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0

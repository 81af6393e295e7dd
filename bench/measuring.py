"""Measures times with their spread, and describes the machine."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
PACKAGES = ("numpy", "numba", "pyarrow", "pyspark", "lark", "sqlglot", "pydantic")


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


def machine() -> dict[str, Any]:
    """The machine and software of a measurement: processor, memory, load, versions, commit."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(_memory_bytes() / 2**30, 1),
        "load": [round(value, 1) for value in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def headline(described: dict[str, Any]) -> str:
    """The machine in one line of text."""
    return (
        f"{described['processor']}, {described['cores']} cores, {described['memory_gb']} GB, "
        f"load {described['load'][0]}; Python {described['python']}; "
        f"commit {described['commit']}; {described['date']}"
    )


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


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"

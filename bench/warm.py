"""The time to compile or load all kernels: ``python -m bench.warm``.

Runs ``headrace warm`` in separate processes, from a copy of the sources with its own cache: *cold*
with an empty cache, *warm* with a full cache, and *two at once* with one empty cache.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import ROOT, Spread, headline, machine, save

_ACCOUNT = re.compile(r"(\d+) kernels compiled, (\d+) loaded, in ([\d.]+) s")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command.

    Attributes:
        kind: ``cold``, ``warm`` or ``two at once``.
        compiled: the number of kernels compiled.
        loaded: the number of kernels loaded from the cache.
        seconds: wall time until the process ended.
        cpu_seconds: processor time, that of concurrent runs included.
    """

    kind: str
    compiled: int
    loaded: int
    seconds: float
    cpu_seconds: float


def copied(folder: str) -> Path:
    """A copy of the sources without compiled code."""
    package = Path(folder) / "headrace"
    package.mkdir()
    for module in ROOT.glob("*.py"):
        shutil.copy(module, package)
    for init in ROOT.glob("*/__init__.py"):
        if init.parent.name != "bench":
            unwanted = shutil.ignore_patterns("__pycache__", "page")
            shutil.copytree(init.parent, package / init.parent.name, ignore=unwanted)
    return Path(folder)


def measured(kind: str, sources: Path, processes: int = 1) -> list[Run]:
    """Runs the command in a number of concurrent processes."""
    begun, cpu = time.perf_counter(), _cpu_of_children()
    environment = {name: v for name, v in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    runs = []
    for process in [
        subprocess.Popen(
            [sys.executable, "-m", "headrace", "warm"],
            cwd=sources,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]:
        _, text = process.communicate()
        found = _ACCOUNT.search(text)
        if process.returncode or found is None:
            raise RuntimeError(f"headrace warm failed:\n{text}")
        seconds = time.perf_counter() - begun
        runs.append(Run(kind, int(found[1]), int(found[2]), seconds, _cpu_of_children() - cpu))
    return runs


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(
    *,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each kind.")] = 3,
    together: Annotated[bool, typer.Option(help="Also two at once.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures `headrace warm` with an empty and with a full cache."""
    console = Console(width=None if Console().is_terminal else 120)
    console.print(headline(machine()))
    runs: list[Run] = []
    for _ in range(repeats):
        with TemporaryDirectory(prefix="headrace-bench-") as folder:
            sources = copied(folder)
            runs += measured("cold", sources)
            runs += measured("warm", sources)
        if not together:
            continue
        with TemporaryDirectory(prefix="headrace-bench-") as folder:
            runs += measured("two at once", copied(folder), 2)
    table = Table(title="headrace warm")
    for name in ("cache", "compiled", "loaded", "wall s", "cpu s"):
        table.add_column(name, justify="left" if name == "cache" else "right")
    for kind in dict.fromkeys(run.kind for run in runs):
        own = [run for run in runs if run.kind == kind]
        table.add_row(
            kind,
            Spread.of([float(run.compiled) for run in own]).text(0),
            Spread.of([float(run.loaded) for run in own]).text(0),
            Spread.of([run.seconds for run in own]).text(1),
            Spread.of([run.cpu_seconds for run in own]).text(1),
        )
    console.print(table)
    save(out, "warm", {"repeats": repeats}, [asdict(run) for run in runs])


if __name__ == "__main__":
    typer.run(main)

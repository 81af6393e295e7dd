"""The time until the first result on a warm machine: ``python -m bench.first_result``.

Each round runs four commands in new processes, one after the other:

- ``run``: ``headrace run`` of a bundled query over the bundled slice, to standard output;
- ``demo``: ``headrace demo`` of the query, without a terminal;
- ``map`` and ``state``: a bare Spark job of one stage over the same files
  (:mod:`bench.bare_job`).

A command's time ends with its first result on standard output. Its processor time is that of all
of its processes until then. The ratios are those of the rounds. The first round, which fills
caches, is shown apart.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import ROOT, Spread, headline, machine, save
from headrace.examples import mathoverflow

BUNDLED = Path(mathoverflow.__file__).parent
OWN = ("run", "demo")
BARE = ("map", "state")
_DEMO_RESULTS = "── Results"
_LONGEST_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class First:
    """The first result of one command.

    Attributes:
        kind: ``run``, ``demo``, ``map`` or ``state``.
        round: the number of the round; round 0 fills caches.
        seconds: wall time from the start of the process to its first result.
        cpu_seconds: processor time of all processes of the command until then.
        whole_seconds: wall time until the command ended.
    """

    kind: str
    round: int
    seconds: float
    cpu_seconds: float
    whole_seconds: float


def command(kind: str, query: str, folder: Path) -> list[str]:
    """The command of a kind; ``folder`` is a temporary one."""
    python = [sys.executable, "-m"]
    match kind:
        case "run":
            return [*python, "headrace", "run", str(BUNDLED / f"{query}.rq"),
                    "--catalog", str(BUNDLED / "catalog.yaml"),
                    "--output", "-", "--checkpoint", str(folder / "checkpoint")]  # fmt: skip
        case "demo":
            return [*python, "headrace", "demo", query]
        case _:
            data = folder / "data"
            data.mkdir()
            for file in BUNDLED.glob("*.csv.gz"):
                (data / file.name).symlink_to(file)
            return [*python, "bench.bare_job", kind, str(data)]


def shows_result(kind: str) -> Callable[[str], bool]:
    """Returns a predicate that holds for the first line of standard output with a result."""
    begun = kind != "demo"

    def is_result(line: str) -> bool:
        nonlocal begun
        if not begun:
            begun = line.startswith(_DEMO_RESULTS)
            return False
        match kind:
            case "run":
                return line.startswith("{")
            case "demo":
                return " = " in line
            case _:
                return line.startswith("RESULT")

    return is_result


def measured(kind: str, round_: int, query: str) -> First:
    """Runs one command to its end.

    Raises:
        RuntimeError: if the command fails or shows no result.
    """
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command(kind, query, Path(folder)),
            cwd=ROOT,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        cpu = _Cpu(process.pid)
        errors: list[str] = []
        reading = threading.Thread(target=errors.extend, args=[process.stderr])
        reading.start()
        overdue = threading.Timer(_LONGEST_SECONDS, process.kill)
        overdue.start()
        assert process.stdout is not None
        is_result = shows_result(kind)
        first = next((time.perf_counter() for line in process.stdout if is_result(line)), None)
        used = cpu.stop()
        for _ in process.stdout:
            pass
        code = process.wait()
        overdue.cancel()
        reading.join()
        if code or first is None:
            raise RuntimeError(f"{kind} failed ({code}):\n{''.join(errors)}")
        return First(kind, round_, first - begun, used, time.perf_counter() - begun)


class _Cpu(threading.Thread):
    """Adds up the processor time of a process and those below it, also of processes that ended."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self._seconds: dict[tuple[int, float], float] = {}
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        """Looks at the processes twice a second."""
        while not self._ended.wait(0.5):
            self._look()

    def stop(self) -> float:
        """Returns the processor time in seconds until now."""
        self._ended.set()
        self.join()
        self._look()
        return sum(self._seconds.values())

    def _look(self) -> None:
        with contextlib.suppress(psutil.Error):
            for process in [self._process, *self._process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    used = process.cpu_times()
                    identity = (process.pid, process.create_time())
                    self._seconds[identity] = used.user + used.system


def table_of(firsts: Sequence[First], against: Sequence[str]) -> Table:
    """The rounds as a table."""
    table = Table(title="until the first result")
    columns = ["command", "first round s", "wall s", "cpu s", "to the end s"]
    columns += [f"wall, of {bare}" for bare in against] + [f"cpu, of {bare}" for bare in against]
    for name in columns:
        table.add_column(name, justify="left" if name == "command" else "right")
    of = {(first.kind, first.round): first for first in firsts}
    for kind in dict.fromkeys(first.kind for first in firsts):
        rounds = sorted(number for own, number in of if own == kind)
        warm = [of[kind, number] for number in rounds if number] or [of[kind, 0]]
        walls, cpus = (
            [
                Spread.of([getattr(o, field) / getattr(of[bare, o.round], field) for o in warm])
                for bare in against
            ]
            for field in ("seconds", "cpu_seconds")
        )
        table.add_row(
            kind,
            f"{of[kind, rounds[0]].seconds:.1f}",
            *(
                Spread.of(values).text(1)
                for values in (
                    [own.seconds for own in warm],
                    [own.cpu_seconds for own in warm],
                    [own.whole_seconds for own in warm],
                )
            ),
            *(ratio.text(2) for ratio in (*walls, *cpus)),
        )
    return table


def main(
    *,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds after the first.")] = 3,
    query: Annotated[str, typer.Option(help="The bundled query.")] = "chains",
    only: Annotated[
        list[str] | None, typer.Option(help="Kinds to run: run, demo, map, state.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the time until the first result, beside that of a bare Spark job."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    kinds = [kind for kind in (*OWN, *BARE) if not only or kind in only]
    firsts: list[First] = []
    for number in range(rounds + 1):
        for kind in kinds if number % 2 else reversed(kinds):
            with console.status(f"round {number}: {kind}"):
                firsts.append(measured(kind, number, query))
    ordered = sorted(firsts, key=lambda first: (kinds.index(first.kind), first.round))
    console.print(table_of(ordered, [kind for kind in BARE if kind in kinds]))
    save(out, "first_result", {"rounds": rounds, "query": query}, ordered)


if __name__ == "__main__":
    typer.run(main)

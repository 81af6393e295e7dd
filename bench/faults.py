"""Damages checkpoints and exhausts resources of runs: ``python -m bench.faults --rounds 40``.

In each round a query runs in one Spark session until a fault at a random batch. Either a file of
the checkpoint is damaged (a flipped bit, a cut end) while nothing runs, or a kind of process cannot
write to files, as on a full disk, or cannot open any. The run must either continue with correct
results or end with an error of Headrace that has a hint. After the end of the fault, the same call
must end with the results of an undisturbed run: each line once, none wrong. docs/faults.md
describes the expected behaviour.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Annotated, Final, Literal, get_args

import psutil
import typer
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
from bench.soak import CASES, lines_of, stream
from headrace import PlanningOptions, PlanRequest, optimize
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.host.errors import (
    DamagedError,
    ExecutionError,
    ResourceError,
    StorageError,
)
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session

Fault = Literal["flip", "cut", "full", "files"]
"""``flip``: a bit of a file is flipped; ``cut``: the end of a file is cut off; ``full``: a kind of
process cannot write to files; ``files``: it cannot open files."""
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
PROCESSES: Final = ("driver", "workers", "jvm")
PARTITIONS: Final = 2
_LIMITS: Final[dict[Fault, int]] = {
    "full": resource.RLIMIT_FSIZE,
    "files": resource.RLIMIT_NOFILE,
}
_TRIES: Final = 3
"""Starts after the end of a fault: Spark may hold failures during the fault against a worker."""


@dataclass(slots=True)
class Round:
    """A run with one fault.

    Attributes:
        query: the name of the case.
        fault: the fault.
        where: the damaged file, or the kind of process.
        batch: the batch after which the fault happens.
        outcome: ``refused`` (the run ended with an error), ``went on``, or ``wrong``.
        message: the error message.
        wrong: the difference from the expected behaviour; empty if there is none.
        seconds: the time of the round.
    """

    query: str
    fault: Fault
    where: str
    batch: int
    outcome: Literal["refused", "went on", "wrong"] = "went on"
    message: str = ""
    wrong: str = ""
    seconds: float = 0.0


class _Stop(Exception):  # noqa: N818 - it is not an error
    """Stops a run at the batch of its fault."""


class Trial:
    """A query over a file, and the lines that an undisturbed run gives."""

    def __init__(self, spark: SparkSession, name: str, seed: int, folder: Path, batch: int) -> None:
        self._spark = spark
        self._folder = folder
        self._file = folder / "edges.csv"
        self._options = RunOptions(checkpoint=folder / "run/ck", largest_slice=batch)
        folder.mkdir()
        stream(CASES[name], seed, self._file)
        request = PlanRequest(
            CASES[name].query,
            inputs=(EdgeFile(str(self._file)),),
            options=PlanningOptions(parallelism=PARTITIONS),
        )
        self._plan: PhysicalPlan = optimize(request).plan
        self._name = name
        self.batches = self._start()
        self._expected = self._lines()
        if not self._expected:
            raise RuntimeError(f"the case {name} has no results to compare")

    def disturbed(self, fault: Fault, random: Random) -> Round:
        """Runs the query with one fault, then without it."""
        shutil.rmtree(self._folder / "run")
        done = Round(self._name, fault, "", random.randint(1, self.batches - 2))
        started = time.monotonic()
        with ExitStack() as until_it_ends:
            if fault in _LIMITS:
                done.where = random.choice(PROCESSES)

                def come() -> None:
                    processes = _processes(self._spark, done.where)
                    until_it_ends.enter_context(_limited(processes, _LIMITS[fault]))

                self._tried(done, _at(done.batch, come), (StorageError, ResourceError))
                until_it_ends.close()
            else:
                with suppress(_Stop):
                    self._start(_at(done.batch, _stop))
                file, whole = _damaged(self._folder / "run", fault, random)
                done.where = str(file.relative_to(self._folder / "run"))
                self._tried(done, None, (DamagedError,))
                if done.outcome == "refused":
                    if str(file.parent) not in done.message and file.name not in done.message:
                        done.wrong = "the error does not name the file"
                    file.write_bytes(whole)
        if done.outcome == "refused":
            self._start_again(done)
        if self._lines() != self._expected and not done.wrong:
            done.wrong = "other lines than undisturbed"
        if done.wrong:
            done.outcome = "wrong"
        done.seconds = time.monotonic() - started
        return done

    def _tried(
        self,
        done: Round,
        on_progress: Callable[[Progress], None] | None,
        expected: tuple[type[ExecutionError], ...],
    ) -> None:
        try:
            self._start(on_progress)
        except ExecutionError as error:
            done.outcome, done.message = "refused", str(error)
            if not isinstance(error, expected) or not error.hint:
                done.wrong = f"{type(error).__name__} is unexpected or has no hint"
        except Exception as error:
            done.outcome, done.message = "refused", repr(error)
            done.wrong = "the error is not one of Headrace"
        more = self._lines() - self._expected
        if more:
            done.wrong = f"{more.total()} lines wrong or twice, such as {next(iter(more))}"

    def _start_again(self, done: Round) -> None:
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                self._start()
            except ExecutionError as error:
                if last:
                    done.wrong = f"the run failed after the end of the fault: {error}"
            else:
                return

    def _start(self, on_progress: Callable[[Progress], None] | None = None) -> int:
        report = run(
            self._plan,
            {stream.name: [EdgeFile(str(self._file))] for stream in self._plan.streams},
            ToFolder(self._folder / "run/out"),
            self._options,
            spark=self._spark,
            on_progress=on_progress,
        )
        return report.batches

    def _lines(self) -> Counter[str]:
        out = self._folder / "run/out"
        lines, torn = lines_of(out) if out.exists() else (Counter[str](), [])
        lines.update(torn)
        return lines


def _at(batch: int, act: Callable[[], None]) -> Callable[[Progress], None]:
    """A progress callback that acts once a batch is done, in the thread of Spark's call."""

    def tell(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == batch:
            act()

    return tell


def _stop() -> None:
    raise _Stop


def _damaged(folder: Path, fault: Fault, random: Random) -> tuple[Path, bytes]:
    """Damages a random file of a run; returns the file and its content before."""
    kinds: dict[str, list[Path]] = {}
    for place in (folder / "ck", folder / "out/_headrace"):
        for file in sorted(path for path in place.rglob("*") if path.is_file()):
            if file.stat().st_size and file.name != "lock":
                kinds.setdefault(f"{file.parent} {file.suffix}", []).append(file)
    file = random.choice(kinds[random.choice(sorted(kinds))])
    whole = file.read_bytes()
    if fault == "cut":
        file.write_bytes(whole[: random.randrange(len(whole))])
    else:
        at = random.randrange(len(whole))
        flipped = bytes([whole[at] ^ 1 << random.randrange(8)])
        file.write_bytes(whole[:at] + flipped + whole[at + 1 :])
    return file, whole


def _processes(spark: SparkSession, kind: str) -> list[psutil.Process]:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    jvm = psutil.Process(gateway.proc.pid)
    match kind:
        case "driver":
            return [psutil.Process(os.getpid())]
        case "jvm":
            return [jvm]
        case _:
            return jvm.children(recursive=True)


@contextmanager
def _limited(processes: Sequence[psutil.Process], limit: int) -> Iterator[None]:
    """Within this block processes cannot write to files, or cannot open files."""
    before = {process: process.rlimit(limit) for process in processes}
    for process, (_, hard) in before.items():
        process.rlimit(limit, (0, hard))
    try:
        yield
    finally:
        for process, limits in before.items():
            with suppress(psutil.NoSuchProcess):
                process.rlimit(limit, limits)


def faults(
    rounds: int,
    seed: int,
    seconds: float,
    *,
    cases: Sequence[str] = tuple(CASES),
    kinds: Sequence[Fault] = FAULTS,
    batch: int = 400,
    console: Console | None = None,
) -> list[Round]:
    """Runs rounds over cases and faults in turn, for at most ``seconds``."""
    random = Random(seed)
    until = time.monotonic() + seconds
    done_rounds: list[Round] = []
    options = SessionOptions(partitions=PARTITIONS)
    with TemporaryDirectory(prefix="faults-") as folder, spark_session(options) as spark:
        trials: dict[str, Trial] = {}
        while len(done_rounds) < rounds and time.monotonic() < until:
            name = cases[len(done_rounds) // len(kinds) % len(cases)]
            if name not in trials:
                trials[name] = Trial(spark, name, seed, Path(folder) / name, batch)
            done = trials[name].disturbed(kinds[len(done_rounds) % len(kinds)], random)
            done_rounds.append(done)
            if console:
                console.print(
                    f"{name}, {done.fault} ({done.where}) after batch {done.batch}: "
                    f"{done.outcome} {done.wrong} {done.message.splitlines()[:1]}",
                    soft_wrap=True,
                    markup=False,
                )
    return done_rounds


def _table(rounds: Sequence[Round]) -> Table:
    table = Table(title="Faults")
    for name in ("fault", "rounds", "went on", "refused", "wrong"):
        table.add_column(name, justify="left" if name == "fault" else "right")
    for fault in dict.fromkeys(done.fault for done in rounds):
        own = [done.outcome for done in rounds if done.fault == fault]
        outcomes = (str(own.count(o)) for o in ("went on", "refused", "wrong"))
        table.add_row(fault, str(len(own)), *outcomes)
    return table


def main(
    *,
    rounds: Annotated[int, typer.Option(help="Number of runs with a fault.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of streams and faults.")] = 1,
    minutes: Annotated[float, typer.Option(help="Minutes after which no round starts.")] = 30.0,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Injects faults into runs; exits with 1 if a run did not end as docs/faults.md says."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    chosen = [name for name in CASES if only in name]
    done_rounds = faults(rounds, seed, 60 * minutes, cases=chosen, console=console)
    console.print(_table(done_rounds))
    save(out, "faults", {"rounds": rounds, "seed": seed, "minutes": minutes}, done_rounds)
    if any(done.outcome == "wrong" for done in done_rounds):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

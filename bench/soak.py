"""Kills running queries repeatedly and compares results: ``python -m bench.soak --kills 100``.

Queries run through ``headrace run`` on generated streams, with two partitions. Each kill (SIGKILL)
hits the driver, its JVM, a Python worker or all of them (:mod:`bench.fault_injection`). Some kills
are at random moments, the others at a step of a micro-batch. The first kill of a query is always at
a file of its first batch. The same command is started again until it ends. Then the output folder
must have the results of an undisturbed run: the same snapshots, no line more often, no torn line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from bench.fault_injection import FILES, KINDS, MOMENTS, KillableRun, Kind, Moment, Watch
from bench.measuring import Spread, headline, machine, save

OFTEN: Final[tuple[Kind, ...]] = ("worker", "worker", "worker", *KINDS)
"""The kinds to choose from: mostly workers, since a killed worker needs no restart."""
WHEN: Final[tuple[Moment, ...]] = ("any", "any", "any", *MOMENTS[1:])
"""The moments to choose from: a part of the kills is at random moments."""
FIRST: Final[tuple[Kind, ...]] = ("driver", "jvm", "tree")
"""The kinds to choose from at the first file, when no worker runs yet."""

_PATIENCE: Final = 300.0
"""The seconds after which a run counts as stuck."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query over a generated stream.

    Attributes:
        query: the query as RQ text.
        labels: the labels of the edges, one letter each.
        edges: the number of edges.
        vertices: the number of vertices.
        step: the most ticks from one edge to the next.
    """

    query: str
    labels: str
    edges: int
    vertices: int
    step: int


CASES: Final = {
    "join": Case("Answer(x, y, z) <- a(x, y), b(y, z) WINDOW 300", "ab", 4000, 50, 1),
    "path": Case("Answer(x, y) <- x (a/b)+ y WINDOW 120 SLIDE 10", "ab", 4000, 80, 1),
    "aggregate": Case(
        "Answer(x, count(*) as n, max(z) as last) <- a(x, y), b(y, z) WINDOW 100", "ab", 4000, 40, 1
    ),
    "report": Case(
        "Answer(x, count(*) as n) <- x a/b y WINDOW 100 EMIT SNAPSHOT EVERY 20", "ab", 4000, 40, 1
    ),
}


@dataclass(slots=True)
class Round:
    """One query, killed several times and restarted until it ended.

    Attributes:
        query: the name of the case.
        kills: the number of kills by kind of process.
        moments: the number of kills by moment.
        starts: the number of runs of the command.
        lines: the number of result lines.
        identical: whether the lines equal those of the undisturbed run.
        wrong: the differences that are errors.
        seconds: the time of all runs.
    """

    query: str
    kills: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    lines: int = 0
    identical: bool = True
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def stream(case: Case, seed: int, file: Path) -> None:
    """Writes the edges of a case."""
    random = Random(seed)
    ts = 0
    lines = ["src,trg,label,ts"]
    for _ in range(case.edges):
        ends = random.randrange(case.vertices), random.randrange(case.vertices)
        lines.append(f"{ends[0]},{ends[1]},{random.choice(case.labels)},{ts}")
        ts += random.randint(0, case.step)
    file.write_text("\n".join(lines) + "\n")


def command(case: Case, file: Path, folder: Path, batch: int) -> list[str]:
    """The command line of a run."""
    return [
        sys.executable, "-m", "headrace", "run", case.query, "--input", str(file),
        "--output", str(folder / "out"), "--checkpoint", str(folder / "checkpoint"),
        "--largest-batch", str(batch), "--parallelism", "2", "--no-progress",
    ]  # fmt: skip


def lines_of(folder: Path) -> tuple[Counter[str], list[str]]:
    """The result lines in the files of a folder, and descriptions of torn lines."""
    lines: Counter[str] = Counter()
    torn = []
    for file in sorted(p for p in folder.iterdir() if p.is_file()):
        text = file.read_text("utf-8")
        if text and not text.endswith("\n"):
            torn.append(f"{file.name} ends within a line")
        for line in text.splitlines():
            try:
                lines[json.dumps(json.loads(line), sort_keys=True)] += 1
            except ValueError:
                torn.append(f"{file.name} has a line that is not JSON: {line[:80]}")
    return lines, torn


def validity(lines: Counter[str]) -> dict[str, list[tuple[int, int]]]:
    """The validity of each answer, as disjoint intervals that do not touch."""
    by_answer: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        document: dict[str, Any] = json.loads(line)
        ts, exp = document.pop("ts", 0), document.pop("exp", None)
        key = json.dumps(document, sort_keys=True)
        by_answer.setdefault(key, []).append((ts, 1 << 62 if exp is None else exp))
    return {key: _joined(intervals) for key, intervals in by_answer.items()}


def _joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for ts, exp in sorted(intervals):
        if joined and ts <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(exp, joined[-1][1]))
        else:
            joined.append((ts, exp))
    return joined


def compared(done: Round, lines: Counter[str], expected: Counter[str]) -> None:
    """Compares the lines of a round with those of the undisturbed run, and records errors."""
    done.lines = lines.total()
    done.identical = lines == expected
    if done.identical:
        return
    twice = [line for line, count in (lines - expected).items() if line in expected and count]
    if twice:
        done.wrong.append(f"{len(twice)} lines too often, such as {twice[0]}")
    if validity(lines) != validity(expected):
        done.wrong.append("a snapshot differs")


def undisturbed(case: Case, file: Path, folder: Path, batch: int) -> tuple[Counter[str], float]:
    """The lines of a run without kills, and its seconds."""
    folder.mkdir()
    started = time.monotonic()
    run = KillableRun(command(case, file, folder, batch), folder / "log")
    try:
        if not run.ends_within(_PATIENCE) or run.process.returncode:
            raise RuntimeError(f"the undisturbed run failed:\n{(folder / 'log').read_text()}")
    finally:
        run.close()
    lines, torn = lines_of(folder / "out")
    assert not torn, torn
    return lines, time.monotonic() - started


def killed(
    name: str,
    case: Case,
    file: Path,
    folder: Path,
    *,
    batch: int,
    random: Random,
    kinds: Sequence[Kind],
    moments: Sequence[Moment],
    first: Sequence[Moment],
    most: int,
    until: float,
) -> Round:
    """Runs one query with kills, then lets it end.

    Args:
        name: the name of the case.
        case: the query and its stream.
        file: the file of the stream.
        folder: a new folder for output, checkpoint and log.
        batch: the most edges of a micro-batch.
        random: chooses kinds and moments.
        kinds: the kinds of processes to kill.
        moments: the moments of kills.
        first: the moments of the first kill; empty for ``moments``.
        most: the largest number of kills.
        until: the monotonic time after which nothing is killed.
    """
    folder.mkdir()
    done = Round(name)
    started = time.monotonic()
    while True:
        done.starts += 1
        run = KillableRun(command(case, file, folder, batch), folder / "log")
        try:
            while done.kills.total() < most and time.monotonic() < until:
                if first and not done.kills:
                    kind, moment = random.choice(FIRST), random.choice(first)
                else:
                    kind, moment = random.choice(kinds), random.choice(moments)
                if not _comes(kind, moment, run, folder=folder, random=random, until=until):
                    break
                if run.kill(kind, random):
                    done.kills[kind] += 1
                    done.moments[moment] += 1
            if not run.ends_within(_PATIENCE):
                done.wrong.append(f"a run did not end in {_PATIENCE:.0f} s")
                break
        finally:
            # Processes that a killed driver leaves behind end by themselves; the next start waits.
            if run.process.poll() is None or run.process.returncode == 0:
                run.close()
        if run.process.returncode == 0:
            break
        if run.process.returncode not in (-signal.SIGKILL, 1, 2, 3, 4):
            done.wrong.append(f"a run ended with {run.process.returncode}")
        if done.starts > most + 5:
            done.wrong.append("the run fails without being killed")
            break
    log = (folder / "log").read_text(errors="replace")
    if "Traceback" in log:
        done.wrong.append(f"a traceback was shown: {log[log.index('Traceback') :][:2000]}")
    if "a fault of Headrace" in log:
        done.wrong.append("a kill was called a fault of Headrace")
    done.seconds = time.monotonic() - started
    return done


def _comes(
    kind: Kind, moment: Moment, run: KillableRun, *, folder: Path, random: Random, until: float
) -> bool:
    """Waits for the moment of a kill; False if the run ends before it, or the time is over."""
    if moment == "any":
        if run.ends_within(random.uniform(0.2, 3.0 if kind == "worker" else 40.0)):
            return False
        # Workers exist only while the stream runs: wait for them.
        while kind == "worker" and not run.has_workers():
            if run.ends_within(0.2) or time.monotonic() > until:
                return False
        return run.process.poll() is None
    nth = random.randint(1, 4)  # not always in the first batch after a start
    return all(Watch(moment, folder).sees_new_file_within(_PATIENCE, run) for _ in range(nth))


def soak(
    kills: int,
    seed: int,
    seconds: float,
    *,
    cases: Sequence[str] = tuple(CASES),
    kinds: Sequence[Kind] = OFTEN,
    moments: Sequence[Moment] = WHEN,
    first: Sequence[Moment] = FILES,
    batch: int = 300,
    per_round: int = 12,
    undisturbed_lines: Mapping[str, Counter[str]] | None = None,
    console: Console | None = None,
) -> list[Round]:
    """Runs rounds over the cases in turn, until enough kills are done or the time is over.

    Args:
        kills: the number of kills.
        seed: the seed of streams and moments.
        seconds: the time after which nothing is killed.
        cases: the names of the cases.
        kinds: the kinds of processes to kill.
        moments: the moments of kills.
        first: the moments of each round's first kill.
        batch: the most edges of a micro-batch.
        per_round: the most kills of a round.
        undisturbed_lines: lines of undisturbed runs by case; other cases run undisturbed first.
        console: prints the progress.
    """
    random = Random(seed)
    until = time.monotonic() + seconds
    rounds: list[Round] = []
    expected = dict(undisturbed_lines or {})
    with TemporaryDirectory(prefix="headrace-soak-") as tmp:
        while sum(r.kills.total() for r in rounds) < kills and time.monotonic() < until:
            name = cases[len(rounds) % len(cases)]
            case = CASES[name]
            file = Path(tmp) / f"{name}.csv"
            if not file.exists():
                stream(case, seed, file)
            if name not in expected:
                expected[name], took = undisturbed(case, file, Path(tmp) / name, batch)
                if console:
                    count = expected[name].total()
                    console.print(f"{name}: {count:,} lines undisturbed, {took:.0f} s")
            folder = Path(tmp) / f"{name}-{len(rounds)}"
            left = min(per_round, kills - sum(r.kills.total() for r in rounds))
            done = killed(
                name,
                case,
                file,
                folder,
                batch=batch,
                random=random,
                kinds=kinds,
                moments=moments,
                first=first,
                most=left,
                until=until,
            )
            lines, torn = lines_of(folder / "out")
            done.wrong += torn
            compared(done, lines, expected[name])
            rounds.append(done)
            if console:
                outcome = "same lines" if done.identical else "same answers"
                console.print(
                    f"{name}: {done.kills.total()} kills {dict(done.kills)} {dict(done.moments)}, "
                    f"{done.starts} starts, {done.seconds:.0f} s: "
                    f"{'; '.join(done.wrong) or outcome}",
                    soft_wrap=True,
                )
            if done.wrong:
                keep = Path(tmp).with_name(f"{Path(tmp).name}-{name}-{len(rounds)}")
                os.rename(folder, keep)
                if console:
                    console.print(f"kept in {keep}")
    return rounds


def _table(rounds: Sequence[Round]) -> Table:
    table = Table(title="Killed and started again")
    table.add_column("query")
    names = (
        "rounds",
        *KINDS,
        *MOMENTS,
        "starts",
        "lines",
        "same lines",
        "wrong",
        "seconds a round",
    )
    for name in names:
        table.add_column(name, justify="right")
    for query in dict.fromkeys(r.query for r in rounds):
        own = [r for r in rounds if r.query == query]
        table.add_row(
            query,
            str(len(own)),
            *(str(sum(r.kills[kind] for r in own)) for kind in KINDS),
            *(str(sum(r.moments[moment] for r in own)) for moment in MOMENTS),
            str(sum(r.starts for r in own)),
            f"{own[0].lines:,}",
            str(sum(r.identical for r in own)),
            str(sum(bool(r.wrong) for r in own)),
            Spread.of([r.seconds for r in own]).text(0),
        )
    return table


def main(
    *,
    kills: Annotated[int, typer.Option(help="Number of kills.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of streams and moments.")] = 1,
    minutes: Annotated[float, typer.Option(help="Minutes after which nothing is killed.")] = 30.0,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Kills runs at random moments; exits with 1 if a result differs from an undisturbed run."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    chosen = [name for name in CASES if only in name]
    rounds = soak(kills, seed, 60 * minutes, cases=chosen, console=console)
    console.print(_table(rounds))
    console.print(
        f"{sum(r.kills.total() for r in rounds)} kills, {sum(r.starts for r in rounds)} starts, "
        f"{sum(bool(r.wrong) for r in rounds)} of {len(rounds)} rounds wrong"
    )
    documents = [
        {
            **asdict(replace(done, kills=Counter(), moments=Counter())),
            "kills": dict(done.kills),
            "moments": dict(done.moments),
        }
        for done in rounds
    ]
    save(out, "soak", {"kills": kills, "seed": seed, "minutes": minutes}, documents)
    if any(r.wrong for r in rounds):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

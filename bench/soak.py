"""Kills a running query again and again: ``python -m bench.soak --kills 100 --seed 1``.

Queries run through ``headrace run`` on made streams, two partitions each. The driver, its JVM, a
Python worker or all of them are killed (SIGKILL), half of the time at random and half just when a
micro-batch has come to a step of its end, or Spark writes a file of its checkpoint
(:mod:`bench.victims`); the first kill of a query is always at a file of its first batch. The same
command is given again until it ends. Then the lines in the output folder, as any reader finds them,
must be those of an undisturbed run: the same answers at every instant, no line more often, none
torn.
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

from bench.measuring import Spread, headline, machine, save
from bench.victims import FILES, KINDS, MOMENTS, Kind, Moment, Victim, Watch

OFTEN: Final[tuple[Kind, ...]] = ("worker", "worker", "worker", *KINDS)
"""A worker as often as all else: that takes no new start."""
WHEN: Final[tuple[Moment, ...]] = ("any", "any", "any", *MOMENTS[1:])
"""A quarter of the kills at random."""
FIRST: Final[tuple[Kind, ...]] = ("driver", "jvm", "tree")
"""What is killed at the first file: no worker is there yet."""

_PATIENCE: Final = 300.0
"""Seconds without an end after which a run counts as stuck."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query over edges of ``labels``; ``step`` is the most time from one edge to the next."""

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
    """One query, killed until it ended; ``wrong`` says what is not as undisturbed.

    ``starts`` are runs of the command, ``identical`` is whether the lines are the same, one by one.
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
    """What a user would type."""
    return [
        sys.executable, "-m", "headrace", "run", case.query, "--input", str(file),
        "--output", str(folder / "out"), "--checkpoint", str(folder / "checkpoint"),
        "--largest-batch", str(batch), "--parallelism", "2", "--no-progress",
    ]  # fmt: skip


def lines_of(folder: Path) -> tuple[Counter[str], list[str]]:
    """The lines that a listing of a folder shows, and what is torn."""
    found: Counter[str] = Counter()
    torn = []
    for file in sorted(p for p in folder.iterdir() if p.is_file()):
        text = file.read_text("utf-8")
        if text and not text.endswith("\n"):
            torn.append(f"{file.name} ends within a line")
        for line in text.splitlines():
            try:
                found[json.dumps(json.loads(line), sort_keys=True)] += 1
            except ValueError:
                torn.append(f"{file.name} has a line that is no JSON: {line[:80]}")
    return found, torn


def validity(lines: Counter[str]) -> dict[str, list[tuple[int, int]]]:
    """When each answer holds, as intervals that do not touch."""
    given: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        document: dict[str, Any] = json.loads(line)
        ts, exp = document.pop("ts", 0), document.pop("exp", None)
        key = json.dumps(document, sort_keys=True)
        given.setdefault(key, []).append((ts, 1 << 62 if exp is None else exp))
    return {key: _joined(intervals) for key, intervals in given.items()}


def _joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for ts, exp in sorted(intervals):
        if joined and ts <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(exp, joined[-1][1]))
        else:
            joined.append((ts, exp))
    return joined


def compared(done: Round, found: Counter[str], expected: Counter[str]) -> None:
    """Notes what is not as undisturbed."""
    done.lines = found.total()
    done.identical = found == expected
    if done.identical:
        return
    twice = [line for line, count in (found - expected).items() if line in expected and count]
    if twice:
        done.wrong.append(f"{len(twice)} lines too often, such as {twice[0]}")
    if validity(found) != validity(expected):
        done.wrong.append("other answers at some instant")


def undisturbed(case: Case, file: Path, folder: Path, batch: int) -> tuple[Counter[str], float]:
    """The lines of a run that nobody kills, and its seconds."""
    folder.mkdir()
    started = time.monotonic()
    victim = Victim(command(case, file, folder, batch), folder / "log")
    try:
        if not victim.ends_within(_PATIENCE) or victim.process.returncode:
            raise RuntimeError(f"the undisturbed run failed:\n{(folder / 'log').read_text()}")
    finally:
        victim.close()
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
    """One query, killed up to ``most`` times and not after ``until``, then left to its end.

    ``first`` are the moments of the first kill, if there are any.
    """
    folder.mkdir()
    done = Round(name)
    started = time.monotonic()
    while True:
        done.starts += 1
        victim = Victim(command(case, file, folder, batch), folder / "log")
        try:
            while done.kills.total() < most and time.monotonic() < until:
                if first and not done.kills:
                    kind, moment = random.choice(FIRST), random.choice(first)
                else:
                    kind, moment = random.choice(kinds), random.choice(moments)
                if not _comes(kind, moment, victim, folder=folder, random=random, until=until):
                    break
                if victim.kill(kind, random):
                    done.kills[kind] += 1
                    done.moments[moment] += 1
            if not victim.ends_within(_PATIENCE):
                done.wrong.append(f"a run did not end in {_PATIENCE:.0f} s")
                break
        finally:
            # What a killed driver leaves behind goes by itself, and the next start waits for it.
            if victim.process.poll() is None or victim.process.returncode == 0:
                victim.close()
        if victim.process.returncode == 0:
            break
        if victim.process.returncode not in (-signal.SIGKILL, 1, 2, 3, 4):
            done.wrong.append(f"a run ended with {victim.process.returncode}")
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
    kind: Kind, moment: Moment, victim: Victim, *, folder: Path, random: Random, until: float
) -> bool:
    """Waits for the moment of a kill; False if the run ends before it, or the time is over."""
    if moment == "any":
        if victim.ends_within(random.uniform(0.2, 3.0 if kind == "worker" else 40.0)):
            return False
        # Workers are there only while the stream runs: they are waited for.
        while kind == "worker" and not victim.has_workers():
            if victim.ends_within(0.2) or time.monotonic() > until:
                return False
        return victim.process.poll() is None
    nth = random.randint(1, 4)  # not always in the first batch after a start
    return all(Watch(moment, folder).sees_it_within(_PATIENCE, victim) for _ in range(nth))


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
    known: Mapping[str, Counter[str]] | None = None,
    console: Console | None = None,
) -> list[Round]:
    """Rounds over the cases in turn, until there were enough kills or the time is over.

    ``known`` are the lines of undisturbed runs; other ones are run first.
    """
    random = Random(seed)
    until = time.monotonic() + seconds
    rounds: list[Round] = []
    expected = dict(known or {})
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
                    lines = expected[name].total()
                    console.print(f"{name}: {lines:,} lines undisturbed, {took:.0f} s")
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
            found, torn = lines_of(folder / "out")
            done.wrong += torn
            compared(done, found, expected[name])
            rounds.append(done)
            if console:
                said = "; ".join(done.wrong) or ("same lines" if done.identical else "same answers")
                console.print(
                    f"{name}: {done.kills.total()} kills {dict(done.kills)} {dict(done.moments)}, "
                    f"{done.starts} starts, {done.seconds:.0f} s: {said}",
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
    kills: Annotated[int, typer.Option(help="So many, then the last run ends.")] = 20,
    seed: Annotated[int, typer.Option(help="Of streams and moments.")] = 1,
    minutes: Annotated[float, typer.Option(help="No kill after so much time.")] = 30.0,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the account here, as JSON.")] = None,
) -> None:
    """Kills runs at random moments; ends with 1 if any result was not as undisturbed."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    chosen = [name for name in CASES if only in name]
    rounds = soak(kills, seed, 60 * minutes, cases=chosen, console=console)
    console.print(_table(rounds))
    console.print(
        f"{sum(r.kills.total() for r in rounds)} kills, {sum(r.starts for r in rounds)} starts, "
        f"{sum(bool(r.wrong) for r in rounds)} of {len(rounds)} rounds wrong"
    )
    accounts = [
        {
            **asdict(replace(done, kills=Counter(), moments=Counter())),
            "kills": dict(done.kills),
            "moments": dict(done.moments),
        }
        for done in rounds
    ]
    save(out, "soak", {"kills": kills, "seed": seed, "minutes": minutes}, accounts)
    if any(r.wrong for r in rounds):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)

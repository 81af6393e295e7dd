"""Measures many queries, each in a process of its own, and appends the rows to a file.

A row is keyed by (label, stream, query, seed). A row that the file has is not measured again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.corpus import Cut, cut_of
from bench.json_lines import append, rows_of
from bench.measuring import ROOT, machine
from bench.regret.job import Job, Settings
from bench.regret.workload import Query, workload

PATIENCE = 6.0
STARTING = 120.0
"""A process is ended after this many seconds and :data:`PATIENCE` times the processor time of a
query, in wall time."""
MOST_KILLS = 3
Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Series:
    """What to measure.

    Attributes:
        data: the folder of data sets; None for the bundled slices.
        out: the file of rows.
        streams: the names of streams.
        queries: parts of the names of queries; empty for all.
        seed: the seed of queries and samples.
        label: the version; empty for the commit.
        sample: the number of queries of each stream; None for all.
        edges: the edges of each stream; None for those of its cut.
        settings: how to measure.
    """

    data: Path | None
    out: Path
    streams: tuple[str, ...]
    queries: tuple[str, ...]
    seed: int
    label: str
    sample: int | None
    edges: int | None
    settings: Settings


def measure_all(series: Series, console: Console, minutes: float | None = None) -> int:
    """Measures the queries that the file does not have; returns their number.

    The order of queries mixes streams and kinds, so that a part of the series is a fair sample.
    """
    began = time.monotonic()
    about = machine()
    label = series.label or str(about["commit"])
    done = set(keys(series.out))
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        cuts = _cuts(series, Path(folder))
        jobs = [job for cut in cuts for job in _queries(series, cut)]
        jobs.sort(key=lambda job: _order(series.seed, job[0].name, job[1].name))
        waiting = [j for j in jobs if (label, j[0].name, j[1].name, series.seed) not in done]
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        count = 0
        with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
            bar = progress.add_task("", total=len(jobs), completed=len(jobs) - len(waiting))
            for cut, query in waiting:
                if minutes is not None and time.monotonic() - began > 60 * minutes:
                    break
                progress.update(bar, description=f"{cut.name}: {query.name}")
                row = measure_one(series, cut, query, Path(folder))
                head = {
                    "label": label, "stream": cut.name, "query": query.name, "seed": series.seed,
                    "kind": query.kind, "text": query.text,
                    "bundled": series.data is None, "machine": about,
                }  # fmt: skip
                append(series.out, {**head, **row})
                progress.console.print(
                    f"{cut.name}: {query.name}: {_outcome(row)}", highlight=False
                )
                progress.advance(bar)
                count += 1
    return count


def keys(path: Path) -> Iterator[Key]:
    """The keys of the rows of a file."""
    for row in rows_of(path):
        yield row["label"], row["stream"], row["query"], row["seed"]


def measure_one(series: Series, cut: Cut, query: Query, folder: Path) -> dict[str, Any]:
    """Measures a query in a process of its own.

    A plan whose run ends the process, or the patience with it, is left out of a second attempt.
    """
    job = Job(
        str(folder / cut.name), query.text, cut.windows, cut.start, cut.time_unit, series.seed,
        series.settings,
    )  # fmt: skip
    for _ in range(MOST_KILLS):
        messages, ended = run_worker(job)
        for message in messages:
            if "row" in message:
                row: dict[str, Any] = message["row"]
                return row
        running = [message["running"] for message in messages]
        if not running or running[-1] in job.killed:
            return {"status": "error", "reason": ended}
        job = replace(job, killed=(*job.killed, running[-1]))
    return {"status": "error", "reason": f"{len(job.killed)} plans ended their process"}


def run_worker(job: Job) -> tuple[list[dict[str, Any]], str]:
    """The messages of a worker, and how it ended."""
    patience = STARTING + PATIENCE * job.settings.query_limit
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.regret.worker"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said, errors = process.communicate(job.to_json(), timeout=patience)
        ended = f"exit code {process.returncode}: {errors[-2000:]}"
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        ended = f"above {patience:g} s"
    lines = [line for line in said.splitlines() if line.startswith("{") and line.endswith("}")]
    return [json.loads(line) for line in lines], ended


def _cuts(series: Series, folder: Path) -> list[Cut]:
    cuts = []
    for name in series.streams:
        cut = cut_of(name, series.data, series.edges)
        if cut is not None:
            (folder / name).mkdir()
            cut.write(folder / name)
            cuts.append(cut)
    return cuts


def _queries(series: Series, cut: Cut) -> list[tuple[Cut, Query]]:
    queries = [
        query
        for query in workload(cut, series.seed)
        if not series.queries or any(part in query.name for part in series.queries)
    ]
    queries.sort(key=lambda query: _order(series.seed, cut.name, query.name))
    return [(cut, query) for query in queries[: series.sample]]


def _order(seed: int, stream: str, query: str) -> str:
    return sha256(f"{seed} {stream} {query}".encode()).hexdigest()


def _outcome(row: dict[str, Any]) -> str:
    if row["status"] != "ok":
        return f"{row['status']}: {row['reason'].strip().splitlines()[-1]}"
    compared = ", ".join(
        f"{role} {values['ratio']:.2f}" for role, values in row["compared"].items()
    )
    wrong = sum(plan["agrees"] == "different" for plan in row["plans"])
    return f"{compared}{f', {wrong} DIFFERENT ANSWERS' if wrong else ''}"

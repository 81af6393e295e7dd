"""Runs the jobs in each system in turns, compares answers, and reports.

``python -m bench.peers --data FOLDER`` measures and goes on where an earlier call ended;
``python -m bench.peers report FILE --out docs/experiments/peers.md`` writes the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Annotated

import typer
from rich.console import Console

from bench.json_lines import append, rows_of
from bench.measuring import headline, machine
from bench.peers.engines import (
    PeerError,
    built,
    run_differential,
    run_pathway,
    run_worker,
    runs,
)
from bench.peers.jobs import LABELS, QUERIES, Job, edges_of
from bench.peers.outcome import Outcome
from bench.peers.report import drawn, write_report
from headrace.executor.batch import IntArray

PEERS = ("headrace", "differential", "duckdb")
OWN_PROGRAMS = {"differential": run_differential, "pathway": run_pathway}
WINDOWS = {"mathoverflow": ("30d", "1d"), "collegemsg": ("7d", "1h")}
TARGET = Path(gettempdir()) / "headrace-peers"
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    *,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; without it the bundled slice.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Append the measurements here, as JSON lines.")] = Path(
        "peers.jsonl"
    ),
    streams: Annotated[str, typer.Option(help="Separated by commas.")] = ",".join(LABELS),
    queries: Annotated[str, typer.Option(help="Separated by commas.")] = ",".join(QUERIES),
    peers: Annotated[
        str, typer.Option(help="Separated by commas; also pathway, with --pathway.")
    ] = ",".join(PEERS),
    edges: Annotated[int, typer.Option(help="Edges of each stream.")] = 20_000,
    batch: Annotated[int, typer.Option(help="Edges that are handed over at once.")] = 2_000,
    window: Annotated[str, typer.Option(help="RANGE,SLIDE in place of that of the stream.")] = "",
    rounds: Annotated[int, typer.Option(help="Timed runs of each system, in turns.")] = 3,
    limit: Annotated[float, typer.Option(help="Seconds of wall time of a run.")] = 300.0,
    target: Annotated[Path, typer.Option(help="Folder for what cargo writes.")] = TARGET,
    pathway: Annotated[
        Path, typer.Option(help="Python of an environment with `pip install pathway`.")
    ] = Path("python3"),
) -> None:
    """Measures the systems."""
    if context.invoked_subcommand is not None:
        return
    console = Console()
    console.print(headline(machine()))
    chosen = peers.split(",")
    program = built(target.resolve()) if "differential" in chosen else target
    programs = {"differential": program, "pathway": pathway}
    for stream in streams.split(","):
        span = tuple(window.split(",")) if window else WINDOWS[stream]
        for query in queries.split(","):
            job = Job(stream, edges, span[0], span[1], query, batch)
            if any(row["job"] == asdict(job) for row in rows_of(out)):
                continue
            systems = [peer for peer in chosen if runs(peer, query)]
            try:
                row = compared(job, edges_of(job, data), systems, programs, rounds, limit=limit)
            except ValueError as error:
                console.print(f"{stream}: {error}")
                break
            append(out, {"job": asdict(job), "machine": machine(), **row})
            console.print(f"{stream} {query}: {row['said']}", highlight=False)


def compared(
    job: Job,
    edges: IntArray,
    peers: list[str],
    programs: Mapping[str, Path],
    rounds: int,
    *,
    limit: float,
) -> dict[str, object]:
    """Checks that the systems give the same answers, and measures them in turns.

    ``programs`` are those of the systems that are no part of this process's environment.

    Returns:
        For each system its processor seconds, memory and answers, or why it has none.
    """
    failed: dict[str, str] = {}
    checked: dict[str, Outcome] = {}
    times: dict[str, list[Outcome]] = {}

    def run(peer: str, *, answers: bool) -> Outcome | None:
        if peer in failed:
            return None
        with TemporaryDirectory(prefix="headrace-bench-") as name:
            folder = Path(name)
            try:
                if peer in OWN_PROGRAMS:
                    start = OWN_PROGRAMS[peer]
                    return start(programs[peer], job, edges, folder, limit, answers=answers)
                return run_worker(peer, job, edges, folder, limit, answers=answers)
            except PeerError as error:
                failed[peer] = str(error)
                return None

    # A re-evaluation has answers at some instants only; Headrace is asked for those, too.
    also = ["headrace at instants"] if {"duckdb", "pathway"} & {*peers} else []
    for peer in [*peers, *also]:
        outcome = run(peer, answers=True)
        if outcome is not None:
            checked[peer] = outcome
    for own, other in (
        ("headrace", "differential"),
        ("headrace at instants", "duckdb"),
        ("headrace at instants", "pathway"),
    ):
        if own in checked and other in checked and checked[own].digest != checked[other].digest:
            failed[other] = "other answers"
    for number in range(rounds):
        for peer in peers if number % 2 else peers[::-1]:
            outcome = run(peer, answers=False)
            if outcome is not None:
                times.setdefault(peer, []).append(replace(outcome, digest=""))
    return {
        "systems": {peer: [each.row() for each in runs_] for peer, runs_ in times.items()},
        "answers": {peer: outcome.answers for peer, outcome in checked.items()},
        "failed": failed,
        "said": ", ".join(
            [f"{peer} {min(r.cpu_s for r in runs_):.3f} s" for peer, runs_ in times.items()]
            + [f"{peer}: {why}" for peer, why in failed.items()]
        ),
    }


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="The file of measurements.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Write the report here, as Markdown.")] = None,
) -> None:
    """Writes a table of the measurements."""
    rows = list(rows_of(file))
    if out is None:
        print(write_report(rows, None))
        return
    drawing, file_of_drawing = drawn(rows), out.with_suffix(".svg")
    if drawing is not None:
        file_of_drawing.write_text(drawing, "utf-8")
    out.write_text(write_report(rows, file_of_drawing.name if drawing else None), "utf-8")


if __name__ == "__main__":
    app()

"""Compares simple paths, trails and arbitrary paths: ``python -m bench.simple_paths FILE``.

FILE has edges ``src trg ts`` separated by blanks, as in the SNAP collection. An edge has label a if
its ts is even, else b. Each query runs with each path semantics. Each run is in its own process,
with one call of the pipeline per hour of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
from bench.running import run, save_edges
from bench.streams import load
from headrace.catalog.edges import EdgeFile
from headrace.planning.planner import optimize
from headrace.planning.requests import PathSemanticsKind, PlanningOptions, PlanRequest

QUERIES = {
    "three steps": "(a|b)/(a|b)/(a|b)",
    "(a/b)+": "(a/b)+",
    "even length": "((a|b)/(a|b))+",
    "closure": "(a|b)+",
}
KINDS: tuple[PathSemanticsKind, ...] = ("arbitrary", "simple", "trail")


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a query with one path semantics; rates are per second of processor time.

    ``outcome`` is ``done``, ``cut`` (by the time limit) or an error message.
    """

    query: str
    semantics: str
    operators: str
    edges: int
    results: int
    seconds: float
    edges_per_second: float
    slowest_slide_ms: float
    peak_mb: float
    outcome: str


def labelled(file: Path, days: int | None) -> pa.Table:
    """The edges of a file, labelled by their times."""
    edges = load(
        (
            EdgeFile(
                str(file),
                label="a",
                header=False,
                names=("src", "trg", "ts"),
                separator=" ",
                vertex_type="integer",
            ),
        ),
        days,
    )
    labels = np.where(np.asarray(edges["ts"]) % 2 == 0, "a", "b").tolist()
    place = edges.schema.get_field_index("label")
    return edges.set_column(place, "label", pa.array(labels, pa.string()))


def measure(name: str, kind: PathSemanticsKind, edges: Path, options: PlanningOptions) -> Row:
    """Runs a query with one path semantics; an error becomes the ``outcome``."""
    text = f"Answer(x, y) <- x {QUERIES[name]} y"
    plan = optimize(PlanRequest(text, options=options)).plan
    operators = " ".join(node.op for node in plan.nodes if "PATH" in node.op or node.op == "FILTER")
    try:
        done = run(plan, edges, 3_600, 600.0)
    except ValueError as error:
        return Row(name, kind, operators, 0, 0, 0.0, 0.0, 0.0, 0.0, str(error))
    return Row(
        name,
        kind,
        operators,
        sum(done.edges),
        sum(done.results),
        sum(done.cpu),
        done.edges_per_second,
        max(done.cpu) * 1000,
        done.peak_bytes / 2**20,
        "done" if done.done else "cut",
    )


def _table(rows: list[Row], title: str) -> Table:
    table = Table(title=title)
    for column in ("query", "paths", "operators", "edges", "results", "s", "edges/s",
                   "slowest hour, ms", "peak MB", "outcome"):  # fmt: skip
        table.add_column(column, justify="right" if column[0] in "ers" else "left")
    for row in rows:
        table.add_row(
            row.query,
            row.semantics,
            row.operators,
            f"{row.edges:,}",
            f"{row.results:,}",
            f"{row.seconds:,.1f}",
            f"{row.edges_per_second:,.0f}",
            f"{row.slowest_slide_ms:,.0f}",
            f"{row.peak_mb:,.0f}",
            row.outcome,
        )
    return table


def main(
    file: Annotated[Path, typer.Argument(help="Edges: src trg ts, perhaps gzipped.")],
    *,
    days: Annotated[int | None, typer.Option(help="The first days of the stream only.")] = None,
    window: Annotated[str, typer.Option(help="How long an edge is valid.")] = "1d",
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    budget: Annotated[int, typer.Option(help="Steps that an edge may take.")] = 1_000_000,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures simple paths and trails beside any paths on a stream of edges without labels."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    rows: list[Row] = []
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        path = Path(folder) / "edges.arrow"
        save_edges(labelled(file, days), path)
        for name in QUERIES:
            for kind in KINDS if only in name else ():
                options = PlanningOptions(
                    window=window, slide="1h", path_semantics=kind, simple_budget=budget
                )
                rows.append(measure(name, kind, path, options))
                save(out, "simple_paths", {"days": days, "window": window}, rows)
    console.print(_table(rows, f"{file.name}, window {window}, slide 1 hour"))


if __name__ == "__main__":
    typer.run(main)

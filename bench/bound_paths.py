"""Compares plans with and without bound paths: ``python -m bench.bound_paths``.

Each query runs with the plan of all rules, and with the plan of a search without the rules that
bind paths (:data:`BINDING`), in one process, in turns, with one call of the pipeline per slide.
The benchmark prints the processor times of both plans and their ratio. The vertices of the
conditions are the most frequent source and target of the stream, and ones of middle frequency.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

BINDING = ("FilterIntoPath", "JoinIntoPath")
QUERIES = {
    "from a hub": "Answer(y) <- {hub} (a2q|c2a|c2q)+ y",
    "from a vertex": "Answer(y) <- {some} (a2q|c2a|c2q)+ y",
    "to a hub": "Answer(x) <- x (a2q|c2a|c2q)+ {sink}",
    "to a vertex": "Answer(x) <- x (a2q|c2a|c2q)+ {target}",
    "between vertices": "Answer(x, y) <- x (a2q|c2a|c2q)+ y, x = {some}, y = {sink}",
    "from several": "Answer(x, y) <- x (a2q|c2a)+ y, x < {some}",
    "closure behind a constant": "Answer(y) <- {hub} a2q/c2a+ y",
    "join, selective": "Answer(x, y, z) <- {some} a2q x, x (c2a|c2q)+ y, y c2a z",
    "join, selective target": "Answer(x, y) <- x (c2a|c2q)+ y, y a2q {sink}",
    "join, sources": "Answer(x, y, z) <- x a2q y, x c2a+ z",
    "join, targets": "Answer(x, y, z) <- x c2a+ y, y a2q z",
    "Q6": "Answer(x, y) <- x a2q+ y, x c2a m, m c2q y",
    "Q7": "Answer(x, y) <- x (a2q/c2a)+ y, x c2q m, m c2q y",
}


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a query; times are processor seconds.

    ``ratio`` is without / with: above 1 the bound plan is faster. ``same``: both plans are equal.
    """

    query: str
    operators: str
    results: int
    without: float
    bound: float
    ratio: Spread
    same: bool


def constants(edges: pa.Table) -> dict[str, int]:
    """The most frequent source and target, and others of middle frequency."""
    names = {}
    for end, most, middle in (("src", "hub", "some"), ("trg", "sink", "target")):
        values, counts = np.unique(np.asarray(edges[end]), return_counts=True)
        order = np.argsort(counts, kind="stable")
        names[most], names[middle] = (
            int(values[order[-1]]),
            int(values[order[len(order) * 9 // 10]]),
        )
    return names


def timed(plan: PhysicalPlan, batches: Sequence[pa.RecordBatch]) -> tuple[float, int]:
    """The processor seconds of a run, and its results."""
    running, results = LocalRun(plan), 0
    start = time.process_time()
    for batch in batches:
        results += len(running.push([batch]))
    return time.process_time() - start, results


def operators_of(plan: PhysicalPlan) -> str:
    """The operators of a plan above its scans, bound ones with a star."""
    return " ".join(
        node.op + "*" * (getattr(node.operator, "sources", None) is not None)
        for node in plan.nodes
        if node.op in ("S_PATH", "HASH_JOIN", "FILTER")
    )


def plans_of(text: str, known: Catalog, window: str) -> list[PhysicalPlan]:
    """The plans of a query without bound paths and with them."""
    plans = []
    for disabled in (BINDING, ()):
        options = PlanningOptions(window=window, slide="1d", disabled_rules=disabled)
        plans.append(optimize(PlanRequest(text, catalog=known, options=options)).plan)
    return plans


def measure(
    name: str, plans: Sequence[PhysicalPlan], batches: Sequence[pa.RecordBatch], pairs: int
) -> Row:
    """Runs both plans of a query in turns."""
    times: list[list[float]] = [[], []]
    results = 0
    for plan in plans:
        timed(plan, batches[:2])  # compiles the kernels
    for pair in range(pairs):
        for side in sorted((0, 1), reverse=pair % 2 == 1):
            seconds, results = timed(plans[side], batches)
            times[side].append(seconds)
    ratio = Spread.of([one / other for one, other in zip(*times, strict=True)])
    return Row(
        name,
        operators_of(plans[1]),
        results,
        min(times[0]),
        min(times[1]),
        ratio,
        plans[0].digest == plans[1].digest,
    )


def main(
    *,
    folder: Annotated[Path | None, typer.Option(help="Folder of MathOverflow.")] = None,
    days: Annotated[int | None, typer.Option(help="Days of the stream.")] = None,
    window: Annotated[str, typer.Option(help="The range of the window.")] = "10d",
    pairs: Annotated[int, typer.Option(min=1, help="Runs of each plan.")] = 3,
    only: Annotated[str, typer.Option(help="Run queries whose name contains this text.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Runs the queries with and without bound paths; without a folder over the bundled stream."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    which = files(folder)
    edges, known = load(which, days), catalog_of(which)
    names, batches = constants(edges), list(slides(edges, DAY))
    table = Table("query", "operators", "results", "without, s", "bound, s", "without / bound")
    rows: list[Row] = []
    for name, text in QUERIES.items():
        if only in name:
            plans = plans_of(text.format(**names), known, window)
            row = measure(name, plans, batches, pairs)
            rows.append(row)
            save(out, "bound_paths", {"days": days, "window": window, **names}, rows)
            table.add_row(
                row.query,
                row.operators,
                f"{row.results:,}",
                f"{row.without:.2f}",
                f"{row.bound:.2f}",
                "the same plan" if row.same else row.ratio.text(2),
            )
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

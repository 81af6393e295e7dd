"""The throughput of plans in one process: ``python -m bench.kernels``.

Runs the canonical plan and the chosen plan of each query, in pairs, each run in its own process.
Each slide of the window is one call of the pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.queries import PAPER_Q4, TABLE_5_1
from bench.running import Slides, labels_of, run, save_edges
from bench.streams import DAY, catalog_of, files, load
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.optimizer import SearchResult
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

LABEL_OF = {"a": "a2q", "b": "c2a", "c": "c2q"}
QUERIES = {
    "a2q+": "Answer(x, y) <- a2q+(x, y).\n",
    "a2q/c2a*": TABLE_5_1["Q2"].format(**LABEL_OF),
    "(a2q/c2a/c2q)+": TABLE_5_1["Q4"].format(**LABEL_OF),
    "Q4 of the paper": PAPER_Q4.format(**LABEL_OF),
    "Q5": TABLE_5_1["Q5"].format(**LABEL_OF),
    "Q6": TABLE_5_1["Q6"].format(**LABEL_OF),
    "Q7": TABLE_5_1["Q7"].format(**LABEL_OF),
}


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one plan of a query.

    Attributes:
        query: the name of the query.
        plan: ``canonical`` or ``chosen``.
        edges: the edges read in the longest run.
        results: the results of the longest run.
        share: the share of the stream's edges that the longest run read.
        edges_per_second: edges per second of processor time.
        edges_per_wall_second: edges per second of wall time.
        results_per_second: results per second of processor time.
        p99_ms: the 99th percentile of a slide's processor time, in ms.
        start_mb: the memory of the process before the first slide, in MB.
        peak_mb: the peak memory of the process, in MB.
        ratio: the time of the canonical plan over that of the chosen one, by pair, over the slides
            that both ran.
        digest: the digest of the plan.
    """

    query: str
    plan: str
    edges: int
    results: int
    share: float
    edges_per_second: Spread
    edges_per_wall_second: Spread
    results_per_second: Spread
    p99_ms: Spread
    start_mb: float
    peak_mb: Spread
    ratio: Spread | None
    digest: str


def plan_of(text: str, known: Catalog, window: str, slide: str) -> SearchResult:
    """The result of Headrace's search for a query."""
    options = PlanningOptions(window=window, slide=slide)
    return optimize(PlanRequest(text, catalog=known, options=options)).optimization


def measure(
    query: str,
    optimized: SearchResult,
    edges: Path,
    *,
    slide: int,
    pairs: int,
    limit: float,
    total: int,
) -> list[Row]:
    """Runs the chosen plan of a query, and the canonical plan if it differs."""
    plans: dict[str, PhysicalPlan] = {"chosen": optimized.plan}
    if optimized.canonical_plan.digest != optimized.plan.digest:
        plans = {"canonical": optimized.canonical_plan, "chosen": optimized.plan}
    runs: dict[str, list[Slides]] = {name: [] for name in plans}
    for pair in range(pairs):
        # The plans take turns to run first, so that a drift of the machine favours neither.
        for name in sorted(plans, reverse=pair % 2 == 1):
            runs[name].append(run(plans[name], edges, slide, limit))
    ratios = []
    for pair in range(pairs) if len(plans) == 2 else ():
        one, other = runs["canonical"][pair], runs["chosen"][pair]
        common = min(len(one.cpu), len(other.cpu))
        ratios.append(sum(one.first(common).cpu) / sum(other.first(common).cpu))
    return [
        _row(
            query,
            name,
            done,
            ratios=ratios if name == "chosen" else [],
            digest=plans[name].digest,
            total=total,
        )
        for name, done in runs.items()
    ]


def _row(
    query: str, name: str, runs: list[Slides], *, ratios: list[float], digest: str, total: int
) -> Row:
    longest = max(runs, key=lambda r: len(r.cpu))
    edges = sum(longest.edges)
    return Row(
        query=query,
        plan=name,
        edges=edges,
        results=sum(longest.results),
        share=edges / total if total else 1.0,
        edges_per_second=Spread.of([r.edges_per_second for r in runs]),
        edges_per_wall_second=Spread.of([r.edges_per_wall_second for r in runs]),
        results_per_second=Spread.of([r.results_per_second for r in runs]),
        p99_ms=Spread.of([r.p99() * 1000 for r in runs]),
        start_mb=max(r.start_bytes for r in runs) / 2**20,
        peak_mb=Spread.of([r.peak_bytes / 2**20 for r in runs]),
        ratio=Spread.of(ratios) if ratios else None,
        digest=digest,
    )


def _table(rows: list[Row], title: str) -> Table:
    table = Table(title=title)
    for name in ("query", "plan"):
        table.add_column(name)
    for name in (
        "edges", "results", "run", "edges/s, cpu", "edges/s, wall", "results/s, cpu",
        "p99 slide ms, cpu", "peak MB (at start)", "canonical / chosen",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.query,
            row.plan,
            f"{row.edges:,}",
            f"{row.results:,}",
            f"{row.share:.0%}",
            row.edges_per_second.text(0),
            row.edges_per_wall_second.text(0),
            row.results_per_second.text(0),
            row.p99_ms.text(),
            f"{row.peak_mb.median:,.0f} ({row.start_mb:,.0f})",
            "" if row.ratio is None else row.ratio.text(2),
        )
    return table


def main(
    *,
    mathoverflow: Annotated[
        Path | None, typer.Option(help="Folder of the three files; else the bundled slice.")
    ] = None,
    days: Annotated[int | None, typer.Option(help="The first days of the stream only.")] = None,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    pairs: Annotated[int, typer.Option(help="Runs of each plan.")] = 3,
    window: Annotated[int, typer.Option(help="Days that an edge is valid.")] = 30,
    limit: Annotated[
        float, typer.Option(help="Processor seconds after which a run is cut.")
    ] = 60.0,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the throughput of plans on MathOverflow, slide 1 day."""
    console = Console(width=None if Console().is_terminal else 220)
    console.print(headline(machine()))
    source = files(mathoverflow)
    known, edges = catalog_of(source), load(source, days)
    what = "bundled slice" if mathoverflow is None else "whole stream"
    what += "" if days is None else f", first {days} days"
    options = {"days": days, "pairs": pairs, "window": window, "limit": limit, "stream": what}
    rows: list[Row] = []
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        path = Path(folder) / "edges.arrow"
        save_edges(edges, path)
        for name, text in QUERIES.items():
            if only in name:
                with console.status(name):
                    optimized = plan_of(text, known, f"{window}d", "1d")
                    wanted = pa.array(labels_of(optimized.plan), pa.string())
                    total = len(edges.filter(pc.is_in(edges["label"], wanted)))
                    rows += measure(
                        name, optimized, path, slide=DAY, pairs=pairs, limit=limit, total=total
                    )
                    save(out, "kernels", options, rows)  # keeps finished queries after an abort
    console.print(_table(rows, f"In process, {what}, window {window} days, slide 1 day"))


if __name__ == "__main__":
    typer.run(main)

"""Compares plans with and without semi-joins: ``python -m bench.semi_joins``.

Each query has variables that its answer does not have. It runs with the plan of all rules, with the
plan of a search without :data:`SEMI_JOINS`, and with that of a search that does not shorten paths
either, in one process, in turns, with one call of the pipeline per slide. The benchmark prints
processor times and their ratios. Below, each *reduction* joins the rows of a label that have a
match with the label again, as text: the semi-join reduction of a large input by hand. With
``--deletions 0.3`` a random 0.3 of the edges are deleted within ten days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.bound_paths import timed
from bench.measuring import Spread, headline, machine, save
from bench.streams import DAY, catalog_of, deleting, files, load, slides
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.rules.implementation import IMPLEMENTATIONS

SEMI_JOINS = ("PatternBySemiJoin", "BoundPatternBySemiJoin")
QUERIES = {
    "chain, its start": "Answer(x) <- a2q(x, y), c2q(z, y), c2a(z, w)",
    "chain, its first edge": "Answer(x, y) <- a2q(x, y), c2q(z, y), c2a(z, w)",
    "star, two arms": "Answer(x, y) <- a2q(x, y), c2q(x, u), c2a(x, v)",
    "star, a projection": "Answer(x) <- a2q(x, y), c2q(x, u), c2a(x, v)",
    "an arm at an edge's end": "Answer(x, y, z) <- a2q(x, y), c2a(y, z), c2q(z, w)",
    "a closed cycle": "Answer(x, y, z) <- a2q(x, y), c2a(y, z), c2q(z, x)",
    "a closure's start": "Answer(x, y) <- a2q(x, y), y c2a+ z",
    "a path's start": "Answer(x) <- x (a2q|c2a)+ y",
    "Q5": "Answer(m1, m2) <- a2q(x, y), c2a(m1, x), c2a(m2, y), c2q(m2, m1)",
    "Q6": "Answer(x, y) <- x a2q+ y, c2a(x, m), c2q(m, y)",
    "Q7": "RL(x, y) <- x a2q+ y, c2a(x, m), c2q(m, y). Answer(x, m) <- x RL+ y, c2q(m, y)",
}
REDUCTIONS = {
    "two arms of a star": (
        "Answer(x, y, u, v) <- a2q(x, y), c2q(x, u), c2a(x, v)",
        "R(x, y) <- a2q(x, y), c2a(x, w). Answer(x, y, u, v) <- R(x, y), c2q(x, u), c2a(x, v)",
    ),
    "a chain": (
        "Answer(x, y, z, w) <- a2q(x, y), c2q(z, y), c2a(z, w)",
        "R(z, y) <- c2q(z, y), a2q(v, y). Answer(x, y, z, w) <- R(z, y), a2q(x, y), c2a(z, w)",
    ),
    "edges below a closure": (
        "Answer(x, y, z) <- a2q(x, y), y c2a+ z",
        "R(y, v) <- a2q(w, y), c2a(y, v). Answer(x, y, z) <- a2q(x, y), R(y, v), y c2a+ z",
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a query; times are processor seconds.

    Attributes:
        query: the name of the query.
        operators: the operators of the first plan above its scans.
        results: the rows of the first plan.
        seconds: the least time of each plan: with all rules first.
        ratios: the time of each further plan over that of the first.
    """

    query: str
    operators: str
    results: int
    seconds: tuple[float, ...]
    ratios: tuple[Spread, ...]


@contextmanager
def without_semi_joins() -> Iterator[None]:
    """Takes the implementation rules of semi-joins out of the table, for a search."""
    rules = dict(IMPLEMENTATIONS)
    for name in SEMI_JOINS:
        del IMPLEMENTATIONS[name]
    try:
        yield
    finally:
        IMPLEMENTATIONS.clear()
        IMPLEMENTATIONS.update(rules)


def plan_of(text: str, known: Catalog, window: str, *disabled: str) -> PhysicalPlan:
    """The plan of a query, without some transformation rules."""
    options = PlanningOptions(window=window, slide="1d", disabled_rules=disabled)
    return optimize(PlanRequest(text, catalog=known, options=options)).plan


def plans_of(text: str, known: Catalog, window: str) -> list[PhysicalPlan]:
    """The plans of a query: with all rules, without semi-joins, without short paths either."""
    plans = [plan_of(text, known, window)]
    with without_semi_joins():
        plans.append(plan_of(text, known, window))
        if "+" in text:
            plans.append(plan_of(text, known, window, "ShortenPath"))
    return plans


def measure(
    name: str, plans: Sequence[PhysicalPlan], batches: Sequence[pa.RecordBatch], rounds: int
) -> Row:
    """Runs the plans of a query in turns."""
    times: list[list[float]] = [[] for _ in plans]
    counts = [0 for _ in plans]
    for plan in plans:
        timed(plan, batches[:2])  # compiles the kernels
    for turn in range(rounds):
        for side in sorted(range(len(plans)), reverse=turn % 2 == 1):
            seconds, counts[side] = timed(plans[side], batches)
            times[side].append(seconds)
    ratios = [
        Spread.of([other / first for first, other in zip(times[0], further, strict=True)])
        for further in times[1:]
    ]
    operators = [n.op for n in plans[0].nodes if n.op not in ("WSCAN", "WSCAN_UNION", "TO_KERNEL")]
    return Row(name, " ".join(operators), counts[0], tuple(map(min, times)), tuple(ratios))


def main(
    *,
    folder: Annotated[Path | None, typer.Option(help="Folder of MathOverflow.")] = None,
    days: Annotated[int | None, typer.Option(help="Days of the stream.")] = None,
    window: Annotated[str, typer.Option(help="The range of the window.")] = "10d",
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each plan.")] = 3,
    only: Annotated[str, typer.Option(help="Run queries whose name contains this text.")] = "",
    deletions: Annotated[float, typer.Option(min=0, max=1, help="Share of deleted edges.")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Runs the queries with and without semi-joins; without a folder over the bundled stream."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    which = files(folder)
    edges, known = load(which, days), catalog_of(which)
    if deletions:
        edges = deleting(edges, deletions, 10 * DAY)
        streams = known.streams.items()
        known = replace(known, streams={k: replace(s, deletions=True) for k, s in streams})
    batches = list(slides(edges, DAY))
    options = {"days": days, "window": window, "deletions": deletions}
    rows: list[Row] = []
    table = Table("query", "operators", "results", "all rules, s", "no semi-join", "nor short path")
    by_hand = Table("reduction", "operators", "results", "whole, s", "reduced / whole")
    for name, text in QUERIES.items():
        if only in name:
            rows.append(measure(name, plans_of(text, known, window), batches, rounds))
            _add(table, rows[-1])
            save(out, "semi_joins", options, rows)
    for name, pair in REDUCTIONS.items():
        if only in name:
            plans = [plan_of(text, known, window) for text in pair]
            rows.append(measure(name, plans, batches, rounds))
            _add(by_hand, rows[-1])
            save(out, "semi_joins", options, rows)
    console.print(table)
    console.print(by_hand)


def _add(table: Table, row: Row) -> None:
    ratios = [ratio.text(2) for ratio in row.ratios]
    table.add_row(row.query, row.operators, f"{row.results:,}", f"{row.seconds[0]:.2f}", *ratios)


if __name__ == "__main__":
    typer.run(main)

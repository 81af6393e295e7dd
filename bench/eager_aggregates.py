"""Plans that group before a join beside plans that do not: ``python -m bench.eager_aggregates``.

The edges are generated, as many for each label in each second. A query is planned with and without
the rule ``AggregateBeforeJoin``, and both plans run in this process, in turns, with one call of the
pipeline for each second. Both give as many lines. The ratios are of processor times, with over
without the rule: the median over the rounds, with the smallest and the largest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import slides
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.document import from_document
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

RULE = "AggregateBeforeJoin"
CHAIN = "Answer(x, count(*) as n) <- a(x, y), b(y, z)."
CASES = (
    (f"{CHAIN} WINDOW 60 EMIT SNAPSHOT EVERY 10", "ab", 100, 100),
    (f"{CHAIN} WINDOW 60", "ab", 100, 100),
    (f"{CHAIN} WINDOW 60", "ab", 10, 1_000),
    ("Answer(count(*) as n) <- a(x, y), b(y, z), c(z, w). WINDOW 20", "abc", 50, 100),
    ("Answer(x, count(*) as n) <- a(x, y), b(x, z). WINDOW 60", "ab", 50, 20),
)
"""A query, its labels, the edges of each label in a second, and the vertices."""


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a query; times are the least processor seconds of its plans.

    Attributes:
        query: the query.
        rate: the edges of each label in a second.
        vertices: the vertices of each end.
        chosen: whether the plan with the rule groups before a join.
        lines: the result lines.
        with_rule: the time of the plan that the search chooses.
        without: the time of the plan without the rule.
        ratio: the time with the rule over that without.
    """

    query: str
    rate: int
    vertices: int
    chosen: bool
    lines: int
    with_rule: float
    without: float
    ratio: Spread


def edges(labels: str, rate: int, vertices: int, seconds: int) -> pa.Table:
    """``rate`` edges of each label in each second between uniform vertices."""
    random, size = np.random.default_rng(1), rate * len(labels) * seconds
    return pa.table(
        {
            "src": pa.array(random.integers(0, vertices, size)),
            "trg": pa.array(random.integers(0, vertices, size)),
            "label": pa.array(np.array(list(labels))[random.integers(0, len(labels), size)]),
            "ts": pa.array(np.repeat(np.arange(seconds), rate * len(labels))),
        }
    )


def measure(query: str, labels: str, rate: int, vertices: int, *, seconds: int, rounds: int) -> Row:
    """Runs both plans of a query in turns."""
    figures = {"rate": rate, "distinct_src": vertices, "distinct_trg": vertices}
    stream = {"labels": dict.fromkeys(labels, figures), "vertex_type": "integer"}
    catalog = from_document({"streams": {"s": stream}})
    plans = [
        optimize(PlanRequest(query, catalog=catalog, options=options)).plan
        for options in (PlanningOptions(), PlanningOptions(disabled_rules=(RULE,)))
    ]
    rows = edges(labels, rate, vertices, seconds)
    for plan in plans:
        _run(plan, rows.slice(0, 1_000))  # compiles the kernels
    runs = [[_run(plan, rows) for plan in plans] for _ in range(rounds)]
    lines = {count for run in runs for count, _ in run}
    assert len(lines) == 1, f"the plans differ: {lines} lines"
    times = [[seconds for _, seconds in run] for run in runs]
    chosen = any(getattr(node.operator, "partial", None) for node in plans[0].nodes)
    return Row(
        query, rate, vertices, chosen, lines.pop(), min(one for one, _ in times),
        min(other for _, other in times), Spread.of([one / other for one, other in times]),
    )  # fmt: skip


def _run(plan: PhysicalPlan, rows: pa.Table) -> tuple[int, float]:
    """The result lines of a plan, and its processor time."""
    running, start = LocalRun(plan), time.process_time()
    lines = sum(len(running.push([batch])) for batch in slides(rows, 1))
    return lines, time.process_time() - start


def main(
    *,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds of the stream.")] = 120,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each plan.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Measures plans with and without aggregates before joins."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    table = Table(
        "query", "edges/s", "vertices", "chosen", "lines", "with, s", "without, s", "ratio"
    )
    rows = []
    for case in CASES:
        row = measure(*case, seconds=seconds, rounds=rounds)
        rows.append(row)
        table.add_row(
            row.query, str(row.rate), f"{row.vertices:,}", "yes" if row.chosen else "no",
            f"{row.lines:,}", f"{row.with_rule:.3f}", f"{row.without:.3f}", row.ratio.text(2),
        )  # fmt: skip
        save(out, "eager_aggregates", {"seconds": seconds, "rounds": rounds}, rows)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

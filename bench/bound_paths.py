"""Compares plans with and without bound paths: ``python -m bench.bound_paths``.

Each query runs with the plan of all rules, and with the plan of a search without the rules that
bind paths (:data:`BINDING`), or without those of ``--without``, in one process, in turns, with one
call of the pipeline per slide.
The benchmark prints the processor times of both plans and their ratio. The vertices of the
conditions are the most frequent source and target of the stream, and ones of middle frequency.
With ``--file`` the stream is a file of edges ``src trg ts`` with one label, as in the SNAP
collection, and with ``--semantics simple`` paths repeat no vertex. ``--force`` measures the
cheapest bound plan where the cost model prefers another one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.algebra.physical import AutomatonPath, ProjectColumns
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import Catalog
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PathSemanticsKind, PlanningOptions, PlanRequest

MOST_RANKED = 3_000
"""The most plans to look at for a bound one."""
BINDING = ("FilterIntoPath", "JoinIntoPath", "JoinIntoPairs", "JoinsIntoPairs")
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
    "pairs of edges": "Answer(x, y) <- x (a2q|c2a|c2q)+ y, a2q(y, x)",
    "pairs of two closures": "Answer(x, y) <- x a2q+ y, y c2a+ x",
    "two atoms": "Answer(x, y) <- {some} a2q x, x (a2q|c2a|c2q)+ y, y a2q {target}",
    "two atoms of hubs": "Answer(x, y) <- {hub} a2q x, x (a2q|c2a|c2q)+ y, y a2q {sink}",
    "two large atoms": "Answer(x, y) <- p a2q x, x (c2a|c2q)+ y, y a2q q",
    "pairs behind a constant": "Answer(y, m) <- x c2a+ y, x c2q m, m c2q y, x = {hub}",
}
QUERIES_OF_ONE_LABEL = {
    "from a hub": "Answer(y) <- {hub} e+ y",
    "to a vertex": "Answer(x) <- x e+ {target}",
    "join, selective": "Answer(x, y) <- {some} e x, x e+ y",
    "three steps behind a constant": "Answer(x, y) <- {some} e x, x e/e/e y",
    "pairs": "Answer(x, y) <- x e+ y, x e m, m e y",
    "cycles": "Answer(x, y) <- x e+ y, e(y, x)",
    "two atoms": "Answer(x, y) <- {some} e x, x e+ y, y e {target}",
    "two atoms of hubs": "Answer(x, y) <- {hub} e x, x e+ y, y e {sink}",
    "two small atoms": "Answer(p, x, y, q) <- p e x, x e+ y, y e q, p < 20, q < 20",
    "two large atoms": "Answer(x, y) <- p e x, x e+ y, y e q",
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

    def is_loops(number: int) -> bool:
        node = plan.nodes[number]
        if node.op == "COALESCE":
            return is_loops(node.inputs[0])
        operator = node.operator
        return isinstance(operator, ProjectColumns) and len(set(operator.columns)) == 1

    return " ".join(
        node.op
        + "*"
        * (
            isinstance(node.operator, AutomatonPath)
            and (node.operator.sources is not None or any(map(is_loops, node.inputs)))
        )
        for node in plan.nodes
        if node.op in ("HASH_JOIN", "MULTIWAY_JOIN", "FILTER") or "PATH" in node.op
    )


def plans_of(
    text: str,
    known: Catalog,
    options: PlanningOptions,
    force: bool = False,
    without: Sequence[str] = BINDING,
) -> list[PhysicalPlan]:
    """The plans of a query without some rules and with all, by force those with pairs first."""
    plans = []
    for disabled in (tuple(without), ()):
        chosen = replace(options, disabled_rules=disabled)
        found = optimize(PlanRequest(text, catalog=known, options=chosen)).optimization
        plans.append(found.plan)
    if force:
        cheapest = [p for p in islice(found.plans.ranked(), MOST_RANKED) if is_bound(p)]
        of_pairs = [p for p in cheapest if any(node.op == "PAIR_PATH" for node in p.nodes)]
        plans[1] = [*of_pairs, *cheapest, plans[1]][0]
    return plans


def is_bound(plan: PhysicalPlan) -> bool:
    """Whether a condition or a relation binds a path of a plan."""
    return "*" in operators_of(plan)


def one_label(file: Path) -> tuple[EdgeFile, ...]:
    """A file of edges ``src trg ts`` as a stream of the label e."""
    names = ("src", "trg", "ts")
    return (
        EdgeFile(
            str(file), label="e", header=False, names=names, separator=" ", vertex_type="integer"
        ),
    )


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
    file: Annotated[Path | None, typer.Option(help="A file of edges of one label.")] = None,
    semantics: Annotated[PathSemanticsKind, typer.Option(help="Which paths count.")] = "arbitrary",
    force: Annotated[bool, typer.Option(help="Measure bound plans even if dearer.")] = False,
    without: Annotated[list[str] | None, typer.Option(help="A rule to measure.")] = None,
    days: Annotated[int | None, typer.Option(help="Days of the stream.")] = None,
    window: Annotated[str, typer.Option(help="The range of the window.")] = "10d",
    pairs: Annotated[int, typer.Option(min=1, help="Runs of each plan.")] = 3,
    only: Annotated[str, typer.Option(help="Run queries whose name contains this text.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Runs the queries with and without bound paths; without a folder over the bundled stream."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    which = files(folder) if file is None else one_label(file)
    queries = QUERIES if file is None else QUERIES_OF_ONE_LABEL
    options = PlanningOptions(window=window, slide="1d", path_semantics=semantics)
    edges, known = load(which, days), catalog_of(which)
    names, batches = constants(edges), list(slides(edges, DAY))
    table = Table("query", "operators", "results", "without, s", "bound, s", "without / bound")
    rows: list[Row] = []
    for name, text in queries.items():
        if only in name:
            plans = plans_of(text.format(**names), known, options, force, without or BINDING)
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

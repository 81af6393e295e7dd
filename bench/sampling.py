"""Compares estimates with and without a sample of the stream: ``python -m bench.sampling``.

Plans closures, compositions and cycles over the labels of a stream with and without its sample,
runs the plan, and compares rate and population of the answer with both estimates. A q-error is the
larger one of estimated / measured and measured / estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save, timed
from bench.running import labels_of
from bench.streams import files, load, slides
from headrace.algebra import durations
from headrace.catalog.inputs import Layout, files_of_inputs, measured_catalog
from headrace.catalog.model import Catalog
from headrace.executor.local import LocalRun
from headrace.planning.planner import Planned, optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.measures import measured as beside_estimates
from headrace.running.measures import q_error


@dataclass(frozen=True, slots=True)
class Row:
    """A query, its measured answer, and both estimates; rates per tick, times in milliseconds.

    ``sampled`` is the number of relations that the sample estimated, ``q_*`` are q-errors with the
    sample and ``q_*_before`` without it.
    """

    query: str
    kind: str
    rate: float
    population: float
    q_rate: float
    q_population: float
    q_rate_before: float
    q_population_before: float
    sampled: int
    planning: float
    planning_before: float


def queries(labels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Kinds of queries and their texts, over up to three labels."""
    a, b, c = [labels[k % len(labels)] for k in range(3)]
    any_label = f"({'|'.join(labels[:3])})" if len(labels) > 1 else a
    paths = {
        "closure": [f"{a}+", f"{any_label}+", f"{a}/{b}*", f"({a}/{b})+", f"({a}/{b}/{c})+"],
        "composition": [f"{a}/{b}", f"{a}/{b}/{c}", f"{any_label}/{any_label}"],
    }
    for kind, expressions in paths.items():
        for expression in expressions:
            yield kind, f"Answer(x, y) <- x {expression} y."
    yield "join", f"Answer(x, y, z) <- {a}(x, y), {b}(x, z)."
    yield "join", f"Answer(x, y, z) <- {a}(x, y), {b}(y, z)."
    yield "cycle", f"Answer(x, y) <- {a}(x, y), {b}(y, x)."
    yield "cycle", f"Answer(x, y, z) <- {a}(x, y), {b}(y, z), {c}(z, x)."
    yield "cycle", f"Answer(x, z) <- {a}(x, y), {b}(y, z), {c}(x, z)."


def compared(
    query: tuple[str, str],
    catalog: Catalog,
    edges: pa.Table,
    options: PlanningOptions,
    limit: float,
) -> Row | None:
    """Plans and runs a query of a kind; None if the run takes longer than ``limit`` seconds."""

    kind, text = query

    def planned(known: Catalog) -> Planned:
        return optimize(PlanRequest(text, catalog=known, options=options))

    after = timed(lambda: planned(catalog), 5, seconds=1.0)
    before = timed(lambda: planned(replace(catalog, samples={})), 5, seconds=1.0)
    plan = after.outcome.plan
    slide = durations.ticks(options.slide or "1", catalog.time_unit)
    wanted = edges.filter(pc.is_in(edges["label"], pa.array(labels_of(plan), pa.string())))
    run, begun = LocalRun(plan), process_time()
    for batch in slides(wanted, slide):
        run.push([batch])
        if process_time() - begun > limit:
            return None
    first, last = pc.min_max(edges["ts"]).values()
    answer = beside_estimates(plan, run.counters, last.as_py() - first.as_py() + 1)[plan.root]
    estimates = plan.nodes[-1].estimate, before.outcome.plan.nodes[-1].estimate
    least = 1 / answer.ticks
    q_rate, q_rate_before = (q_error(e.rate, answer.rate, least) for e in estimates)
    q_population, q_population_before = (
        q_error(e.population, answer.population, 1.0) for e in estimates
    )
    sampler = after.outcome.cost_model.sampler
    return Row(
        text.removeprefix("Answer").rstrip(".").replace(" <-", ":"),
        kind,
        answer.rate,
        answer.population,
        q_rate,
        q_population,
        q_rate_before,
        q_population_before,
        0 if sampler is None else sampler.estimated,
        after.cpu_ms.median,
        before.cpu_ms.median,
    )


def main(
    inputs: Annotated[
        list[str] | None, typer.Argument(help="LABEL=FILE or FILE; the bundled slice by default.")
    ] = None,
    *,
    columns: Annotated[str | None, typer.Option(help="The fields of files without header.")] = None,
    sep: Annotated[str | None, typer.Option(help="The character between fields.")] = None,
    time_unit: Annotated[str, typer.Option(help="The unit of ts.")] = "second",
    window: Annotated[str, typer.Option(help="The range of windows.")] = "30d",
    slide: Annotated[str, typer.Option(help="The slide of windows.")] = "1d",
    labels: Annotated[str | None, typer.Option(help="Up to three labels of the queries.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds of processor time per query.")] = 30.0,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Compares estimates with and without a sample."""
    console = Console(width=150)
    layout = Layout.of(columns, sep, time_unit)
    which = files_of_inputs(inputs, layout) if inputs else files(None)
    catalog, _ = measured_catalog(which)
    edges = load(tuple(which))
    (stream,) = catalog.streams.values()
    named = (
        labels.split(",") if labels else sorted(stream.labels, key=lambda k: -stream.labels[k].rate)
    )
    options = PlanningOptions(window=window, slide=slide)
    console.print(headline(machine()))
    heads = ("query", "rate", "population", "q rate", "before", "q pop.", "before")
    table = Table(*heads, "sampled", "planning ms", "before")
    rows = []
    for kind, text in queries(named):
        row = compared((kind, text), catalog, edges, options, limit)
        if row is None:
            console.print(f"longer than {limit:g} s: {text}")
            continue
        rows.append(row)
        errors = (row.q_rate, row.q_rate_before, row.q_population, row.q_population_before)
        table.add_row(
            row.query,
            f"{row.rate:.3g}",
            f"{row.population:.3g}",
            *(f"{error:.3g}" for error in errors),
            str(row.sampled),
            f"{row.planning:.1f}",
            f"{row.planning_before:.1f}",
        )
    console.print(table)
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind]
        console.print(
            f"{kind}: median q-error of rate {median(r.q_rate for r in mine):.3g} "
            f"({median(r.q_rate_before for r in mine):.3g} without the sample), of population "
            f"{median(r.q_population for r in mine):.3g} "
            f"({median(r.q_population_before for r in mine):.3g})"
        )
    save(out, "sampling", {"window": window, "slide": slide}, rows)


if __name__ == "__main__":
    typer.run(main)

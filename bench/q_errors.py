"""Compares estimates with measured rates: ``python -m bench.q_errors --data FOLDER``.

Plans the queries of `bench.regret` over real streams, runs some plans of each query once, and
compares the estimates of all sub-plans with what their operators emitted. Estimates are compared
with the sample of the stream and without it. A q-error is the larger one of estimated / measured
and measured / estimated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bench.corpus import STREAMS, Cut, cut_of
from bench.measuring import headline, machine, save
from bench.regret.candidates import sampled
from bench.regret.forms import form, forms, pictures
from bench.regret.kinds import kind_of
from bench.regret.measure import catalog_of
from bench.regret.runs import batches_of, run
from bench.regret.statistics import quantile
from bench.regret.workload import TUNING, Query, workload
from headrace.algebra.durations import ticks
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.model import Catalog
from headrace.planning.errors import HeadraceError
from headrace.planning.planner import Planned, optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.measures import measured, q_error


@dataclass(frozen=True, slots=True)
class SubPlan:
    """A sub-plan of a query, its measured rate, and the q-errors of its estimates.

    Attributes:
        stream: the name of the stream.
        query: the name of the query.
        text: the query.
        kind: the kind of the topmost operator.
        picture: the operators in one line.
        window: the range of the window.
        rate: the measured rows per time unit.
        estimate: the estimated rows per time unit, with the sample.
        population: the q-error of the population, with the sample.
        with_sample: the q-error of the rate, with the sample.
        without: the q-error of the rate, without the sample.
    """

    stream: str
    query: str
    text: str
    kind: str
    picture: str
    window: str
    rate: float
    estimate: float
    population: float
    with_sample: float
    without: float | None


Rows = dict[str, tuple[float, float, int]]
"""By the form of a sub-plan: the measured rate, the population, and the time units of the run."""


Estimates = Mapping[str, tuple[PhysicalPlan, int]]
"""By the form of a sub-plan: a plan that has it, and the number of its topmost node."""


class Measurements:
    """The measured rates of sub-plans, kept in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._kept: dict[str, Any] = {}
        if path is not None and path.exists():
            self._kept = json.loads(path.read_text("utf-8"))

    def of(self, key: str) -> Any:
        """The measurements of a key; None without any."""
        return self._kept.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keeps measurements."""
        self._kept[key] = value

    def write(self) -> None:
        """Writes the file."""
        if self._path is not None:
            self._path.write_text(json.dumps(self._kept), "utf-8")


@dataclass(frozen=True, slots=True)
class Compared:
    """The sub-plans of a query, and the milliseconds of processor time of planning it."""

    sub_plans: list[SubPlan]
    planning: float
    planning_without: float


def compared(
    cut: Cut,
    catalog: Catalog,
    query: Query,
    known: Measurements,
    *,
    plans: int,
    limit: float,
    seed: int,
) -> Compared | None:
    """Compares the estimates of a query's sub-plans, with the largest window that is fast enough.

    Args:
        cut: the stream.
        catalog: its measured catalog.
        query: the query.
        known: measurements of earlier calls.
        plans: the number of sampled plans beside the chosen one and the one as written.
        limit: the most seconds of a run.
        seed: determines the sampled plans.

    Returns:
        None if no window is fast enough.
    """
    for window in cut.windows[cut.start :]:
        options = PlanningOptions(window=window[0], slide=window[1])
        request = PlanRequest(query.text, language="rq", catalog=catalog, options=options)
        planned, planning = _timed(request)
        bare = replace(request, catalog=replace(catalog, samples={}))
        other, planning_without = _timed(bare)
        chosen = {
            form(plan): plan
            for search in (planned, other)
            for plan in (
                search.optimization.plan,
                search.optimization.canonical_plan,
                *sampled(search.optimization, plans, seed),
            )
        }
        rows = _rows(cut, catalog, window, list(chosen.values()), known=known, limit=limit)
        if rows is not None:
            found = _sub_plans(
                cut,
                query,
                window,
                rows,
                estimates=_estimates(planned, plans, seed),
                without=_estimates(other, plans, seed),
            )
            return Compared(list(found), planning, planning_without)
    return None


def _timed(request: PlanRequest) -> tuple[Planned, float]:
    begun = process_time()
    planned = optimize(request)
    return planned, 1000 * (process_time() - begun)


def _rows(
    cut: Cut,
    catalog: Catalog,
    window: tuple[str, str],
    plans: list[PhysicalPlan],
    *,
    known: Measurements,
    limit: float,
) -> Rows | None:
    """The measured rates of the sub-plans of some plans; None if the first two are too slow."""
    rows: Rows = {}
    calls = None
    slow = 0
    for plan in plans:
        key = sha256(f"{cut.name} {len(cut.edges)} {window} {form(plan)}".encode()).hexdigest()
        kept = known.of(key)
        if kept is None:
            if calls is None:
                calls = batches_of(catalog, {s.name: s.labels for s in plan.streams})
            times = [call[0]["ts"][0].as_py() for call in calls]
            times = [t for t in times if t > 0]
            fill = min(ticks(window[0], cut.time_unit), (times[-1] - times[0]) // 2) if times else 0
            done = run(plan, calls, limit, fill=fill)
            kept = {}
            if done.counters is not None:
                kept = {
                    forms(plan)[node]: (one.rate, one.population, one.ticks)
                    for node, one in measured(plan, done.counters, done.ticks).items()
                }
            known.put(key, kept)
        slow += not kept
        if slow == 2 and not rows:
            return None
        rows.update({name: tuple(values) for name, values in kept.items()})
    return rows or None


def _sub_plans(
    cut: Cut,
    query: Query,
    window: tuple[str, str],
    rows: Rows,
    *,
    estimates: Estimates,
    without: Estimates,
) -> Iterator[SubPlan]:
    for name, (plan, node) in estimates.items():
        if name not in rows:
            continue
        rate, population, length = rows[name]
        estimate = plan.nodes[node].estimate
        if not length or estimate.interval is None:
            continue
        least = 1 / length
        before = without.get(name)
        yield SubPlan(
            cut.name,
            query.name,
            query.text,
            kind_of(plan, node),
            pictures(plan)[node],
            window[0],
            rate,
            estimate.emitted_rate,
            q_error(estimate.emitted_population, population, least),
            q_error(estimate.emitted_rate, rate, least),
            None
            if before is None
            else q_error(before[0].nodes[before[1]].estimate.emitted_rate, rate, least),
        )


def _estimates(planned: Planned, plans: int, seed: int) -> Estimates:
    """The sub-plans of the plans that are compared."""
    search = planned.optimization
    nodes: dict[str, tuple[PhysicalPlan, int]] = {}
    for plan in (search.plan, search.canonical_plan, *sampled(search, plans, seed)):
        for number, name in enumerate(forms(plan)):
            nodes.setdefault(name, (plan, number))
    return nodes


def summary(rows: list[SubPlan], title: str = "") -> Table:
    """The q-errors of the rate by kind of operator, with the sample and without it."""
    heads = ("operator", "sub-plans", "median", "p95", "worst", "too low")
    table = Table(*heads, "without: median", "p95", "worst", title=title)
    for kind in sorted({row.kind for row in rows}):
        mine = [row for row in rows if row.kind == kind]
        errors = [row.with_sample for row in mine]
        before = [row.without for row in mine if row.without is not None]
        low = sum(row.estimate < row.rate for row in mine) / len(mine)
        table.add_row(kind, str(len(mine)), *_quantiles(errors), f"{low:.0%}", *_quantiles(before))
    return table


def _quantiles(errors: list[float]) -> tuple[str, str, str]:
    """Median, 95 % quantile and the largest; nothing without any."""
    if not errors:
        return "", "", ""
    median_, high, largest = median(errors), quantile(errors, 0.95), max(errors)
    return f"{median_:,.2f}", f"{high:,.2f}", f"{largest:,.2f}"


def main(
    *,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; without it the bundled slices.")
    ] = None,
    streams: Annotated[str, typer.Option(help=f"Of {', '.join(STREAMS)}, with commas.")] = "",
    queries: Annotated[str, typer.Option(help="Queries with one of these in their names.")] = "",
    seed: Annotated[int, typer.Option(help="1 is for tuning, other seeds are for checking.")] = (
        TUNING
    ),
    sample: Annotated[int, typer.Option(help="The number of queries of each stream.")] = 12,
    plans: Annotated[int, typer.Option(help="The number of sampled plans of a query.")] = 4,
    edges: Annotated[int, typer.Option(help="Edges of each stream.")] = 20_000,
    limit: Annotated[float, typer.Option(help="Seconds of processor time of a run.")] = 1.5,
    minutes: Annotated[float, typer.Option(help="Then no further query begins.")] = 1e9,
    worst: Annotated[int, typer.Option(help="Show this many sub-plans with the largest error.")] = (
        0
    ),
    kept: Annotated[Path | None, typer.Option(help="A file of measurements to reuse.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Compares estimated and measured rates of sub-plans over real streams."""
    console = Console(width=170)
    console.print(headline(machine()))
    known, rows, times = Measurements(kept), list[SubPlan](), list[tuple[float, float]]()
    begun = process_time()
    for name in filter(None, streams.split(",")) if streams else STREAMS:
        cut = cut_of(name, data, edges)
        if cut is None:
            continue
        with TemporaryDirectory(prefix="headrace-bench-") as folder:
            cut.write(Path(folder))
            catalog = catalog_of(Path(folder), cut.time_unit)
            for query in _chosen(cut, seed, queries, sample):
                if process_time() - begun > 60 * minutes:
                    break
                try:
                    done = compared(cut, catalog, query, known, plans=plans, limit=limit, seed=seed)
                except HeadraceError as error:
                    console.print(f"{name}: {query.name}: {error}")
                    continue
                if done is not None:
                    rows += done.sub_plans
                    times.append((done.planning, done.planning_without))
        known.write()
    console.print(summary(rows))
    if times:
        console.print(
            f"planning, ms of processor time: median {median(t[0] for t in times):.0f}, largest "
            f"{max(t[0] for t in times):.0f}; without the sample {median(t[1] for t in times):.0f}"
            f" and {max(t[1] for t in times):.0f}"
        )
    for row in sorted(rows, key=lambda row: -row.with_sample)[:worst]:
        console.print(
            f"{row.with_sample:8.1f} ({row.without or 0:8.1f}) est {row.estimate:9.3g} "
            f"measured {row.rate:9.3g} pop {row.population:8.1f} {row.stream} {row.window} "
            f"{row.kind}\n      {row.text}\n      {row.picture}",
            highlight=False, markup=False,
        )  # fmt: skip
    save(out, "q-errors", {"seed": seed, "edges": edges, "sample": sample}, [*map(asdict, rows)])


def _chosen(cut: Cut, seed: int, names: str, count: int) -> list[Query]:
    """Some queries of the workload, mixed by the hash of their names."""
    parts = list(filter(None, names.split(",")))
    queries = [
        query
        for query in workload(cut, seed)
        if not parts or any(part in query.name for part in parts)
    ]
    queries.sort(key=lambda q: sha256(f"{seed} {cut.name} {q.name}".encode()).hexdigest())
    return queries[:count]


if __name__ == "__main__":
    typer.run(main)

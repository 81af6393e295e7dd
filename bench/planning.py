"""Times planning with a sample of the stream and without it: ``python -m bench.planning``.

Plans the queries of Tables 4.2 and 5.1 of the thesis over real streams, several times each in one
process, and prints the processor time with the sample, how much of it the sample takes, and the
time without the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.corpus import STREAMS, Cut, cut_of
from bench.measuring import Spread, headline, machine, save, timed
from bench.regret.candidates import DEFAULT, requested
from bench.regret.measure import catalog_of
from bench.regret.workload import TUNING, workload
from headrace.catalog.model import Catalog
from headrace.planning.planner import Planned, optimize

AIM = 50.0
"""Milliseconds within which the queries of the tables are to be planned."""


@dataclass(frozen=True, slots=True)
class Row:
    """A query over a stream and its times in milliseconds of processor time.

    Attributes:
        stream: the name of the stream.
        query: the name of the query.
        planning: with the sample.
        sampling: the wall time of the sample's estimates in one of these plannings.
        estimates: the number of these estimates.
        without: without the sample.
    """

    stream: str
    query: str
    planning: Spread
    sampling: float
    estimates: int
    without: Spread


def planned_queries(cut: Cut, catalog: Catalog, repeats: int) -> Iterator[Row]:
    """Times the queries of the tables over a stream with its default window."""
    window = cut.windows[cut.start]

    def timed_planning(text: str, known: Catalog) -> tuple[Planned, Spread]:
        request = requested(text, known, window, DEFAULT)
        done = timed(lambda: optimize(request), repeats, collect=True)
        return done.outcome, done.cpu_ms

    for query in workload(cut, TUNING):
        if not query.name.startswith("Table"):
            continue
        planned, planning = timed_planning(query.text, catalog)
        _, without = timed_planning(query.text, replace(catalog, samples={}))
        sampler = planned.cost_model.sampler
        seconds, estimates = (0.0, 0) if sampler is None else (sampler.seconds, sampler.estimated)
        yield Row(cut.name, query.name, planning, seconds * 1000, estimates, without)


def shown(rows: Sequence[Row]) -> Table:
    """The table of all queries, the slowest first."""
    table = Table("stream", "query", "planning ms", "of it sampling", "estimates", "without sample")
    for row in sorted(rows, key=lambda row: -row.planning.median):
        table.add_row(
            row.stream,
            row.query,
            row.planning.text(),
            f"{row.sampling:.1f}",
            str(row.estimates),
            row.without.text(),
        )
    return table


def main(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; without it the bundled slices.")
    ] = None,
    *,
    streams: Annotated[str, typer.Option(help="Names of streams.")] = "mathoverflow,collegemsg",
    edges: Annotated[int, typer.Option(help="The edges of each stream.")] = 30_000,
    repeats: Annotated[int, typer.Option(help="Plannings of each query, after one more.")] = 5,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Times planning."""
    console = Console(width=120)
    console.print(headline(machine()))
    rows: list[Row] = []
    for name in streams.split(","):
        if name not in STREAMS:
            raise typer.BadParameter(f"no stream {name!r}; there are {', '.join(STREAMS)}")
        cut = cut_of(name, data, edges)
        if cut is None:
            console.print(f"{name} has no bundled slice: give --data")
            continue
        with TemporaryDirectory() as folder:
            cut.write(Path(folder))
            rows += planned_queries(cut, catalog_of(Path(folder), cut.time_unit), repeats)
    if rows:
        console.print(shown(rows))
        for what, times in (
            ("with the sample", [row.planning.median for row in rows]),
            ("without it", [row.without.median for row in rows]),
        ):
            console.print(
                f"{what}: median {median(times):.0f} ms, most {max(times):.0f} ms, "
                f"{sum(time > AIM for time in times)} of {len(times)} above {AIM:g} ms"
            )
    save(out, "planning", {"edges": edges, "repeats": repeats}, rows)


if __name__ == "__main__":
    typer.run(main)

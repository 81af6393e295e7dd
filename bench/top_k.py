"""The busiest vertices of a window: ``python -m bench.top_k``.

A generated stream has edges from many vertices. A query counts those of each vertex, and keeps the
first vertices. The benchmark runs the plan in one process on one core, a call of the pipeline for
each second of the stream. It prints the edges per processor second once the window is full, when as
many edges expire as arrive, the share of TOP_K in the time, and the memory for each edge of the
window. The aim is 50,000 edges per second, the first 100 of 100,000 vertices.

With ``--partitions`` the partitions run one after the other on the core, so the processor time is
that of all together. The stream is also run by a plan without ``TopOfEachPartition``, which moves
all rows to one partition, and the rows that are moved there are counted.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
from bench.streams import slides
from headrace.algebra.physical import Exchange, TopRows
from headrace.catalog.document import from_document
from headrace.executor.local import LocalRun
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

AIM = 50_000
"""Edges per second."""
SKEWS = {"uniform": 0.0, "Zipf 0.8": 0.8}


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a stream.

    Attributes:
        stream: the distribution of the edges over the vertices.
        plan: where the first rows are found.
        held: the edges in the window.
        edges: the edges that were timed.
        results: the result lines.
        seconds: the processor time of the timed edges.
        per_second: edges per processor second.
        top_share: the share of TOP_K in the time of all operators.
        moved: the rows that went to a single partition, of all seconds.
        bytes_per_edge: how much the peak of the process grew, for each edge in the window; of the
            first stream alone, as memory that is free again is not given back.
    """

    stream: str
    plan: str
    held: int
    edges: int
    results: int
    seconds: float
    per_second: float
    top_share: float
    moved: int
    bytes_per_edge: float


def edges(rate: int, keys: int, seconds: int, skew: float) -> Iterator[pa.Table]:
    """``rate`` edges of each second from ``keys`` vertices, Zipf-distributed with a skew."""
    random = np.random.default_rng(1)
    weights = np.arange(1, keys + 1) ** -skew
    for second in range(seconds):
        yield pa.table(
            {
                "src": pa.array(random.choice(keys, rate, p=weights / weights.sum())),
                "trg": pa.array(random.integers(0, keys, rate)),
                "label": pa.array(["pays"] * rate, pa.string()),
                "ts": pa.array(np.full(rate, second)),
            }
        )


def measure(
    name: str,
    rate: int,
    keys: int,
    window: int,
    first: int,
    *,
    every: int = 1,
    partitions: int = 1,
    of_each: bool = True,
) -> Row:
    """Times up to 300 seconds of a stream after its first window.

    The query reports each ``every`` seconds. With ``of_each`` the optimizer may keep the first rows
    of each partition.
    """
    labels = {"pays": {"rate": rate, "distinct_src": keys, "distinct_trg": keys}}
    catalog = from_document({"streams": {"s": {"labels": labels, "vertex_type": "integer"}}})
    query = (
        f"Answer(x, count(*) as n) <- pays(x, y) ORDER BY n DESC LIMIT {first}. "
        f"WINDOW {window}s EMIT SNAPSHOT EVERY {every}s"
    )
    disabled = () if of_each else ("TopOfEachPartition",)
    options = PlanningOptions(parallelism=partitions, disabled_rules=disabled)
    plan = optimize(PlanRequest(query, catalog=catalog, options=options)).plan
    timed = min(max(5, window // 2), 300)
    running, results, seconds, before = LocalRun(plan), 0, 0.0, _peak()
    for second, table in enumerate(edges(rate, keys, window + timed, SKEWS[name])):
        (batch,) = slides(table, 1)
        start = time.process_time()
        results += len(running.push([batch]))
        seconds += (time.process_time() - start) * (second >= window)
    spent = {node: counters.seconds for node, counters in running.counters.items()}
    tops = [n for n in plan.nodes if isinstance(n.operator, TopRows)]
    gathered = [n.id for n in plan.nodes if n.operator == Exchange("single")]
    moved = sum(running.counters[node].rows_in for node in gathered)
    timed_edges = timed * rate
    return Row(
        name, "each partition" if len(tops) > 1 else "one partition", window * rate, timed_edges,
        results, seconds, timed_edges / seconds,
        sum(spent[top.id] for top in tops) / sum(spent.values()), moved,
        (_peak() - before) / (window * rate),
    )  # fmt: skip


def _peak() -> int:
    """The largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(
    *,
    rate: Annotated[int, typer.Option(min=1, help="Edges per second.")] = AIM,
    keys: Annotated[int, typer.Option(min=1, help="Vertices.")] = 100_000,
    window: Annotated[int, typer.Option(min=1, help="Seconds in the window.")] = 60,
    first: Annotated[int, typer.Option(min=1, help="Rows that the query keeps.")] = 100,
    every: Annotated[int, typer.Option(min=1, help="Seconds between two reports.")] = 1,
    partitions: Annotated[int, typer.Option(min=1, help="Partitions of the plan.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Counts the edges of each vertex in a window, and keeps the first vertices."""
    console = Console(width=None if Console().is_terminal else 120)
    console.print(headline(machine()))
    table = Table(
        "vertices",
        "first rows of",
        "edges held",
        "edges",
        "lines",
        "s",
        "edges/s",
        "TOP_K",
        "moved",
        "bytes/edge",
    )
    measure("uniform", 100, 10, 2, 3)  # compiles the kernels
    settings = {
        "rate": rate, "keys": keys, "window": window, "first": first, "every": every,
        "partitions": partitions,
    }  # fmt: skip
    rows = []
    for name, of_each in product(SKEWS, (True, False) if partitions > 1 else (True,)):
        row = measure(
            name, rate, keys, window, first, every=every, partitions=partitions, of_each=of_each
        )
        rows.append(row)
        table.add_row(
            row.stream, row.plan, f"{row.held:,}", f"{row.edges:,}", f"{row.results:,}",
            f"{row.seconds:.2f}", f"{row.per_second:,.0f}", f"{row.top_share:.0%}",
            f"{row.moved:,}", f"{row.bytes_per_edge:.0f}",
        )  # fmt: skip
        save(out, "top_k", settings, rows)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

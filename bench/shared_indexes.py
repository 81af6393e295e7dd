"""Indexes that joins share: ``python -m bench.shared_indexes``.

For the plan of each query the benchmark prints the bytes of state at the end of the run with shared
indexes and with an index for each side of a join, and the processor times of both. Both run in one
process, in turns, with one call of the pipeline per slide. The last column is the median of the
ratios of the times: below 1 the shared indexes are faster. The last lines are joins of one
generated input with others. Most of its rows have no partner there, so indexes take most of the
time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.semi_joins import QUERIES as OF_SEMI_JOINS
from bench.semi_joins import plan_of
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.algebra.physical import HashJoin, PhysicalOperator
from headrace.algebra.plan import PhysicalPlan
from headrace.executor import pipeline
from headrace.executor.batch import Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.local import LocalRun
from headrace.executor.operators.shared_index import Sharing
from headrace.executor.pipeline import Pipeline, StageInput, StageNode

QUERIES = {
    "Table 5.1, Q1": "Answer(x, y) <- x a2q* y",
    "Table 5.1, Q2": "Answer(x, y) <- x a2q/c2a* y",
    "Table 5.1, Q3": "Answer(x, y) <- x a2q/c2a*/c2q* y",
    "Table 5.1, Q4": "Answer(x, y) <- x (a2q/c2a/c2q)+ y",
    "Table 5.1, Q5": OF_SEMI_JOINS["Q5"],
    "Table 5.1, Q6": OF_SEMI_JOINS["Q6"],
    "Table 5.1, Q7": OF_SEMI_JOINS["Q7"],
    "a triangle": "Answer(x, y, z) <- a2q(x, y), a2q(y, z), a2q(z, x)",
    "a 4-clique": "Answer(x, y, z, w) <- a2q(x, y), a2q(x, z), a2q(x, w), a2q(y, z), "
    "a2q(y, w), a2q(z, w)",
    "both directions": "Answer(x, y) <- a2q(x, y), a2q(y, x)",
    "co-answerers": "Answer(x, y, z) <- a2q(x, y), a2q(z, y)",
    "three answers": "Answer(x, y, z, w) <- a2q(x, y), a2q(x, z), a2q(x, w)",
    "three answers, in order": "Answer(x, y, z, w) <- a2q(x, y), a2q(x, z), a2q(x, w), y < z, "
    "z < w",
    "two joins of one side": "Q(x, y) <- a2q(x, z), c2a(z, y). Q(x, y) <- a2q(x, z), c2q(z, y). "
    "Answer(x, y) <- Q(x, y)",
}


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a query.

    Attributes:
        query: the name of the query.
        operators: the joins and paths of its plan.
        results: the rows of a run.
        shared: the number of shared indexes.
        alone_bytes: the state without shared indexes.
        shared_bytes: the state with them.
        seconds: the least processor time with them.
        ratio: the time with them over the time without.
    """

    query: str
    operators: str
    results: int
    shared: int
    alone_bytes: int
    shared_bytes: int
    seconds: float
    ratio: Spread


class Alone(Sharing):
    """No shared indexes."""

    def __init__(self, nodes: Iterable[tuple[int, PhysicalOperator, Sequence[int]]]) -> None:
        super().__init__(())


def sharing(kind: type[Sharing]) -> AbstractContextManager[object]:
    """Builds pipelines with or without shared indexes."""
    return patch.object(pipeline, "Sharing", kind)


def run(
    plan: PhysicalPlan, batches: Sequence[pa.RecordBatch], kind: type[Sharing]
) -> tuple[float, int, int]:
    """The processor seconds, the results and the bytes of state of a run."""
    with sharing(kind):
        running, results = LocalRun(plan), 0
    start = time.process_time()
    for batch in batches:
        results += len(running.push([batch]))
    seconds = time.process_time() - start
    return seconds, results, sum(c.state_bytes for c in running.counters.values())


def measure(
    name: str,
    planned: Callable[[], PhysicalPlan],
    batches: Sequence[pa.RecordBatch],
    rounds: int,
) -> Row:
    """Runs a plan with and without shared indexes, in turns."""
    plan = planned()
    shared = sum(
        len(own.owned(node))
        for own in [Sharing((i, n.operator, n.inputs) for i, n in enumerate(plan.nodes))]
        for node in range(len(plan.nodes))
    )
    run(plan, batches[:2], Sharing)  # compiles the kernels
    times: dict[type[Sharing], list[float]] = {Sharing: [], Alone: []}
    sizes: dict[type[Sharing], int] = {}
    results = 0
    for turn in range(rounds):
        for kind in sorted(times, key=lambda k: k is Alone, reverse=turn % 2 == 1):
            seconds, results, sizes[kind] = run(plan, batches, kind)
            times[kind].append(seconds)
    ratios = [own / alone for own, alone in zip(times[Sharing], times[Alone], strict=True)]
    operators = [n.op for n in plan.nodes if "JOIN" in n.op or "PATH" in n.op]
    return Row(
        name,
        " ".join(operators),
        results,
        shared,
        sizes[Alone],
        sizes[Sharing],
        min(times[Sharing]),
        Spread.of(ratios),
    )


def of_joins(joins: int, rounds: int, rows: int = 5_000, calls: int = 20) -> Row:
    """Joins one input by one key with several inputs of a tenth of its rows."""
    random = np.random.default_rng(1)
    join = HashJoin(((0, 1), (1, 2)), (0, 1, 2))
    nodes = [StageNode(100 + k, join, (0, 1 + k)) for k in range(joins)]
    inputs = [StageInput(k, 2) for k in range(1 + joins)]
    batches = []
    for call in range(calls):
        ts = np.sort(random.integers(call * DAY, (call + 1) * DAY, rows))
        values = random.integers(0, 10 * rows, (1 + joins, 2, rows))
        every = [slice(None), *[slice(None, None, 10)] * joins]
        batches.append(
            {
                k: Batch(np.ascontiguousarray(values[k][:, part]), ts[part], ts[part] + 10 * DAY)
                for k, part in enumerate(every)
            }
        )
    found: dict[type[Sharing], tuple[int, int]] = {}
    times: dict[type[Sharing], list[float]] = {Sharing: [], Alone: []}
    for turn in range(rounds + 1):
        for kind in sorted(times, key=lambda k: k is Alone, reverse=turn % 2 == 1):
            with sharing(kind):
                running = Pipeline(nodes, inputs, [node.id for node in nodes], Dictionary())
            start, results = time.process_time(), 0
            for batch in batches:
                results += sum(map(len, running.process(batch).values()))
            if turn:  # the first one loads the kernels
                times[kind].append(time.process_time() - start)
            found[kind] = results, sum(c.state_bytes for c in running.counters.values())
    ratios = [own / alone for own, alone in zip(times[Sharing], times[Alone], strict=True)]
    return Row(
        f"{joins} joins of one input",
        "HASH_JOIN " * joins,
        found[Sharing][0],
        1,
        found[Alone][1],
        found[Sharing][1],
        min(times[Sharing]),
        Spread.of(ratios),
    )


def main(
    *,
    folder: Annotated[Path | None, typer.Option(help="Folder of MathOverflow.")] = None,
    days: Annotated[int | None, typer.Option(help="Days of the stream.")] = None,
    window: Annotated[str, typer.Option(help="The range of the window.")] = "10d",
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each plan.")] = 5,
    only: Annotated[str, typer.Option(help="Run queries whose name contains this text.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Runs the queries with and without shared indexes; without a folder the bundled stream."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    which = files(folder)
    edges, known = load(which, days), catalog_of(which)
    batches = list(slides(edges, DAY))
    table = Table("query", "joins and paths", "results", "shared", "kB alone", "kB", "s", "ratio")
    rows: list[Row] = []
    measurements: dict[str, Callable[[], Row]] = {
        name: partial(measure, name, partial(plan_of, text, known, window), batches, rounds)
        for name, text in QUERIES.items()
    }
    measurements |= {f"{k} joins of one input": partial(of_joins, k, rounds) for k in (2, 4)}
    for name, measured in measurements.items():
        if only in name:
            row = measured()
            rows.append(row)
            table.add_row(
                row.query,
                row.operators,
                f"{row.results:,}",
                str(row.shared),
                f"{row.alone_bytes / 1000:,.0f}",
                f"{row.shared_bytes / 1000:,.0f}",
                f"{row.seconds:.2f}",
                row.ratio.text(2),
            )
            save(out, "shared_indexes", {"days": days, "window": window}, rows)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

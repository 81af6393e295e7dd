"""The time of plans on Spark, by part of the run: ``python -m bench.spark``.

Runs the chosen plan of a query through Structured Streaming in local mode, once per output format,
in one warmed-up session. For comparison runs the plan in process, too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from bench.kernels import QUERIES, plan_of
from bench.measuring import headline, machine, save
from bench.running import run, save_edges
from bench.streams import DAY, catalog_of, files, load
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.results.sinks import Output, ToFolder
from headrace.executor.spark.run import RunOptions
from headrace.executor.spark.run import run as run_on_spark
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session

CHOSEN = ("a2q/c2a*", "Q5", "Q7")
OUTPUTS = ("parquet", "jsonl")


@dataclass(frozen=True, slots=True)
class Row:
    """One run on Spark; all times are wall times in seconds.

    Attributes:
        query: the name of the query.
        output: the output format.
        edges: the edges with a label of the plan.
        results: the number of results.
        batches: the number of micro-batches.
        reading: the time to read, sort and spool the input.
        streaming: the time of the streaming query.
        operators: the part of ``streaming`` in Headrace's operators.
        in_process: the time of the same plan without Spark, with a batch per day.
        edges_per_second: edges per second of the streaming query.
        results_per_second: results per second of the streaming query.
        jvm_mb: the peak memory of the JVM, in MB.
        worker_mb: the peak memory of a Python worker, in MB.
    """

    query: str
    output: str
    edges: int
    results: int
    batches: int
    reading: float
    streaming: float
    operators: float
    in_process: float
    edges_per_second: float
    results_per_second: float
    jvm_mb: float
    worker_mb: float

    @property
    def rest(self) -> float:
        return self.streaming - self.operators


def measure(
    spark: SparkSession,
    query: str,
    plan: PhysicalPlan,
    source: Sequence[EdgeFile],
    output: str,
    *,
    in_process: float = 0.0,
) -> Row:
    """Runs a plan on Spark, from files to files."""
    with TemporaryDirectory(prefix="headrace-bench-") as folder:
        place: Output = ToFolder(
            Path(folder) / "out", "parquet" if output == "parquet" else "jsonl"
        )
        inputs = {stream.name: tuple(source) for stream in plan.streams}
        report = run_on_spark(plan, inputs, place, RunOptions(), spark=spark)
    return Row(
        query=query,
        output=output,
        edges=report.relevant,
        results=report.results,
        batches=report.batches,
        reading=report.seconds - report.stream_seconds,
        streaming=report.stream_seconds,
        operators=sum(done.seconds for done in report.operators.values()),
        in_process=in_process,
        edges_per_second=report.edges_per_second,
        results_per_second=report.updates_per_second,
        jvm_mb=report.jvm_peak_bytes / 2**20,
        worker_mb=report.worker_peak_bytes / 2**20,
    )


def _table(rows: list[Row], starting: float) -> Table:
    table = Table(title=f"On Spark (started in {starting:.1f} s); seconds on the clock")
    table.add_column("query")
    table.add_column("output")
    for name in (
        "edges", "results", "batches", "reading", "streaming", "of it operators", "of it rest",
        "in process alone", "edges/s", "results/s", "JVM MB", "worker MB",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in rows:
        seconds = (row.reading, row.streaming, row.operators, row.rest, row.in_process)
        table.add_row(
            row.query,
            row.output,
            f"{row.edges:,}",
            f"{row.results:,}",
            str(row.batches),
            *(f"{value:.2f}" for value in seconds),
            *(f"{value:,.0f}" for value in (row.edges_per_second, row.results_per_second)),
            *(f"{value:,.0f}" for value in (row.jvm_mb, row.worker_mb)),
        )
    return table


def main(
    *,
    mathoverflow: Annotated[
        Path | None, typer.Option(help="Folder of the three files; else the bundled slice.")
    ] = None,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    window: Annotated[int, typer.Option(help="Days that an edge is valid.")] = 30,
    partitions: Annotated[int, typer.Option(help="Partitions of the stage.")] = 1,
    repeats: Annotated[int, typer.Option(help="Runs of each.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures plans on Spark over MathOverflow, slide 1 day."""
    console = Console(width=None if Console().is_terminal else 200)
    console.print(headline(machine()))
    source = files(mathoverflow)
    known, edges = catalog_of(source), load(source)
    rows: list[Row] = []
    started = time.monotonic()
    with spark_session(SessionOptions(partitions=partitions)) as spark, TemporaryDirectory() as tmp:
        starting = time.monotonic() - started
        path = Path(tmp) / "edges.arrow"
        save_edges(edges, path)
        for number, name in enumerate(name for name in CHOSEN if only in name):
            with console.status(name):
                plan = plan_of(QUERIES[name], known, f"{window}d", "1d").plan
                if number == 0:
                    measure(spark, name, plan, source, "parquet")
                alone = sum(run(plan, path, DAY, 600.0).wall)
                for _ in range(repeats):
                    for output in OUTPUTS:
                        rows.append(measure(spark, name, plan, source, output, in_process=alone))
    console.print(_table(rows, starting))
    options = {"window": window, "partitions": partitions, "starting_seconds": starting}
    save(out, "spark", options, rows)


if __name__ == "__main__":
    typer.run(main)

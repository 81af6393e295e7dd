"""Large micro-batches beside their operators: ``python -m bench.batches``.

Runs plans through ``headrace run`` on Spark in one session, with micro-batches of 100,000 edges of
a generated stream into a folder of Parquet, and the operators alone over the same slices in this
process (:class:`headrace.executor.local.LocalRun`: selection, encoding and operators, without
checkpoint and files of results). The two take turns. A trigger's time is Spark's own, its processor
time that of all processes from one progress to the next. Slices before the first of full size, and
``skipped`` after them, do not count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import pyarrow.csv as pacsv
import typer
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.streams import Uniform
from bench.triggers import listening
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.catalog.inputs import measured_catalog
from headrace.executor.spark.reading.rejected import RejectedRows
from headrace.executor.spark.reading.replay import Replay
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session
from headrace.executor.spark.session.settings import streaming_session
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.in_process import Engine

QUERIES = {
    "a(x, y), b(y, z)": "Answer(x, z) <- a(x, y), b(y, z). WINDOW 20",
    "triangle": "Answer(x, y, z) <- a(x, y), b(y, z), c(z, x). WINDOW 40",
    "a+": "Answer(x, y) <- x a+ y. WINDOW 4",
}
PROCESSES = ("driver", "jvm", "workers")
RATE = 1_000
"""Edges per tick of each label."""


@dataclass(frozen=True, slots=True)
class Batches:
    """The medians over the full batches of one run.

    Attributes:
        query: the name of the query.
        round: the number of the round.
        results: the results of all batches.
        kernel_ms: wall time of the operators for a slice.
        kernel_cpu_ms: their processor time.
        trigger_ms: wall time of a trigger.
        trigger_cpu_ms: processor time from one progress to the next.
        driver_cpu_ms: that of the driver.
        jvm_cpu_ms: that of the JVM.
        workers_cpu_ms: that of the Python workers.
    """

    query: str
    round: int
    results: int
    kernel_ms: float
    kernel_cpu_ms: float
    trigger_ms: float
    trigger_cpu_ms: float
    driver_cpu_ms: float
    jvm_cpu_ms: float
    workers_cpu_ms: float


def operators(
    plan: PhysicalPlan, file: EdgeFile, rows: int, skipped: int
) -> tuple[int, float, float]:
    """Runs the operators alone; returns results, and median times of a full slice in ms."""
    wall, cpu, results = [], [], 0
    with TemporaryDirectory() as tmp, RejectedRows(Path(tmp) / "rejected") as aside:
        engine = Engine(plan)
        for part in Replay(Path(tmp), plan, {"input": [file]}).slices(aside, rows):
            began, used = time.perf_counter(), time.process_time()
            results += len(engine.run.push(engine._by_stream(part)))
            if len(part) == rows:
                wall.append((time.perf_counter() - began) * 1000)
                cpu.append((time.process_time() - used) * 1000)
    return results, median(wall[skipped:]), median(cpu[skipped:])


def triggers(
    spark: SparkSession, plan: PhysicalPlan, file: EdgeFile, rows: int, skipped: int
) -> tuple[float, ...]:
    """Runs a plan on Spark; returns medians over the full triggers in ms: wall time, processor
    time, and of that the driver's, the JVM's and the workers'."""
    session = streaming_session(spark, 1)
    with TemporaryDirectory(prefix="headrace-bench-") as tmp, listening(session) as listener:
        options = RunOptions(largest_slice=rows)
        output = ToFolder(Path(tmp) / "out", "parquet")
        report = run(plan, {"input": [file]}, output, options, spark=spark)
    small = sum(1 for size in _growing(rows)) + skipped
    heard = listener.heard[small:-1]  # the last slice is a rest
    if len(heard) < 2:
        raise RuntimeError(f"only {report.batches} batches")
    spent = [b[1] - a[1] for a, b in pairwise(heard)]
    whole = median(one.whole for one in spent) * 1000
    kinds = (median(getattr(one, kind) for one in spent) * 1000 for kind in PROCESSES)
    return median(ms["triggerExecution"] for ms, _ in heard[1:]), whole, *kinds


def _growing(rows: int) -> list[int]:
    """The sizes of the slices before the first full one."""
    sizes = [4_096]
    while sizes[-1] * 2 < rows:
        sizes.append(sizes[-1] * 2)
    return sizes


def main(
    *,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each query.")] = 3,
    rows: Annotated[int, typer.Option(min=8_192, help="Edges of a micro-batch.")] = 100_000,
    batches: Annotated[int, typer.Option(min=4, help="Full micro-batches of a run.")] = 8,
    skipped: Annotated[int, typer.Option(min=0, help="First full ones left out.")] = 2,
    vertices: Annotated[int, typer.Option(min=2)] = 20_000,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures triggers of large micro-batches beside the operators alone."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    found: list[Batches] = []
    with TemporaryDirectory() as tmp, spark_session(SessionOptions(partitions=1)) as spark:
        labels = {"a": RATE, "b": RATE, "c": RATE}
        for name, text in QUERIES.items():
            if only not in name:
                continue
            rates = {label: rate for label, rate in labels.items() if f"{label}(" in text}
            rates = rates or {"a": RATE}
            count = (sum(_growing(rows)) + rows * batches + rows // 2) // sum(rates.values())
            path = Path(tmp) / "edges.csv"
            pacsv.write_csv(Uniform(rates, vertices, count).edges(), path)
            file = EdgeFile(str(path), vertex_type="integer")
            catalog = measured_catalog((file,))[0]
            options = PlanningOptions(parallelism=1)
            plan = optimize(PlanRequest(text, catalog=catalog, options=options)).plan
            for number in range(rounds):
                with console.status(f"{name}, round {number + 1} of {rounds}"):
                    results, wall, cpu = operators(plan, file, rows, skipped)
                    spent = triggers(spark, plan, file, rows, skipped)
                found.append(Batches(name, number, results, wall, cpu, *spent))
                save(out, "batches", {"rows": rows, "vertices": vertices}, found)
    table = Table(title=f"milliseconds of a micro-batch of {rows:,} edges")
    table.add_column("query")
    for column in (
        "kernel", "kernel, processor", "trigger", "trigger, processor", *PROCESSES,
        "trigger / kernel", "processor, trigger / kernel",
    ):  # fmt: skip
        table.add_column(column, justify="right")
    for name in dict.fromkeys(one.query for one in found):
        own = [one for one in found if one.query == name]
        of_processes = (f"{kind}_cpu_ms" for kind in PROCESSES)
        fields = ("kernel_ms", "kernel_cpu_ms", "trigger_ms", "trigger_cpu_ms", *of_processes)
        cells = [Spread.of([getattr(one, field) for one in own]).text(0) for field in fields]
        cells.append(Spread.of([one.trigger_ms / one.kernel_ms for one in own]).text(2))
        cells.append(Spread.of([one.trigger_cpu_ms / one.kernel_cpu_ms for one in own]).text(2))
        table.add_row(name, *cells)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

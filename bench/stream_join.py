"""Compares HASH_JOIN with Spark's own stream-stream join: ``python -m bench.stream_join``.

One join of two labels of MathOverflow, on one Spark session, from the same Parquet files (one per
label and micro-batch) to a sink that drops the results. Both give the validity of each result:

- *Spark*: an inner join of two watermarked streams on the vertex and on overlapping validities,
  with the time range that lets Spark drop expired rows from its state, on each state store;
- *Headrace*: the plan of the query through ``headrace.stream``. Without the join, it only coalesces
  the edges: the cost of the stage that every plan ends with, as its results have to be coalesced.

Each run counts wall seconds and the processor seconds of the process, the JVM and the Python
workers, without Spark's start. First both run once for the answers, which also warms up: the rows
valid at some instants have to be equal. The last column is the same plan without Spark.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer
from pyspark.sql import DataFrame, SparkSession, functions
from rich.console import Console
from rich.table import Table

from bench.bound_paths import timed
from bench.measuring import Spread, headline, machine, save
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session
from headrace.executor.spark.stream import stream
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

LEFT, RIGHT = "a2q", "c2a"
QUERY = f"Answer(x, y, z) <- {LEFT}(x, y), {RIGHT}(y, z)"
WITHOUT_JOIN = f"Answer(x, y) <- {LEFT}(x, y). Answer(x, y) <- {RIGHT}(x, y)"
SCHEMA = "src long, trg long, label string, ts long"
STORES = {
    "HDFS": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "RocksDB": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
INSTANTS = 20
JOIN = Callable[[DataFrame, DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of one way to run the join.

    Attributes:
        name: what joins.
        batches: the micro-batches.
        wall: the wall seconds of a run.
        cpu: the processor seconds of a run.
    """

    name: str
    batches: int
    wall: Spread
    cpu: Spread


def write_slices(edges: pa.Table, folder: Path, length: int) -> int:
    """Writes the edges of each slice of ``length`` seconds, a file per label; returns the number.

    Spark reads files in the order of their modification times, so no two have the same. Headrace
    holds an edge until the watermark has passed it, so two slices with an edge of each label close
    the stream.
    """
    wanted = edges.select(["src", "trg", "label", "ts"])
    batches = [pa.Table.from_batches([batch]) for batch in slides(wanted, length)]
    last = int(np.asarray(edges["ts"])[-1])
    for number in (1, 2):
        closing = {"src": -1, "trg": -2, "ts": last + number * length}
        rows = [{**closing, "label": label} for label in (LEFT, RIGHT)]
        batches.append(pa.Table.from_pylist(rows, wanted.schema))
    for label in (LEFT, RIGHT):
        (folder / label).mkdir(parents=True)
    for number, batch in enumerate(batches):
        for label in (LEFT, RIGHT):
            chosen = batch.filter(pc.field("label") == label)
            path = folder / label / f"{number:06}.parquet"
            pq.write_table(chosen, path)  # also without rows, so that the streams keep in step
            os.utime(path, (number, number))
    return len(batches)


def sources(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """The streams of both labels, a file per micro-batch."""
    left, right = (
        spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / label))
        for label in (LEFT, RIGHT)
    )
    return left, right


def by_spark(window: int) -> JOIN:
    """Spark's inner join; edges are valid as Headrace's window with a slide of a day says."""

    def prepared(edges: DataFrame, side: str, ends: tuple[str, str]) -> DataFrame:
        expiry = functions.floor(functions.col("ts") / DAY) * DAY + window
        columns = [
            functions.col(one).alias(two) for one, two in zip(("src", "trg"), ends, strict=True)
        ]
        timed_edges = edges.select(
            *columns,
            functions.col("ts").alias(f"{side}_ts"),
            expiry.alias(f"{side}_exp"),
            functions.timestamp_seconds("ts").alias(f"{side}_time"),
        )
        return timed_edges.withWatermark(f"{side}_time", "0 seconds")

    def join(left: DataFrame, right: DataFrame) -> DataFrame:
        one = prepared(left, "l", ("x", "y"))
        other = prepared(right, "r", ("y_too", "z"))
        joined = one.join(
            other,
            functions.expr(
                "y = y_too AND l_ts < r_exp AND r_ts < l_exp"
                f" AND l_time >= r_time - interval {window} seconds"
                f" AND l_time <= r_time + interval {window} seconds"
            ),
        )
        return joined.select(
            "x",
            "y",
            "z",
            functions.greatest("l_ts", "r_ts").alias("ts"),
            functions.least("l_exp", "r_exp").alias("exp"),
        )

    return join


def by_headrace(spark: SparkSession, plan: PhysicalPlan) -> JOIN:
    """The plan over the union of both streams."""
    return lambda left, right: stream(spark, plan, {"input": left.unionByName(right)})


def processor_seconds() -> float:
    """The processor time of this process and of all that it started."""
    total = 0.0
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def run(spark: SparkSession, join: JOIN, folder: Path, sink: str, name: str) -> tuple[float, float]:
    """The wall and processor seconds from the start of the query to its end."""
    with TemporaryDirectory(prefix="headrace-bench-") as checkpoint:
        results = join(*sources(spark, folder))
        wall, cpu = time.monotonic(), processor_seconds()
        writer = results.writeStream.format(sink).queryName(name)
        writer = writer.option("checkpointLocation", checkpoint).outputMode("append")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return time.monotonic() - wall, processor_seconds() - cpu


def snapshots(rows: pa.Table, instants: Sequence[int]) -> list[set[tuple[int, ...]]]:
    """The rows valid at each instant."""
    ts, exp = np.asarray(rows["ts"]), np.asarray(rows["exp"])
    found = []
    for instant in instants:
        valid = rows.filter(pa.array((ts <= instant) & (instant < exp)))
        columns = [np.asarray(valid[c]).astype(np.int64) for c in ("x", "y", "z")]
        found.append(set(zip(*(column.tolist() for column in columns), strict=True)))
    return found


def main(
    *,
    folder: Annotated[Path | None, typer.Option(help="Folder of MathOverflow.")] = None,
    days: Annotated[int, typer.Option(help="Days of the stream.")] = 60,
    window: Annotated[int, typer.Option(help="Days that an edge is valid.")] = 10,
    slice_days: Annotated[int, typer.Option(help="Days of a micro-batch.")] = 2,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Write the measurements as JSON.")] = None,
) -> None:
    """Measures the join on Spark in both ways, and the plan without Spark."""
    console = Console(width=None if Console().is_terminal else 160)
    console.print(headline(machine()))
    which = files(folder)
    edges, known = load(which, days), catalog_of(which)
    options = PlanningOptions(window=f"{window}d", slide="1d")
    plan, without_join = (
        optimize(PlanRequest(text, catalog=known, options=options)).plan
        for text in (QUERY, WITHOUT_JOIN)
    )
    batches = list(slides(edges, DAY * slice_days))
    # The compiler that Headrace leaves out would favour its Python workers here.
    session = replace(SessionOptions(), conf={"spark.driver.extraJavaOptions": "-XX:+UseSerialGC"})
    rows: list[Row] = []
    with TemporaryDirectory() as tmp, spark_session(session) as spark:
        slices = Path(tmp) / "slices"
        count = write_slices(edges, slices, DAY * slice_days)
        joins: list[tuple[str, str, JOIN]] = [
            (f"Spark, {store}", store, by_spark(window * DAY)) for store in STORES
        ]
        joins.append(("Headrace on Spark", "RocksDB", by_headrace(spark, plan)))
        compared = len(joins)
        joins.append(("without the join", "RocksDB", by_headrace(spark, without_join)))
        times: list[list[tuple[float, float]]] = [[] for _ in joins]
        answers = []
        last = int(np.asarray(edges["ts"])[-1])
        instants = np.linspace(int(np.asarray(edges["ts"])[0]), last, INSTANTS).astype(int).tolist()
        for number, (name, store, join) in enumerate(joins):
            spark.conf.set(PROVIDER, STORES[store])
            run(spark, join, slices, "memory", f"answers{number}")
            if number == compared:
                continue
            answers.append(snapshots(spark.table(f"answers{number}").toArrow(), instants))
            console.print(f"{name}: {sum(map(len, answers[-1])):,} rows valid at the instants")
        if any(answer != answers[0] for answer in answers):
            raise SystemExit("the answers differ")
        for turn in range(rounds):
            for number in sorted(range(len(joins)), reverse=turn % 2 == 1):
                name, store, join = joins[number]
                spark.conf.set(PROVIDER, STORES[store])
                times[number].append(run(spark, join, slices, "noop", f"run{turn}_{number}"))
    for (name, _, _), measured in zip(joins, times, strict=True):
        wall, cpu = (Spread.of(values) for values in zip(*measured, strict=True))
        rows.append(Row(name, count, wall, cpu))
    alone = [timed(plan, batches)[0] for _ in range(rounds)]
    rows.append(Row("Headrace without Spark", len(batches), Spread.of(alone), Spread.of(alone)))
    told = {"days": days, "window": window, "slice_days": slice_days, "edges": len(edges)}
    save(out, "stream_join", told, rows)
    title = f"{len(edges):,} edges, {count} micro-batches; seconds"
    table = Table("join", "wall", "processor", "processor / micro-batch", title=title)
    for row in rows:
        each = f"{row.cpu.median / row.batches:.3f}"
        table.add_row(row.name, row.wall.text(), row.cpu.text(), each)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

"""Measures on Spark what a byte costs between two stages, and from Spark SQL to Python.

In: nothing. Out: measurements of EXCHANGE and TO_KERNEL, per row. Rows of several widths go through
Spark with one task at a time; the difference to the same job without the step is its time. Times
are wall times, since the work is spread over the JVM and its workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...costmodel.operator_costs import row_width
from ...executor.dictionary import Dictionary
from ...executor.spark.exchange.packing import arrow_bytes, table_of
from .fitting import Measurement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = (2, 8)
_LEAST = 0.01
"""The least time of a row in microseconds: a difference of noisy times may be negative."""
_PACKED = "partition int, payload binary"
_COUNTED = "rows bigint"


def measure(
    spark: SparkSession, rows: int, repeats: int, on_step: Callable[[str], None]
) -> Iterator[list[Measurement]]:
    """Yields the measurements of each repeat.

    Args:
        spark: a session.
        rows: the rows that each job handles.
        repeats: the number of repeats, after one to warm up.
        on_step: called before each repeat with its description.
    """
    for repeat in range(repeats + 1):
        on_step("Spark, warming up" if not repeat else f"Spark, repeat {repeat}")
        measured: list[Measurement] = []
        for columns in _COLUMNS:
            plain, handed, sent = _microseconds(spark, rows, columns)
            width = float(row_width(columns))
            name = f"{columns} columns"
            for kind, constant, time_of_row in (
                ("TO_KERNEL", "convert", handed - plain),
                ("EXCHANGE", "network", sent - handed),
            ):
                microseconds = max(time_of_row, _LEAST)
                measured.append(Measurement(kind, name, {constant: width}, microseconds))
        if repeat:
            yield measured


def _microseconds(spark: SparkSession, rows: int, columns: int) -> tuple[float, float, float]:
    """The time of a row in a plain job, handed to Python, and sent to another stage besides.

    The difference of two jobs of different size leaves out what a job costs by itself.
    """
    times = []
    for size in (rows, rows // 4):
        edges = _rows(spark, size, columns)
        packed = edges.mapInArrow(_pack, _PACKED).repartition(2, "partition")
        jobs = (edges, edges.mapInArrow(_count, _COUNTED), packed.mapInArrow(_unpack, _COUNTED))
        times.append([_seconds(job) for job in jobs])
    more = (rows - rows // 4) / 1e6
    plain, handed, sent = ((whole - part) / more for whole, part in zip(*times, strict=True))
    return plain, handed, sent


def _rows(spark: SparkSession, rows: int, columns: int) -> DataFrame:
    """Rows as a scan hands them over: vertices as text, and two times."""
    vertices = [f"concat('v', (id * {7 + 2 * i}) % 10000) AS c{i}" for i in range(columns)]
    return spark.range(0, rows, 1, 1).selectExpr("id AS ts", "id + 100 AS exp", *vertices)


def _seconds(job: DataFrame) -> float:
    start = time.perf_counter()
    job.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def _count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Encodes the vertices as a stage does."""
    dictionary = Dictionary()
    for batch in batches:
        yield _counted(batch, dictionary)


def _counted(batch: pa.RecordBatch, dictionary: Dictionary) -> pa.RecordBatch:
    expiry = np.asarray(batch["exp"].to_numpy(), np.int64)
    for name in batch.schema.names:
        if name not in ("ts", "exp"):
            dictionary.encode(batch[name], expiry)
    return pa.record_batch({"rows": pa.array([batch.num_rows], pa.int64())})


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        halves = np.arange(batch.num_rows) % 2
        for partition in (0, 1):
            part = batch.filter(pa.array(halves == partition))
            columns: dict[str, pa.Array[Any]] = {
                "partition": pa.array([partition], pa.int32()),
                "payload": pa.array([arrow_bytes(part)], pa.binary()),
            }
            yield pa.record_batch(columns)


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    dictionary = Dictionary()
    for batch in batches:
        payloads: list[Any] = batch["payload"].to_pylist()
        for payload in payloads:
            for rows in table_of(payload).to_batches():
                yield _counted(rows, dictionary)

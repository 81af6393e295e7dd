"""A plan as a DataFrame on the user's own Spark session, sources and sinks.

In: a streaming DataFrame of edges per stream of the plan. Out: a streaming DataFrame of
results: the answer's columns, ``ts`` and ``exp`` (null: valid without end).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from algebra.plan import PhysicalPlan
from executor.spark.errors import ExecutionError, InputError
from executor.spark.formats import ResultShape
from executor.spark.packing import table_of
from executor.spark.processor import RESULTS
from executor.spark.settings import PROVIDER, ROCKSDB
from executor.spark.stage import result_blocks

_COLUMNS = ("label", "src", "trg", "ts")


def stream(
    spark: SparkSession, plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]
) -> DataFrame:
    """The results of a plan over the user's streams.

    Each micro-batch has to hold edges that are not earlier than those of batches before it;
    an edge that is gets counted and left out. Within a batch they may be in any order. A plan for
    n partitions runs best where ``spark.sql.shuffle.partitions`` is n when the query starts.

    Args:
        spark: the session of the streams.
        plan: what to run.
        dataframes: for each stream of the plan a streaming DataFrame with columns
            ``src``, ``trg``, ``label`` and ``ts`` (an integer in the plan's time unit).

    Raises:
        PlanError: if the plan cannot be run.
        InputError: if a stream or one of its columns is missing.
        ExecutionError: if the session keeps state where this cannot work.
    """
    if spark.conf.get(PROVIDER) != ROCKSDB:
        raise ExecutionError(
            "Spark's transformWithState needs the state store RocksDB.",
            f'Call spark.conf.set("{PROVIDER}", "{ROCKSDB}") before.',
        )
    wanted = sorted({scan.stream for _, scan in plan.scans})
    if not wanted:
        raise InputError("The plan reads no stream.")
    edges = reduce(DataFrame.union, (_edges(name, dataframes.get(name)) for name in wanted))
    shape = ResultShape.of(plan)

    def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for kind, payload in zip(batch["kind"], batch["payload"], strict=True):
                if kind.as_py() == RESULTS:
                    for block in table_of(payload.as_py()).to_batches():
                        yield shape.flat(block)

    types = {"string": "string", "integer": "bigint"}
    columns = [f"`{n}` {types[t]}" for n, t in zip(shape.names, shape.types, strict=True)]
    blocks = result_blocks(edges, plan, f"stream-{plan.digest}")
    return blocks.mapInArrow(unpacked, ", ".join([*columns, "ts bigint", "exp bigint"]))


def _edges(name: str, given: DataFrame | None) -> DataFrame:
    """One stream's edges with the stream's name, vertices as text."""
    if given is None:
        raise InputError(
            f"The plan reads the stream {name!r}, which is not given.",
            f"Pass it: {{{name!r}: a streaming DataFrame}}.",
        )
    missing = [column for column in _COLUMNS if column not in given.columns]
    if missing:
        raise InputError(
            f"The stream {name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(given.columns)}.",
            f"Rename its columns to {', '.join(_COLUMNS)}.",
        )
    text = [sf.col(c).cast("string").alias(c) for c in ("label", "src", "trg")]
    edges = given.select(sf.lit(name).alias("stream"), *text, sf.col("ts").cast("bigint"))
    return edges.where(sf.col("ts") >= 0)

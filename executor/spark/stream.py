"""A plan as a DataFrame on the user's own Spark session, sources and sinks.

In: a streaming DataFrame of edges per stream of the plan. Out: a streaming DataFrame of
results: the answer's columns, ``ts`` and ``exp`` (null: valid without end); of reports ``at`` and
``event``. Unbounded, they never end: what closes is given when time has passed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from algebra.plan import PhysicalPlan
from algebra.values import PropertyType
from executor.leaves import Field, leaves
from executor.spark.columns import SQL_TYPES, properties_of
from executor.spark.errors import ExecutionError, InputError
from executor.spark.formats import ResultShape
from executor.spark.packing import table_of
from executor.spark.processor import RESULTS
from executor.spark.settings import PROVIDER, ROCKSDB
from executor.spark.stage import result_blocks

_COLUMNS = ("label", "src", "trg", "ts")
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FITTING: Mapping[PropertyType, tuple[str, ...]] = {
    "string": ("string",),
    "integer": _INTEGERS,
    "number": ("double", "float", "decimal", *_INTEGERS),
    "boolean": ("boolean",),
}
"""Spark's types that values of a type may have."""


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
            ``src``, ``trg``, ``label`` and ``ts`` (an integer in the plan's time unit), and
            those of the properties that the plan reads, by their names.

    Raises:
        PlanError: if the plan cannot be run.
        InputError: if a stream or one of its columns is missing, or of another type.
        ExecutionError: if the session keeps state where this cannot work.
    """
    if spark.conf.get(PROVIDER) != ROCKSDB:
        raise ExecutionError(
            "Spark's transformWithState needs the state store RocksDB.",
            f'Call spark.conf.set("{PROVIDER}", "{ROCKSDB}") before.',
        )
    edges = edges_of(plan, dataframes)
    shape = ResultShape.of(plan)

    def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for kind, payload in zip(batch["kind"], batch["payload"], strict=True):
                if kind.as_py() == RESULTS:
                    for block in table_of(payload.as_py()).to_batches():
                        yield shape.flat(block)

    columns = [f"`{n}` {SQL_TYPES[t]}" for n, t in zip(shape.names, shape.types, strict=True)]
    times = ["ts bigint", "exp bigint"] if shape.event is None else ["at bigint", "event string"]
    blocks = result_blocks(edges, plan, f"stream-{plan.digest}")
    return blocks.mapInArrow(unpacked, ", ".join([*columns, *times]))


def edges_of(plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]) -> DataFrame:
    """The edges of all streams that a plan reads, as its leaves take them.

    Raises:
        InputError: as :func:`stream`.
    """
    wanted = sorted({scan.stream for _, scan in plan.scans})
    if not wanted:
        raise InputError("The plan reads no stream.")
    properties = properties_of(leaves(plan))
    types = {stream.name: stream.properties for stream in plan.streams}
    return reduce(
        DataFrame.union,
        (_edges(name, dataframes.get(name), types[name], properties) for name in wanted),
    )


def _edges(
    name: str,
    given: DataFrame | None,
    types: Mapping[str, PropertyType],
    properties: Mapping[Field, str],
) -> DataFrame:
    """One stream's edges with the stream's name, vertices as text, and all properties' columns."""
    if given is None:
        raise InputError(
            f"The plan reads the stream {name!r}, which is not given.",
            f"Pass it: {{{name!r}: a streaming DataFrame}}.",
        )
    own = [field for field in properties if types.get(field[0]) == field[1]]
    wanted = (*_COLUMNS, *(of for of, _ in own))
    missing = [column for column in wanted if column not in given.columns]
    if missing:
        raise InputError(
            f"The stream {name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(given.columns)}.",
            f"Rename its columns to {', '.join(wanted)}.",
        )
    text = [sf.col(c).cast("string").alias(c) for c in ("label", "src", "trg")]
    columns = [
        (
            _property(name, given, field)
            if field in own
            else sf.lit(None).cast(SQL_TYPES[field[1]])
        ).alias(column)
        for field, column in properties.items()
    ]
    edges = given.select(sf.lit(name).alias("stream"), *text, sf.col("ts").cast("bigint"), *columns)
    return edges.where(sf.col("ts") >= 0)


def _property(stream: str, given: DataFrame, field: Field) -> Column:
    """A property's column as it is, where it can be, so that a source can be asked for it."""
    name, kind = field
    has = dict(given.dtypes)[name]
    if has.partition("(")[0] not in _FITTING[kind]:
        raise InputError(
            f"Column {name} of the stream {stream!r} is {has}, where the plan takes {kind}.",
            f"Cast it to {SQL_TYPES[kind]}.",
        )
    column = sf.col(f"`{name.replace('`', '``')}`")
    return column if has == SQL_TYPES[kind] else column.cast(SQL_TYPES[kind])

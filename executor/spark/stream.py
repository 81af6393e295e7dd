"""A plan as a DataFrame on the user's own Spark session, sources and sinks.

In: a streaming DataFrame of edges for each stream of the plan, a static one for each stored graph.
Out: a streaming DataFrame of results with the answer's columns, ``ts`` and ``exp`` (null: valid
without end); a plan with REPORT has ``at`` and ``event`` in their place. The input never ends: an
aggregate or report is delivered as soon as the watermark has passed its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from ...algebra.plan import PhysicalPlan
from ...algebra.values import ListType, PropertyType
from ...catalog.rows import LATEST
from ..checking import check_document
from ..scans import DELETES, OWN_TIME, Field, scan_inputs
from .exchange.blocks import LATE, RESULTS
from .exchange.columns import SQL_TYPES, properties_of
from .exchange.late import LateFolder
from .exchange.packing import table_of
from .host.errors import ExecutionError, InputError
from .results.formats import ITEM_TYPES, ResultShape
from .session.settings import PROVIDER, ROCKSDB
from .session.worker_python import check_workers
from .session.workers import own_workers
from .stage.dataflow import live_result_blocks
from .stage.observed import METRICS, observed

_COLUMNS = ("label", "src", "trg", "ts")
_COLUMNS_OF_VERTICES = ("label", "id", "ts")
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FITTING: Mapping[PropertyType, tuple[str, ...]] = {
    "string": ("string",),
    "integer": _INTEGERS,
    "number": ("double", "float", "decimal", *_INTEGERS),
    "boolean": ("boolean",),
}
"""The types of Spark columns that a property of each type may come from."""


def stream(
    spark: SparkSession,
    plan: PhysicalPlan,
    dataframes: Mapping[str, DataFrame],
    late: str | Path | None = None,
    *,
    metrics: str = METRICS,
) -> DataFrame:
    """Returns the results of a plan over the user's streams.

    Edges take effect in the order of their time, over all streams together: each edge waits until
    the watermark has reached it (:mod:`headrace.executor.watermarks`). An edge behind the
    watermark of the last batch is late and set aside. The query's ``observedMetrics`` have the
    metrics, the number of late edges among them, under the name ``headrace``
    (:mod:`headrace.executor.spark.stage.observed`).

    A plan for n partitions runs best if ``spark.sql.shuffle.partitions`` is n when the query
    starts.

    Args:
        spark: the session of the streams.
        plan: the plan to run.
        dataframes: for each stream of the plan a streaming DataFrame with columns ``src``,
            ``trg``, ``label`` and ``ts`` (an integer in the plan's time unit), and a column for
            each property that the plan reads. For each stored graph a static DataFrame without
            ``ts``; the query reads it in its first batch and keeps it in its checkpoint. A
            DataFrame of vertices has ``id`` in place of ``src`` and ``trg``.
        late: a folder for late edges, to which every worker can write: JSON lines with the edge's
            stream, the columns that the plan reads, and the reason.
        metrics: the name of the metrics in ``observedMetrics``; give two plans in one query
            different names.

    Raises:
        PlanError: if the plan cannot be run.
        InputError: if a stream or a column is missing, a column has another type, a stored graph
            comes as a streaming DataFrame or a stream as a static one, or the plan reads stored
            graphs alone.
        ExecutionError: if the session's state store is not RocksDB, or its workers run on a Python
            without Headrace.
    """
    if spark.conf.get(PROVIDER) != ROCKSDB:
        raise ExecutionError(
            "Spark's transformWithState needs the state store RocksDB.",
            f'Call spark.conf.set("{PROVIDER}", "{ROCKSDB}") first.',
        )
    check_document(plan)
    _check_kinds(plan, dataframes)
    check_workers(spark.sparkContext)
    edges, stored = edges_of(plan, dataframes)
    shape = ResultShape.of(plan)
    aside = None if late is None else LateFolder(Path(late).absolute())

    def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lines: list[bytes] = []
        for batch in batches:
            for kind, payload in zip(batch["kind"], batch["payload"], strict=True):
                if kind.as_py() == RESULTS:
                    for block in table_of(payload.as_py()).to_batches():
                        yield shape.flat(block)
                elif kind.as_py() == LATE:
                    lines.append(payload.as_py())
        if aside is not None and lines:
            aside.write_in_task(lines)

    columns = [f"`{n}` {_sql_type(t)}" for n, t in zip(shape.names, shape.types, strict=True)]
    times = ["ts bigint", "exp bigint"] if shape.event is None else ["at bigint", "event string"]
    times += ["op string"] if shape.deletions else []
    blocks = live_result_blocks(edges, plan, f"stream-{plan.digest}", stored)
    rows = observed(blocks, plan, metrics)
    with own_workers(spark, None):
        return rows.mapInArrow(unpacked, ", ".join([*columns, *times]))


def _sql_type(kind: PropertyType | ListType) -> str:
    """The type of a column of results in Spark's SQL."""
    items = ITEM_TYPES.get(kind)
    return SQL_TYPES[cast(PropertyType, kind)] if items is None else f"array<{SQL_TYPES[items]}>"


def edges_of(
    plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]
) -> tuple[DataFrame, DataFrame | None]:
    """Returns the edges of all streams that a plan reads, and those of all stored graphs.

    The second DataFrame is None if the plan reads no stored graph.

    Raises:
        InputError: see :func:`stream`.
    """
    streams, graphs = inputs_read(plan)
    properties = properties_of(scan_inputs(plan))
    types = {stream.name: stream.properties for stream in plan.streams}

    def edges(names: Iterable[str], *, stored: bool) -> DataFrame:
        frames = [(name, _frame_of(name, dataframes, stored=stored)) for name in names]
        return reduce(
            DataFrame.union,
            [_edges(name, f, types[name], properties, stored=stored) for name, f in frames],
        )

    return edges(streams, stored=False), edges(graphs, stored=True) if graphs else None


def inputs_read(plan: PhysicalPlan) -> tuple[list[str], list[str]]:
    """The names of the streams and of the stored graphs that a plan reads, sorted.

    Raises:
        InputError: if it reads no stream.
    """
    graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
    streams = sorted({scan.stream for _, scan in plan.scans} - graphs)
    if not streams:
        raise InputError(
            "The plan reads no stream" + (" but stored graphs alone." if graphs else "."),
            "Its answer does not change: run it over files." if graphs else "",
        )
    return streams, sorted(graphs)


def _frame_of(name: str, dataframes: Mapping[str, DataFrame], *, stored: bool) -> DataFrame:
    """The DataFrame of a stream or stored graph."""
    what, kind = ("stored graph", "static") if stored else ("stream", "streaming")
    frame = dataframes.get(name)
    if frame is None:
        raise InputError(
            f"The plan reads the {what} {name!r}, which has no DataFrame.",
            f"Pass one: {{{name!r}: a {kind} DataFrame}}.",
        )
    return frame


def _check_kinds(plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]) -> None:
    """Checks that the DataFrames of streams are streaming, and those of stored graphs static.

    Raises:
        InputError: if one is of the other kind.
    """
    for scan in dict.fromkeys(scan for _, scan in plan.scans):
        stored = scan.range is None
        frame = dataframes.get(scan.stream)
        if frame is None or frame.isStreaming != stored:
            continue
        what, is_ = ("stored graph", "streaming") if stored else ("stream", "static")
        raise InputError(
            f"The plan reads {scan.stream!r} as a {what}, and its DataFrame is a {is_} one.",
            f"Pass a {'static' if stored else 'streaming'} DataFrame, or change in the catalog "
            "whether the input is stored.",
        )


def _edges(
    name: str,
    frame: DataFrame,
    types: Mapping[str, PropertyType],
    properties: Mapping[Field, str],
    *,
    stored: bool,
) -> DataFrame:
    """The edges of one stream in the columns that all streams of a plan share.

    Vertices become text, a missing property null, and the time of a stored graph's edges 0.

    Raises:
        InputError: if a column is missing or of another type.
    """
    own = [field for field in properties if types.get(field[0]) == field[1]]
    vertices = "id" in frame.columns and not {"src", "trg"} & {*frame.columns}
    roles = _COLUMNS_OF_VERTICES if vertices else _COLUMNS
    required = (*(c for c in roles if c != OWN_TIME or not stored), *(name for name, _ in own))
    missing = [column for column in required if column not in frame.columns]
    if missing:
        raise InputError(
            f"The stream {name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(frame.columns)}.",
            f"Rename its columns to {', '.join(required)}.",
        )
    columns_of = {"label": "label", "src": "src", "trg": "trg"}
    if vertices:
        columns_of |= {"src": "id", "trg": "id"}
    text = [sf.col(c).cast("string").alias(role) for role, c in columns_of.items()]
    if "op" in frame.columns and DELETES in properties:
        own.append(DELETES)
    columns = [
        (
            _property(name, frame, field)
            if field in own
            else sf.lit(None).cast(SQL_TYPES[field[1]])
        ).alias(column)
        for field, column in properties.items()
    ]
    time = (sf.lit(0) if stored else sf.col("ts")).cast("bigint").alias("ts")
    edges = frame.select(sf.lit(name).alias("stream"), *text, time, *columns)
    return edges.where(sf.col("ts").between(0, LATEST))


def _property(stream: str, frame: DataFrame, field: Field) -> Column:
    """The column of a property, without a cast where possible: Spark can push down its filters.

    Raises:
        InputError: if the column has another type.
    """
    name, kind = field
    declared = dict(frame.dtypes)[name]
    if declared.partition("(")[0] not in _FITTING[kind]:
        raise InputError(
            f"Column {name} of the stream {stream!r} is {declared}, but the plan takes {kind}.",
            f"Cast it to {SQL_TYPES[kind]}.",
        )
    column = sf.col(f"`{name.replace('`', '``')}`")
    return column if declared == SQL_TYPES[kind] else column.cast(SQL_TYPES[kind])

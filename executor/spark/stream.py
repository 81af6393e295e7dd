"""A plan as a DataFrame on the user's own Spark session, sources and sinks.

In: a streaming DataFrame of edges per stream of the plan, a static one per stored graph. Out: a
streaming DataFrame of results: the answer's columns, ``ts`` and ``exp`` (null: valid without
end); of reports ``at`` and ``event``. Unbounded, they never end: what closes is given when time
has passed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from ...algebra.plan import PhysicalPlan
from ...algebra.values import PropertyType
from ...catalog.rows import LATEST
from ..checking import check_document
from ..scans import DELETES, OWN_TIME, Field, leaves
from .exchange.blocks import LATE, RESULTS
from .exchange.columns import SQL_TYPES, properties_of
from .exchange.late import LateFolder
from .exchange.packing import table_of
from .host.errors import ExecutionError, InputError
from .results.formats import ResultShape
from .session.settings import PROVIDER, ROCKSDB
from .session.worker_python import check_workers
from .session.workers import own_workers
from .stage.dataflow import result_blocks
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
"""Spark's types that values of a type may have."""


def stream(
    spark: SparkSession,
    plan: PhysicalPlan,
    dataframes: Mapping[str, DataFrame],
    late: str | Path | None = None,
    *,
    metrics: str = METRICS,
) -> DataFrame:
    """The results of a plan over the user's streams.

    Edges take effect in the order of their time, over all streams together: each waits until the
    watermark has come to it (:mod:`headrace.executor.watermarks`). One that is earlier than the
    watermark after the batch before is set aside. What is counted, late edges too, is among the
    query's ``observedMetrics`` (:mod:`headrace.executor.spark.stage.observed`), as ``headrace``.

    A plan for n partitions runs best where ``spark.sql.shuffle.partitions`` is n when the query
    starts.

    Args:
        spark: the session of the streams.
        plan: what to run.
        dataframes: for each stream of the plan a streaming DataFrame with columns
            ``src``, ``trg``, ``label`` and ``ts`` (an integer in the plan's time unit), and
            those of the properties that the plan reads, by their names; for each stored
            graph a static one without ``ts``. It is read once, in the query's first batch, and
            kept with its state: a query that goes on from its checkpoint has it there. Vertices
            have ``id`` in place of ``src`` and ``trg``.
        late: a folder, which every worker can write to, for edges that come too late: JSON lines
            with the edge's stream, what the plan reads of it, and the reason.
        metrics: the name under which the query's progress has what it counts
            (:mod:`headrace.executor.spark.stage.observed`); to be chosen where two plans run in one
            query.

    Raises:
        PlanError: if the plan cannot be run.
        InputError: if a stream or one of its columns is missing, or of another type, or a
            stored graph is a stream, or the plan reads nothing else.
        ExecutionError: if the session keeps state where this cannot work, or its workers run on a
            Python without Headrace.
    """
    if spark.conf.get(PROVIDER) != ROCKSDB:
        raise ExecutionError(
            "Spark's transformWithState needs the state store RocksDB.",
            f'Call spark.conf.set("{PROVIDER}", "{ROCKSDB}") before.',
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

    columns = [f"`{n}` {SQL_TYPES[t]}" for n, t in zip(shape.names, shape.types, strict=True)]
    times = ["ts bigint", "exp bigint"] if shape.event is None else ["at bigint", "event string"]
    times += ["op string"] if shape.deletions else []
    blocks = result_blocks(edges, plan, f"stream-{plan.digest}", "live", stored)
    rows = observed(blocks, plan, metrics)
    with own_workers(spark, None):
        return rows.mapInArrow(unpacked, ", ".join([*columns, *times]))


def edges_of(
    plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]
) -> tuple[DataFrame, DataFrame | None]:
    """The edges of all streams that a plan reads, as its leaves take them, and those of all
    stored graphs.

    Raises:
        InputError: as :func:`stream`.
    """
    graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
    streams = sorted({scan.stream for _, scan in plan.scans} - graphs)
    if not streams:
        raise InputError(
            "The plan reads no stream" + (" but stored graphs alone." if graphs else "."),
            "Its answer does not change: run it over files." if graphs else "",
        )
    properties = properties_of(leaves(plan))
    types = {stream.name: stream.properties for stream in plan.streams}

    def edges(names: Iterable[str], *, stored: bool) -> DataFrame:
        given = [(name, _given(name, dataframes, stored=stored)) for name in names]
        return reduce(
            DataFrame.union,
            [_edges(n, of, types[n], properties, stored=stored) for n, of in given],
        )

    return edges(streams, stored=False), edges(sorted(graphs), stored=True) if graphs else None


def _given(name: str, dataframes: Mapping[str, DataFrame], *, stored: bool) -> DataFrame:
    """The DataFrame of a stream or stored graph."""
    what, kind = ("stored graph", "static") if stored else ("stream", "streaming")
    given = dataframes.get(name)
    if given is None:
        raise InputError(
            f"The plan reads the {what} {name!r}, which is not given.",
            f"Pass it: {{{name!r}: a {kind} DataFrame}}.",
        )
    return given


def _check_kinds(plan: PhysicalPlan, dataframes: Mapping[str, DataFrame]) -> None:
    """That streams are streaming and stored graphs static."""
    for scan in dict.fromkeys(scan for _, scan in plan.scans):
        stored = scan.range is None
        given = dataframes.get(scan.stream)
        if given is None or given.isStreaming != stored:
            continue
        what, is_ = ("stored graph", "streaming") if stored else ("stream", "static")
        raise InputError(
            f"The plan reads {scan.stream!r} as a {what}, and its DataFrame is a {is_} one.",
            f"Pass a {'static' if stored else 'streaming'} DataFrame, or say otherwise in the "
            "catalog whether it is stored.",
        )


def _edges(
    name: str,
    given: DataFrame,
    types: Mapping[str, PropertyType],
    properties: Mapping[Field, str],
    *,
    stored: bool,
) -> DataFrame:
    """One stream's edges with the stream's name, vertices as text, and all properties' columns;
    those of a stored graph are of time 0."""
    own = [field for field in properties if types.get(field[0]) == field[1]]
    vertices = "id" in given.columns and not {"src", "trg"} & {*given.columns}
    roles = _COLUMNS_OF_VERTICES if vertices else _COLUMNS
    wanted = (*(c for c in roles if c != OWN_TIME or not stored), *(of for of, _ in own))
    missing = [column for column in wanted if column not in given.columns]
    if missing:
        raise InputError(
            f"The stream {name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(given.columns)}.",
            f"Rename its columns to {', '.join(wanted)}.",
        )
    columns_of = {"label": "label", "src": "src", "trg": "trg"}
    if vertices:
        columns_of |= {"src": "id", "trg": "id"}
    text = [sf.col(c).cast("string").alias(role) for role, c in columns_of.items()]
    if "op" in given.columns and DELETES in properties:
        own.append(DELETES)
    columns = [
        (
            _property(name, given, field)
            if field in own
            else sf.lit(None).cast(SQL_TYPES[field[1]])
        ).alias(column)
        for field, column in properties.items()
    ]
    time = (sf.lit(0) if stored else sf.col("ts")).cast("bigint").alias("ts")
    edges = given.select(sf.lit(name).alias("stream"), *text, time, *columns)
    return edges.where(sf.col("ts").between(0, LATEST))


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

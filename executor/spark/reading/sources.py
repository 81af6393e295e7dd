"""Live sources, and files beside them, as DataFrames of edges.

In: sources of a catalog. Out: for each a DataFrame as
:func:`headrace.executor.spark.stream.edges_of` takes it. Rows are checked in Python workers, as
those of files are in a replay. One that does not fit is written to a folder, under the batch's
name, so that a batch that is run again writes the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from ....algebra.plan import PhysicalPlan, PlanStream
from ....catalog.edges import (
    EdgeFile,
    EdgeFileError,
    Rejected,
    RejectedRowError,
    check_not_empty,
    read,
)
from ....catalog.live import LiveSource, edges_of_messages
from ....catalog.rows import Expectation, checked_rows
from ...scans import OWN_TIME
from ..exchange.columns import SQL_TYPES
from ..host.errors import InputError
from ..host.files import written_aside
from ..session.settings import readable
from .fingerprint import FileState, check_unchanged, fingerprint
from .replay import file_for

_FILES = "path string, modificationTime timestamp, length bigint, content binary"
"""The schema of Spark's source of whole files; of these no more than the path is read."""
_OF_LAYOUT = ("sep", "delimiter", "header")
"""Options that say how files are laid out, and are not Spark's to know."""
_PLACES = ("topic", "partition", "offset")
"""Columns that say where a message stood."""

Frames = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Aside:
    """Where rows of a source go that do not fit; ``source`` tells it from the other ones.

    With ``strict`` the first such row ends the run.
    """

    folder: str
    stream: str
    source: str
    strict: bool = False

    def put(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keeps the rows of a task.

        Raises:
            RejectedRowError: if there are any, and there must be none.
        """
        if not rows:
            return
        if self.strict:
            row = rows[0]
            where = str(row.get("file", self.stream)), int(row.get("line", row.get("offset", 0)))
            raise RejectedRowError(Rejected(*where, str(row["reason"]), str(row["text"])))
        context = TaskContext.get()
        batch = task = 0
        if context is not None:
            batch = int(context.getLocalProperty("streaming.sql.batchId") or 0)
            task = context.partitionId()
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"stream": self.stream, **row}, ensure_ascii=False) for row in rows)
        with written_aside(folder / f"rejected-{batch:08}-{self.source}-{task:05}.jsonl") as file:
            file.write("".join(line + "\n" for line in lines).encode(errors="backslashreplace"))


def live_frame(
    spark: SparkSession, source: LiveSource, plan: PhysicalPlan, aside: Aside
) -> DataFrame:
    """The streaming DataFrame of the edges of a live source.

    Raises:
        InputError: if Spark does not know the source, or it lacks a column.
    """
    stream = next(s for s in plan.streams if s.name == source.name)
    expected = _expectation(source.expectation, plan, stream)
    try:
        if source.followed:
            return _followed(spark, source, plan, stream, aside)
        reader = spark.readStream.format(source.source.format)
        options = {k: v for k, v in source.source.options.items() if k.lower() not in _OF_LAYOUT}
        paths = source.source.path
        given = reader.options(**options).load(*paths[:1])
    except PySparkException as error:
        raise InputError(
            f"The source of the stream {source.name!r} cannot be used: {_said(error)}",
            _hint(source.source.format),
        ) from error
    if source.message is not None:
        return _of_messages(given, file_for(source.message, plan, stream), aside)
    return _of_columns(given, source, expected, aside)


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """The files of a stored graph, and their ``states`` when the run began."""

    name: str
    files: Sequence[EdgeFile]
    states: Sequence[FileState]

    @classmethod
    def of(cls, name: str, files: Sequence[EdgeFile]) -> StoredGraph:
        """The graph as its files are now.

        Raises:
            InputError: if a file is not there.
        """
        return cls(name, tuple(files), fingerprint({name: files}))

    def check_unchanged(self) -> None:
        """Compares the files with their states.

        Raises:
            ChangedInputError: if one has changed.
        """
        check_unchanged(self.states, {self.name: self.files})


def stored_frame(
    spark: SparkSession, graph: StoredGraph, plan: PhysicalPlan, aside: Aside
) -> DataFrame:
    """The static DataFrame of the edges of a stored graph.

    Spark reads it in a task of the first micro-batch. The task fails with `ChangedInputError` if a
    file has changed since.
    """
    stream = next(s for s in plan.streams if s.name == graph.name)
    try:
        check_not_empty(graph.files)
    except EdgeFileError as error:
        raise InputError(f"The stored graph {graph.name!r} has no rows: {error}") from error
    layouts = {
        str(Path(file.path).absolute()): file_for(file, plan, stream) for file in graph.files
    }
    paths = spark.createDataFrame([(path,) for path in layouts], "path string")
    schema = next(iter(layouts.values())).schema
    return paths.mapInArrow(_file_reader(layouts, aside, graph.check_unchanged), _ddl(schema))


def _followed(
    spark: SparkSession, source: LiveSource, plan: PhysicalPlan, stream: PlanStream, aside: Aside
) -> DataFrame:
    """The edges of files that are put into folders."""
    frames = []
    options = {k: v for k, v in source.source.options.items() if k.lower() not in _OF_LAYOUT}
    for number, (folder, layout) in enumerate(source.layouts.items()):
        place = Path(folder).absolute()
        if not place.is_dir():
            raise InputError(f"{folder}: there is no such folder to follow.", "Make it first.")
        paths = (
            spark.readStream.format("binaryFile")
            .schema(_FILES)
            .options(**options)
            .load(readable(place))
            .select("path")
        )
        own = replace(aside, source=f"{aside.source}.{number}")
        file = file_for(layout, plan, stream)
        frames.append(paths.mapInArrow(_file_reader({"": file}, own), _ddl(file.schema)))
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.union(frame)
    return whole


def _file_reader(
    layouts: Mapping[str, EdgeFile], aside: Aside, check: Callable[[], None] | None = None
) -> Frames:
    """Reads the files of which a DataFrame has the paths; ``""`` is the layout of all others.

    ``check`` is called when all have been read.
    """

    def edges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bad: list[dict[str, Any]] = []
        for path in (str(path) for batch in batches for path in batch["path"].to_pylist()):
            local = unquote(urlsplit(path).path) if path.startswith("file:") else path
            file = layouts.get(local) or replace(layouts[""], path=local)
            try:
                for part in read(file, strict=aside.strict):
                    bad += [
                        {"file": r.file, "line": r.line, "reason": r.reason, "text": r.text}
                        for r in part.rejected
                    ]
                    yield part.edges
            except EdgeFileError as error:
                bad.append({"file": local, "line": 0, "reason": str(error), "text": ""})
        if check is not None:
            check()
        aside.put(bad)

    return edges


def _of_messages(given: DataFrame, layout: EdgeFile, aside: Aside) -> DataFrame:
    """The edges of messages that are text."""
    value = sf.col("value").cast("binary").alias("value")
    places = [name for name in _PLACES if name in given.columns]

    def edges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bad: list[dict[str, Any]] = []
        for batch in batches:
            found = edges_of_messages(layout, batch["value"].to_pylist())
            for position, reason in found.bad:
                place = {name: batch[name][position].as_py() for name in places}
                text = (batch["value"][position].as_py() or b"").decode(errors="backslashreplace")
                bad.append({**place, "reason": reason, "text": text})
            yield found.edges
        aside.put(bad)

    return given.select(value, *places).mapInArrow(edges, _ddl(layout.schema))


def _of_columns(
    given: DataFrame, source: LiveSource, expected: Expectation, aside: Aside
) -> DataFrame:
    """The edges of rows that are columns."""
    ends = ("id",) if expected.vertices else ("src", "trg")
    needed = [*ends, "ts", *(["label"] if expected.label is None else [])]
    called = {
        role: source.columns.get(role, role) for role in (*needed, "op", *expected.properties)
    }
    there = {role: name for role, name in called.items() if name in given.columns}
    needed += [role for role in expected.properties if role in source.columns]
    missing = [called[role] for role in needed if role not in there]
    if missing:
        raise InputError(
            f"The source of the stream {source.name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(given.columns)}.",
            "Say in the catalog which column is which: columns: {src: ..., ts: ...}.",
        )
    types = dict(given.dtypes)
    columns = [_plain(role, types[name], name).alias(role) for role, name in there.items()]

    def edges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bad: list[dict[str, Any]] = []
        for batch in batches:
            by_role = dict(zip(batch.schema.names, batch.columns, strict=True))
            found = checked_rows(by_role, batch.num_rows, expected)
            for position, reason in found.bad:
                row = {called[role]: column[position].as_py() for role, column in by_role.items()}
                text = json.dumps(row, ensure_ascii=False, default=str)
                bad.append({"reason": reason, "text": text})
            yield found.edges
        aside.put(bad)

    return given.select(*columns).mapInArrow(edges, _ddl(expected.schema))


_KEPT = ("bigint", "int", "smallint", "tinyint", "double", "float", "boolean", "string")


def _plain(role: str, kind: str, name: str) -> Column:
    """A column as text, whole numbers, instants, and of a property numbers and truth values."""
    column = sf.col(f"`{name.replace('`', '``')}`")
    if kind.startswith(("timestamp", "date")) and role not in ("src", "trg", "id", "label", "op"):
        return column
    if role in ("src", "trg", "id", "label", "op"):
        return column.cast("string")
    if role == "ts":
        return column if kind in ("bigint", "int", "string") else column.cast("string")
    if kind.startswith("decimal"):
        return column.cast("double")
    return column if kind in _KEPT else column.cast("string")


def _expectation(given: Expectation, plan: PhysicalPlan, stream: PlanStream) -> Expectation:
    """The checks of rows that a plan reads, with no more properties than it uses."""
    return replace(
        given,
        vertex_type=stream.vertex_type,
        time_unit=plan.time_unit,
        deletions=any(s.update_pattern for _, s in plan.scans if s.stream == stream.name),
        properties={name: kind for name, kind in stream.properties.items() if name != OWN_TIME},
    )


def _ddl(schema: pa.Schema) -> str:
    kinds = {
        pa.string(): SQL_TYPES["string"],
        pa.int64(): SQL_TYPES["integer"],
        pa.float64(): SQL_TYPES["number"],
        pa.bool_(): SQL_TYPES["boolean"],
    }
    return ", ".join(f"`{f.name.replace('`', '``')}` {kinds[f.type]}" for f in schema)


def _said(error: PySparkException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def _hint(source_format: str) -> str:
    if source_format == "kafka":
        return (
            "Spark reads Kafka with a package of its own: see spark.jars.packages and spark.jars "
            "in docs/running.md."
        )
    return "Its format, path and options go to Spark as the catalog has them."

"""Live sources, and stored graphs beside them: rows from Spark, and how they become edges.

In: sources of a catalog. Out: for each source its rows, with the function that checks them in
Python workers, as a replay checks the rows of files. The same pass selects the rows of a plan's
scan inputs and packs them into messages (:func:`packed_sources`).

A row that is not an edge is written to a folder. The name of the file has the number of the
micro-batch, so a batch that is run again replaces its own file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from ....algebra.plan import PhysicalPlan
from ....algebra.plan_parts import PlanStream
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
from ...scans import OWN_TIME, scan_inputs
from ..exchange.columns import properties_of
from ..exchange.packing import PACKED, packed
from ..host.errors import InputError
from ..host.files import written_aside
from ..session.settings import readable
from .fingerprint import FileState, check_unchanged, fingerprint
from .replay import file_for, with_stream
from .selection import Arrival, Timed, edge_sender
from .slice_rows import FILES

_LAYOUT_OPTIONS = ("sep", "delimiter", "header")
"""Options for the parser of Headrace, which Spark must not see."""
_MESSAGE_POSITION = ("topic", "partition", "offset")
"""Columns with the position of a message in its source."""

_CLOCK = "headrace_clock"
"""The column with the start of a micro-batch, beside those of a source."""

Frames = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""A function for ``DataFrame.mapInArrow``."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Rows of a source that are not checked yet.

    Attributes:
        stream: the name of the stream or stored graph.
        rows: the rows, in the columns of the source.
        checked: turns the rows into edges, and sets aside those that are none.
    """

    stream: str
    rows: DataFrame
    checked: Frames


def packed_sources(sources: Sequence[Unchecked], plan: PhysicalPlan, arrival: Arrival) -> DataFrame:
    """Messages to the first stage of a plan, from the rows of all sources in one pass.

    With one partition the messages come in one task, which is that of the stage, so Spark moves no
    rows between tasks. A sender is then a source; otherwise it is a task.
    """
    document, properties = plan.to_json(), properties_of(scan_inputs(plan))
    partitions = plan.parallelism
    # Spark logs the start of a batch before the batch, so one that runs again has the same.
    clock = sf.unix_millis(sf.current_timestamp()).alias(_CLOCK)

    def packer_of(number: int, source: Unchecked) -> Frames:
        stream, checked = source.stream, source.checked

        def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            started: list[int] = []

            def rows() -> Iterator[pa.RecordBatch]:
                for batch in batches:
                    if batch.num_rows and not started:
                        started.append(batch[_CLOCK][0].as_py())
                    yield batch.drop_columns([_CLOCK])

            def edges() -> Iterator[Timed]:
                for batch in checked(rows()):
                    yield with_stream(batch, stream, properties), started[0] if started else None

            for sent in edge_sender(document, arrival)(edges()):
                if partitions > 1:
                    yield packed(sent, partitions)
                else:
                    yield packed([replace(message, source=number) for message in sent], 1)

        return pack

    frames = []
    for number, source in enumerate(sources):
        rows = source.rows.select("*", clock)
        rows = rows if partitions > 1 else rows.coalesce(1)
        frames.append(rows.mapInArrow(packer_of(number, source), PACKED))
    messages = reduce(DataFrame.union, frames)
    return messages if partitions > 1 or len(frames) == 1 else messages.coalesce(1)


@dataclass(frozen=True, slots=True)
class Aside:
    """The folder for rows of a source that are not edges.

    Attributes:
        folder: the path; all sources of a run share the folder.
        stream: the name of the stream, which each line repeats.
        source: the number of the source, for distinct names of files.
        strict: whether the first such row ends the run.
    """

    folder: str
    stream: str
    source: str
    strict: bool = False

    def put(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes the rejected rows of a task to a file.

        Raises:
            RejectedRowError: for the first row, if ``strict``.
        """
        if not rows:
            return
        if self.strict:
            row = rows[0]
            position = str(row.get("file", self.stream)), int(row.get("line", row.get("offset", 0)))
            raise RejectedRowError(Rejected(*position, str(row["reason"]), str(row["text"])))
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


def live_rows(
    spark: SparkSession, source: LiveSource, plan: PhysicalPlan, aside: Aside
) -> list[Unchecked]:
    """Returns the rows of a live source as streaming DataFrames, one for each followed folder.

    Raises:
        InputError: if Spark cannot open the source, or the source lacks a column.
    """
    stream = next(s for s in plan.streams if s.name == source.name)
    expected = _expectation(source.expectation, plan, stream)
    try:
        if source.followed:
            return _followed(spark, source, plan, stream, aside)
        reader = spark.readStream.format(source.source.format)
        paths = source.source.path
        frame = reader.options(**_spark_options(source)).load(*paths[:1])
    except PySparkException as error:
        raise InputError(
            f"Spark cannot open the source of the stream {source.name!r}: {_first_line(error)}",
            _hint(source.source.format),
        ) from error
    if source.message is not None:
        layout = file_for(source.message, plan, stream)
        return [Unchecked(source.name, *_of_messages(frame, layout, aside))]
    return [Unchecked(source.name, *_of_columns(frame, source, expected, aside))]


def _spark_options(source: LiveSource) -> dict[str, str]:
    """The options of a source in the catalog that are for Spark."""
    options = source.source.options.items()
    return {name: value for name, value in options if name.lower() not in _LAYOUT_OPTIONS}


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """The files of a stored graph, and the states of the files when the run began."""

    name: str
    files: Sequence[EdgeFile]
    states: Sequence[FileState]

    @classmethod
    def of(cls, name: str, files: Sequence[EdgeFile]) -> StoredGraph:
        """Records the present states of the files.

        Raises:
            InputError: if a file is missing.
        """
        return cls(name, tuple(files), fingerprint({name: files}))

    def check_unchanged(self) -> None:
        """Compares the files with their recorded states.

        Raises:
            ChangedInputError: if a file has changed.
        """
        check_unchanged(self.states, {self.name: self.files})


def stored_rows(
    spark: SparkSession, graph: StoredGraph, plan: PhysicalPlan, aside: Aside
) -> Unchecked:
    """Returns the paths of the files of a stored graph as a static DataFrame.

    A task of the first micro-batch reads the files. The task fails with `ChangedInputError` if a
    file has changed since the run began.

    Raises:
        InputError: if the files have no rows.
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
    return Unchecked(graph.name, paths, _file_reader(layouts, aside, graph.check_unchanged))


def _followed(
    spark: SparkSession, source: LiveSource, plan: PhysicalPlan, stream: PlanStream, aside: Aside
) -> list[Unchecked]:
    """The paths of files that appear in the folders of a source."""
    folders = []
    options = _spark_options(source)
    for number, (folder, layout) in enumerate(source.layouts.items()):
        path = Path(folder).absolute()
        if not path.is_dir():
            raise InputError(
                f"The folder {folder}, which the stream {source.name!r} follows, does not exist.",
                "Create it first.",
            )
        paths = (
            spark.readStream.format("binaryFile")
            .schema(FILES)
            .options(**options)
            .load(readable(path))
            .select("path")
        )
        own = replace(aside, source=f"{aside.source}.{number}")
        file = file_for(layout, plan, stream)
        folders.append(Unchecked(source.name, paths, _file_reader({"": file}, own)))
    return folders


def _file_reader(
    layouts: Mapping[str, EdgeFile], aside: Aside, check: Callable[[], None] | None = None
) -> Frames:
    """Returns the function that reads the files whose paths a DataFrame has.

    Args:
        layouts: the layout of each file by path; ``""`` is the layout of other files.
        aside: the folder for rows that are not edges.
        check: called when all files of a task have been read.
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


def _of_messages(messages: DataFrame, layout: EdgeFile, aside: Aside) -> tuple[DataFrame, Frames]:
    """Messages of text, such as JSON, and what makes edges of them."""
    value = sf.col("value").cast("binary").alias("value")
    position_columns = [name for name in _MESSAGE_POSITION if name in messages.columns]

    def edges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bad: list[dict[str, Any]] = []
        for batch in batches:
            parsed = edges_of_messages(layout, batch["value"].to_pylist())
            for row, reason in parsed.bad:
                position = {name: batch[name][row].as_py() for name in position_columns}
                text = (batch["value"][row].as_py() or b"").decode(errors="backslashreplace")
                bad.append({**position, "reason": reason, "text": text})
            yield parsed.edges
        aside.put(bad)

    return messages.select(value, *position_columns), edges


def _of_columns(
    frame: DataFrame, source: LiveSource, expected: Expectation, aside: Aside
) -> tuple[DataFrame, Frames]:
    """Rows with columns, and what makes edges of them.

    Raises:
        InputError: if a column is missing.
    """
    ends = ("id",) if expected.vertices else ("src", "trg")
    needed = [*ends, "ts", *(["label"] if expected.label is None else [])]
    called = {
        role: source.columns.get(role, role) for role in (*needed, "op", *expected.properties)
    }
    present = {role: name for role, name in called.items() if name in frame.columns}
    needed += [role for role in expected.properties if role in source.columns]
    missing = [called[role] for role in needed if role not in present]
    if missing:
        raise InputError(
            f"The source of the stream {source.name!r} has no column {', '.join(missing)}; "
            f"it has {', '.join(frame.columns)}.",
            "Name the columns in the catalog: columns: {src: ..., ts: ...}.",
        )
    types = dict(frame.dtypes)
    columns = [_plain(role, types[name], name).alias(role) for role, name in present.items()]

    def edges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bad: list[dict[str, Any]] = []
        for batch in batches:
            by_role = dict(zip(batch.schema.names, batch.columns, strict=True))
            checked = checked_rows(by_role, batch.num_rows, expected)
            for position, reason in checked.bad:
                row = {called[role]: column[position].as_py() for role, column in by_role.items()}
                text = json.dumps(row, ensure_ascii=False, default=str)
                bad.append({"reason": reason, "text": text})
            yield checked.edges
        aside.put(bad)

    return frame.select(*columns), edges


_KEPT = ("bigint", "int", "smallint", "tinyint", "double", "float", "boolean", "string")
"""Spark types of properties that the check of rows takes without a cast."""


def _plain(role: str, kind: str, name: str) -> Column:
    """Casts a column to a type that the check of rows takes.

    Ends, label and ``op`` become text; ``ts`` stays an integer, a timestamp, or becomes text; a
    property keeps its type where possible.
    """
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


def _expectation(declared: Expectation, plan: PhysicalPlan, stream: PlanStream) -> Expectation:
    """The checks of the rows of a stream, limited to the properties that the plan uses."""
    return replace(
        declared,
        vertex_type=stream.vertex_type,
        time_unit=plan.time_unit,
        deletions=any(s.update_pattern for _, s in plan.scans if s.stream == stream.name),
        properties={name: kind for name, kind in stream.properties.items() if name != OWN_TIME},
    )


def _first_line(error: PySparkException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def _hint(source_format: str) -> str:
    if source_format == "kafka":
        return (
            "Spark reads Kafka with a package of its own: see spark.jars.packages and spark.jars "
            "in docs/running.md."
        )
    return "Check the format, path and options in the catalog; Spark gets them unchanged."

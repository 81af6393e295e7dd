"""Runs plans on Spark, and finds the inputs of their streams.

In: a plan, the files of its streams, a place for the results. Out: a `RunReport`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanError, PlanStream
from ..algebra.remedy import Remedy, Setting
from ..catalog.defaults import DEFAULT_STREAM, VERTEX_STREAM
from ..catalog.edges import EdgeFile, EdgeFileError, RejectedRowError
from ..catalog.inputs import Layout, files_of_inputs, files_of_stream
from ..catalog.live import LiveSource, live_source
from ..catalog.model import Catalog, Stream, VertexType
from ..executor.spark.host.errors import (
    CancelledError,
    DamagedError,
    ExecutionError,
    InputError,
    OtherQueryError,
    OutputError,
    UnsafePlanError,
)
from ..planning.errors import HeadraceError, RunError, StoppedError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..executor.spark.options import RunOptions
    from ..executor.spark.report import Progress, RunReport
    from ..executor.spark.results.sinks import Output
    from ..executor.spark.session.options import SessionOptions

EngineKind = Literal["spark", "local"]
"""What runs a plan: Spark, or this process alone."""

_USAGE: Mapping[type[ExecutionError], str] = {
    InputError: "E-FILE",
    OtherQueryError: "E-CHECKPOINT",
    OutputError: "E-OUTPUT",
    UnsafePlanError: "E-PLAN",
}
"""The error codes of wrong requests, by error of the executor."""


def read_inputs(
    inputs: Sequence[str],
    columns: str | None = None,
    separator: str | None = None,
    *,
    time_unit: str = "second",
    vertex_type: VertexType = "string",
    stream: Stream | None = None,
    stored: bool = False,
) -> tuple[EdgeFile, ...]:
    """Returns the files that ``FILE`` and ``LABEL=FILE`` name.

    Args:
        inputs: the names of files, perhaps with a label.
        columns: the columns of files without a header, separated by commas, or the columns of
            roles, as ``src=from,trg=to``.
        separator: the separator between two columns.
        time_unit: the time unit of the rows.
        vertex_type: the type of vertices, without a ``stream``.
        stream: the catalog's entry with columns, label and type of vertices.
        stored: whether the files belong to a stored graph.

    Raises:
        UsageError: if a file is missing, or the layout is wrong.
    """
    if not inputs and (columns is not None or separator is not None):
        raise UsageError(
            "there are columns or a separator, but no input files for them to describe",
            remedies=(Remedy("input", "name the files"),),
        )
    try:
        entry = stream or Stream(DEFAULT_STREAM, {}, vertex_type=vertex_type)
        layout = Layout.of(columns, separator, time_unit, entry.vertex_type)
        files = files_of_inputs(inputs, layout, stored=stored)
    except EdgeFileError as error:
        raise UsageError(str(error), code="E-FILE") from error
    return tuple(
        replace(
            file,
            label=file.label or entry.label,
            columns=entry.columns if columns is None else file.columns,
            vertices=entry.vertices,
        )
        for file in files
    )


def read_vertices(
    inputs: Sequence[str],
    *,
    time_unit: str = "second",
    vertex_type: VertexType = "string",
    stream: Stream | None = None,
) -> tuple[EdgeFile, ...]:
    """Returns the files of stored vertices that ``FILE`` and ``LABEL=FILE`` name."""
    described = stream or Stream(VERTEX_STREAM, {}, vertex_type=vertex_type)
    entry = replace(described, vertices=True)
    return read_inputs(inputs, time_unit=time_unit, stream=entry, stored=True)


def inputs_of_plan(
    plan: PhysicalPlan,
    catalog: Catalog | None,
    inputs: Sequence[str],
    columns: str | None = None,
    separator: str | None = None,
    *,
    stored: Sequence[str] = (),
    vertices: Sequence[str] = (),
) -> dict[str, tuple[EdgeFile, ...] | LiveSource]:
    """Finds the files or the live source of each stream and stored graph that a plan reads.

    The catalog has the sources of all kinds of streams that no argument names files for.

    Args:
        plan: the plan to run.
        catalog: the catalog, if there is one.
        inputs: the files of the plan's only stream.
        columns: the columns of ``inputs`` without a header.
        separator: the separator between two columns of ``inputs``.
        stored: the files of the plan's only stored graph.
        vertices: the files of the plan's only relation of stored vertices.

    Raises:
        UsageError: if a stream has no files, or files could belong to several streams.
    """
    read_inputs(inputs, columns, separator)  # report wrong files even if the plan reads no stream
    graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
    streams_of = {} if catalog is None else catalog.streams
    of_vertices = {n for n, s in streams_of.items() if s.vertices} or {VERTEX_STREAM}
    sources: dict[str, tuple[EdgeFile, ...] | LiveSource] = {}
    for kind, names, streams in (
        (_STREAM, inputs, [s for s in plan.streams if s.name not in graphs]),
        (_STORED, stored, [s for s in plan.streams if s.name in graphs - of_vertices]),
        (_VERTICES, vertices, [s for s in plan.streams if s.name in graphs & of_vertices]),
    ):
        if not names:
            sources |= _sources(kind, streams, catalog, plan.time_unit)
            continue
        if len(streams) > 1:
            listed = ", ".join(stream.name for stream in streams)
            raise UsageError(
                f"the plan reads {len(streams)} {kind.names} ({listed}), and the input files do "
                "not say which one they belong to",
                hint="give the sources of all streams in the catalog, and no input files",
            )
        for stream in streams:
            described = streams_of.get(stream.name)
            if kind is _VERTICES:
                files = read_vertices(names, time_unit=plan.time_unit, stream=described)
            else:
                files = read_inputs(
                    names,
                    columns if kind is _STREAM else None,
                    separator if kind is _STREAM else None,
                    time_unit=plan.time_unit,
                    stream=described,
                    stored=kind is _STORED,
                )
            sources[stream.name] = tuple(replace(f, vertex_type=stream.vertex_type) for f in files)
    return sources


def files_alone(
    inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
) -> dict[str, Sequence[EdgeFile]]:
    """Returns inputs that are all files.

    Raises:
        UsageError: if an input is a live source.
    """
    files = {name: source for name, source in inputs.items() if not isinstance(source, LiveSource)}
    live = sorted({*inputs} - {*files})
    if live:
        raise UsageError(
            f"the stream {live[0]} is unbounded, but this run reads its input to the end",
            remedies=(Remedy("input", "name files to read instead"),),
        )
    return files


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of source, and the setting that names its files."""

    names: str
    setting: Setting


_STREAM = _Kind("streams", "input")
_STORED = _Kind("stored graphs", "stored")
_VERTICES = _Kind("relations of stored vertices", "vertices")


def _sources(
    kind: _Kind, streams: Sequence[PlanStream], catalog: Catalog | None, time_unit: str
) -> dict[str, tuple[EdgeFile, ...] | LiveSource]:
    """Returns the files or live sources of streams from the catalog.

    Raises:
        UsageError: if the catalog has no source for a stream, or plan and catalog disagree whether
            the stream is stored.
    """
    declared = {} if catalog is None else catalog.streams
    names = [stream.name for stream in streams]
    missing = [name for name in names if name not in declared or declared[name].source is None]
    if missing:
        raise UsageError(
            f"there is no input for {', '.join(missing)}",
            code="E-FILE",
            remedies=(
                Remedy(kind.setting, "name its files"),
                Remedy("catalog", "give its source in a catalog"),
            ),
        )
    for name in names:
        if declared[name].stored != (kind is not _STREAM):
            raise UsageError(
                f"{name} is among the {kind.names} of the plan, but not in the catalog",
                code="E-CATALOG",
                hint="set stored: true in the catalog for stored graphs only, or plan anew",
            )
    try:
        return {
            name: live_source(declared[name], time_unit)
            if declared[name].live
            else files_of_stream(declared[name], time_unit)
            for name in names
        }
    except EdgeFileError as error:
        raise UsageError(str(error), code="E-FILE") from error


def run_plan(
    plan: PhysicalPlan,
    inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
    output: Output,
    options: RunOptions | None = None,
    *,
    engine: EngineKind = "spark",
    spark: SparkSession | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancelled: threading.Event | None = None,
) -> RunReport:
    """Runs a plan, on Spark in local mode or on a cluster, or without Spark in this process.

    A run over files ends with the files. A run over live sources ends when it is stopped. Several
    threads may run plans in one session at once.

    The engine ``local`` imports no part of Spark. It reads files only, and has no checkpoint: the
    output has to be new or empty, and a run that was stopped starts over.

    Args:
        plan: the plan to run.
        inputs: the files of each stream, or its live source (:func:`inputs_of_plan`).
        output: the place for the results: `ToFolder`, `ToFile`, `ToStdout` or `ToFunction`.
        options: the options of the run.
        engine: what runs the plan.
        spark: the session to run in; by default the session of this process, or else a new session
            that ends with the run.
        on_progress: a callback for progress; another thread may call it.
        cancelled: an event that stops the run; on Spark the same call resumes the run from its
            checkpoint.

    Raises:
        UsageError: if plan, input, output or checkpoint cannot be used.
        RunError: if Spark cannot start, or fails.
        StoppedError: on Ctrl-C or ``cancelled``, after the run has stopped.
    """
    if engine == "local":
        check_local(inputs, output, options, spark=spark is not None)
    try:
        if engine == "local":
            from ..executor.spark.options import RunOptions
            from .in_process import run_in_process

            return run_in_process(
                plan,
                files_alone(inputs),
                output,
                options or RunOptions(),
                on_progress=on_progress,
                cancelled=cancelled or threading.Event(),
            )
        from ..executor.spark.run import run

        return run(
            plan, inputs, output, options, spark=spark, on_progress=on_progress, cancelled=cancelled
        )
    except PlanError as error:
        raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error
    except ExecutionError as error:
        raise as_headrace_error(error) from error


def check_local(
    inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
    output: Output,
    options: RunOptions | None = None,
    *,
    spark: bool = False,
    partitions: bool = False,
) -> None:
    """Checks that a run without Spark can do what it is asked for.

    Args:
        inputs: the inputs of the plan.
        output: the place for the results.
        options: the options of the run.
        spark: whether the caller gives a Spark session.
        partitions: whether the caller plans for several partitions.

    Raises:
        UsageError: if not; the message names all that needs Spark.
    """
    from ..executor.spark.results.sinks import ToKafka, ToSink

    live = [source.description for source in inputs.values() if isinstance(source, LiveSource)]
    requested = [
        ("a checkpoint", options is not None and options.checkpoint is not None),
        ("a cluster", options is not None and options.session.master is not None),
        ("settings of Spark", options is not None and bool(options.session.conf)),
        ("a Spark session", spark),
        ("several partitions", partitions),
        ("a topic of Kafka", isinstance(output, ToKafka)),
        ("a named sink", isinstance(output, ToSink)),
        ("a second output", options is not None and options.also is not None),
        (f"the live source {min(live, default='')}", bool(live)),
    ]
    unavailable = [name for name, is_requested in requested if is_requested]
    if unavailable:
        raise UsageError(
            f"the local engine runs without Spark, which is needed for {', '.join(unavailable)}",
            hint="leave that out, or run on Spark",
        )


@contextmanager
def spark_session(options: SessionOptions | None = None) -> Iterator[SparkSession]:
    """Starts Spark for several runs, and stops it at the end.

    Raises:
        RunError: if Java is missing, or Spark does not start.
    """
    from ..executor.spark.session.session import spark_session as started

    with ExitStack() as stack:
        try:
            session = stack.enter_context(started(options))
        except ExecutionError as error:
            raise as_headrace_error(error) from error
        yield session


def stream(
    spark: SparkSession,
    plan: PhysicalPlan,
    streams: Mapping[str, DataFrame],
    *,
    late: str | Path | None = None,
    metrics: str = "headrace",
) -> DataFrame:
    """Returns the results of a plan as a streaming DataFrame, on the user's session and streams.

    :func:`headrace.executor.spark.stream.stream` describes the arguments.

    Raises:
        UsageError: if the plan or the streams cannot be used.
        RunError: if the session cannot be used.
    """
    from ..executor.spark.stream import stream as results

    try:
        return results(spark, plan, streams, late, metrics=metrics)
    except PlanError as error:
        raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error
    except ExecutionError as error:
        raise as_headrace_error(error) from error


def as_headrace_error(error: ExecutionError) -> HeadraceError:
    """Translates an error of the executor to the error that users see."""
    if isinstance(error, CancelledError):
        return StoppedError(error.message, hint=error.hint, remedies=error.remedies)
    if isinstance(error.__cause__, RejectedRowError):
        return RunError(error.message, code="E-ROW", hint=error.hint, remedies=error.remedies)
    if isinstance(error, DamagedError):
        return RunError(
            error.message, code="E-CHECKPOINT", hint=error.hint, remedies=error.remedies
        )
    code = next((code for kind, code in _USAGE.items() if isinstance(error, kind)), None)
    if code is not None:
        return UsageError(error.message, code=code, hint=error.hint, remedies=error.remedies)
    return RunError(error.message, hint=error.hint, remedies=error.remedies)

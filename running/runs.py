"""From a plan and its inputs to results on Spark.

In: a plan, the files of its streams, a place for the results. Out: a `RunReport`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..algebra.plan import PhysicalPlan, PlanError, PlanStream
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
    from ..executor.spark.session.session import SessionOptions

_USAGE: Mapping[type[ExecutionError], str] = {
    InputError: "E-FILE",
    OtherQueryError: "E-CHECKPOINT",
    OutputError: "E-OUTPUT",
    UnsafePlanError: "E-PLAN",
}
"""The code of each error that is the request's fault, not the run's."""


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
    """The files that ``FILE`` and ``LABEL=FILE`` name.

    ``stream`` is the catalog's entry for their columns, label and vertices, with ``vertex_type``;
    ``stored`` files are of a stored graph.

    Raises:
        UsageError: if one is not there, or the layout makes no sense.
    """
    if not inputs and (columns is not None or separator is not None):
        raise UsageError(
            "columns or a separator are given, and no input files that they describe",
            remedies=(Remedy("input", "name the files"),),
        )
    try:
        known = stream or Stream(DEFAULT_STREAM, {}, vertex_type=vertex_type)
        layout = Layout.of(columns, separator, time_unit, known.vertex_type)
        files = files_of_inputs(inputs, layout, stored=stored)
    except EdgeFileError as error:
        raise UsageError(str(error), code="E-FILE") from error
    return tuple(
        replace(
            file,
            label=file.label or known.label,
            columns=known.columns if columns is None else file.columns,
            vertices=known.vertices,
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
    """The files of stored vertices that ``FILE`` and ``LABEL=FILE`` mean, as `read_inputs`."""
    described = stream or Stream(VERTEX_STREAM, {}, vertex_type=vertex_type)
    known = replace(described, vertices=True)
    return read_inputs(inputs, time_unit=time_unit, stream=known, stored=True)


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
    """The files, or the live source, of every stream that a plan reads, and the files of every
    stored graph.

    ``inputs`` are those of the plan's only stream, ``stored`` those of its only stored graph;
    and ``vertices`` those of its only stored vertices; without them the catalog has the sources.
    ``columns`` and ``separator`` describe ``inputs``.

    Raises:
        UsageError: if a stream has no files, or it is not clear whose ``inputs`` are.
    """
    read_inputs(inputs, columns, separator)  # errors in them show whatever the plan reads
    graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
    streams_of = {} if catalog is None else catalog.streams
    of_vertices = {n for n, s in streams_of.items() if s.vertices} or {VERTEX_STREAM}
    found: dict[str, tuple[EdgeFile, ...] | LiveSource] = {}
    for kind, given, streams in (
        (_STREAM, inputs, [s for s in plan.streams if s.name not in graphs]),
        (_STORED, stored, [s for s in plan.streams if s.name in graphs - of_vertices]),
        (_VERTICES, vertices, [s for s in plan.streams if s.name in graphs & of_vertices]),
    ):
        if not given:
            found |= _sources(kind, streams, catalog, plan.time_unit)
            continue
        if len(streams) > 1:
            names = ", ".join(stream.name for stream in streams)
            raise UsageError(
                f"the plan reads {len(streams)} {kind.names} ({names}), and the input files do "
                "not say which they are of",
                hint="give the sources of all of them in the catalog, and no input files",
            )
        for stream in streams:
            described = streams_of.get(stream.name)
            if kind is _VERTICES:
                files = read_vertices(given, time_unit=plan.time_unit, stream=described)
            else:
                files = read_inputs(
                    given,
                    columns if kind is _STREAM else None,
                    separator if kind is _STREAM else None,
                    time_unit=plan.time_unit,
                    stream=described,
                    stored=kind is _STORED,
                )
            found[stream.name] = tuple(replace(f, vertex_type=stream.vertex_type) for f in files)
    return found


def files_alone(
    inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
) -> dict[str, Sequence[EdgeFile]]:
    """The inputs, where all are files.

    Raises:
        UsageError: if one is a live source.
    """
    files = {name: given for name, given in inputs.items() if not isinstance(given, LiveSource)}
    live = sorted({*inputs} - {*files})
    if live:
        raise UsageError(
            f"the stream {live[0]} is unbounded, and this reads its input to the end",
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
    """The files, or live sources, that the catalog has for streams.

    Raises:
        UsageError: if it has none, or says otherwise whether they are stored.
    """
    known = {} if catalog is None else catalog.streams
    names = [stream.name for stream in streams]
    missing = [name for name in names if name not in known or known[name].source is None]
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
        if known[name].stored != (kind is not _STREAM):
            raise UsageError(
                f"{name} is among the {kind.names} of the plan, and in the catalog it is not",
                code="E-CATALOG",
                hint="say stored: true there of a stored graph, of others not; or plan anew",
            )
    try:
        return {
            name: live_source(known[name], time_unit)
            if known[name].live
            else files_of_stream(known[name], time_unit)
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
    spark: SparkSession | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancelled: threading.Event | None = None,
) -> RunReport:
    """Runs a plan over files on Spark in local mode, to their end; over live sources until it is
    stopped.

    In one session several may run at once, from several threads.

    Args:
        plan: what to run.
        inputs: the files of each stream, or its live source (:func:`inputs_of_plan`).
        output: where the results go: `ToFolder`, `ToFile`, `ToStdout` or `ToFunction`.
        options: how.
        spark: a session to run in; by default the one that runs in this process, or else one
            that is started, and stopped at the end.
        on_progress: called now and then, perhaps from another thread.
        cancelled: set by any thread, it stops the run; the same call goes on from there.

    Raises:
        UsageError: if plan, input, output or checkpoint cannot be used.
        RunError: if Spark cannot start, or fails.
        StoppedError: on Ctrl-C or ``cancelled``, when all has been stopped.
    """
    from ..executor.spark.run import run

    try:
        return run(
            plan, inputs, output, options, spark=spark, on_progress=on_progress, cancelled=cancelled
        )
    except PlanError as error:
        raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error
    except ExecutionError as error:
        raise as_headrace_error(error) from error


@contextmanager
def spark_session(options: SessionOptions | None = None) -> Iterator[SparkSession]:
    """Starts Spark in local mode for several runs, and stops it at the end.

    Raises:
        RunError: if there is no Java to run on, or Spark does not start.
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
    """The results of a plan as a streaming DataFrame, on the user's own session and streams.

    As :func:`headrace.executor.spark.stream.stream`, which says what ``streams`` hold, where edges
    go that come too late, and what ``metrics`` names.

    Raises:
        UsageError: if the plan or the streams cannot be used.
        RunError: if the session cannot.
    """
    from ..executor.spark.stream import stream as results

    try:
        return results(spark, plan, streams, late, metrics=metrics)
    except PlanError as error:
        raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error
    except ExecutionError as error:
        raise as_headrace_error(error) from error


def as_headrace_error(error: ExecutionError) -> HeadraceError:
    """Translates an error of the executor into one that every face shows."""
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

"""Runs a plan in this process, and compares the operators' counters with the estimates.

In: a plan and the files of its streams. Out: an `Analysis`: the counters and the estimate of each
operator (:mod:`headrace.running.measures`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanError, PlanStream
from ..catalog.edges import EdgeFile, EdgeFileError, read
from ..catalog.live import LiveSource
from ..executor.local import LocalRun, Result
from ..executor.operators.simple_path import StepBudgetError
from ..executor.scans import property_column
from ..executor.spark.host.errors import BudgetError, InputError
from ..executor.spark.reading.rejected import Tally
from ..executor.spark.reading.replay import file_for
from ..executor.spark.reading.time_sort import TimeSorter
from ..executor.values import ARROW_TYPES
from ..planning.errors import UsageError
from .measures import Measured, measured
from .runs import as_headrace_error, files_alone

_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class Analysis:
    """The counters of a plan over an input.

    Attributes:
        nodes: the counters and the estimate of each node, by node id.
        edges: the number of edges in the input.
        rejected: the number of rows that are not edges.
        results: the number of results.
        ticks: application time from the first edge to the last, in time units of the plan.
        seconds: the time of the run, without reading the input.
    """

    nodes: Mapping[int, Measured]
    edges: int
    rejected: int
    results: int
    ticks: int
    seconds: float


def analyze(
    plan: PhysicalPlan,
    inputs: Mapping[str, Sequence[EdgeFile]],
    on_progress: Callable[[int], None] | None = None,
) -> Analysis:
    """Runs a plan to the end of its inputs and discards the results.

    Args:
        plan: the plan to run.
        inputs: the files of each stream; the run merges them by time.
        on_progress: a callback for the number of edges processed so far.

    Raises:
        UsageError: if the plan cannot be run, or a file cannot be read.
        RunError: if all rows of a stream are rejected (E-ROW), or the search for simple paths takes
            more steps than the plan allows.
    """
    run = _local_run(plan)
    with TemporaryDirectory(prefix="headrace-") as folder, _translate_budget_errors():
        sorter = TimeSorter(_schema(plan), Path(folder))
        edges, rejected = _read(plan, inputs, sorter)
        started = time.perf_counter()
        graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
        done, first, last, results = 0, None, 0, 0
        for chunk in _chunks(sorter.sorted()):
            times = chunk["ts"]
            if first is None and (position := _first_of_streams(chunk, graphs)) is not None:
                first = times[position].as_py()
            last = times[-1].as_py()
            results += len(run.push(_by_stream(plan, chunk)))
            done += chunk.num_rows
            if on_progress is not None:
                on_progress(done)
        results += len(run.end())
    ticks = 0 if first is None else last - first + 1
    return Analysis(
        measured(plan, run.counters, ticks),
        edges,
        rejected,
        results,
        ticks,
        time.perf_counter() - started,
    )


def results(
    plan: PhysicalPlan, inputs: Mapping[str, Sequence[EdgeFile] | LiveSource]
) -> Iterator[Result]:
    """Runs a plan to the end of its inputs in this process, and yields its results.

    Args:
        plan: the plan to run.
        inputs: the files of each stream (:func:`headrace.inputs_of_plan`); the run merges them by
            time.

    Raises:
        UsageError: if the plan cannot be run, a file cannot be read, or an input is unbounded.
        RunError: if all rows of a stream are rejected (E-ROW), or the search for simple paths takes
            more steps than the plan allows.
    """
    run = _local_run(plan)
    with TemporaryDirectory(prefix="headrace-") as folder, _translate_budget_errors():
        sorter = TimeSorter(_schema(plan), Path(folder))
        _read(plan, files_alone(inputs), sorter)
        for chunk in _chunks(sorter.sorted()):
            yield from run.results(run.push(_by_stream(plan, chunk)))
        yield from run.results(run.end())


def _local_run(plan: PhysicalPlan) -> LocalRun:
    try:
        return LocalRun(plan)
    except PlanError as error:
        raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error


@contextmanager
def _translate_budget_errors() -> Iterator[None]:
    try:
        yield
    except StepBudgetError as error:
        raise as_headrace_error(BudgetError.of(str(error))) from error


def _read(
    plan: PhysicalPlan, inputs: Mapping[str, Sequence[EdgeFile]], sorter: TimeSorter
) -> tuple[int, int]:
    """Adds the edges of the plan's labels to the sorter; returns the numbers of edges and of
    rejected rows."""
    schema = _schema(plan)
    tallies: list[Tally] = []
    for stream in plan.streams:
        labels = pa.array(stream.labels, pa.string())
        tally = Tally()
        tallies.append(tally)
        for file in inputs[stream.name]:
            try:
                for batch in read(file_for(file, plan, stream)):
                    tally.add(batch)
                    kept = batch.edges.filter(pc.is_in(batch.edges["label"], labels))
                    if kept.num_rows:
                        sorter.add(_with_stream(kept, stream, schema))
            except EdgeFileError as error:
                raise UsageError(str(error), code="E-FILE") from error
        try:
            tally.check(stream.name)
        except InputError as error:
            raise as_headrace_error(error) from error
    return sum(one.edges for one in tallies), sum(one.rejected for one in tallies)


def _schema(plan: PhysicalPlan) -> pa.Schema:
    """Returns the columns of the merged edges, with a column for each property of each stream."""
    edge = {name: pa.string() for name in ("stream", "label", "src", "trg", "op")}
    properties = {
        _column(stream, name): ARROW_TYPES[kind]
        for stream in plan.streams
        for name, kind in stream.properties.items()
    }
    return pa.schema({**edge, "ts": pa.int64(), **properties})


def _column(stream: PlanStream, name: str) -> str:
    return f"{stream.name}.{name}"


def _with_stream(edges: pa.RecordBatch, stream: PlanStream, schema: pa.Schema) -> pa.Table:
    columns: dict[str, Any] = {name: edges[name] for name in ("label", "src", "trg", "ts")}
    columns["stream"] = pa.repeat(pa.scalar(stream.name), edges.num_rows)
    columns |= {_column(stream, name): edges[name] for name in stream.properties}
    if "op" in edges.schema.names:
        columns["op"] = edges["op"]
    for field in schema:
        columns.setdefault(field.name, pa.nulls(edges.num_rows, field.type))
    return pa.table({name: columns[name] for name in schema.names}).cast(schema)


def _chunks(tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    for table in tables:
        yield from table.combine_chunks().to_batches(max_chunksize=_ROWS)


def _first_of_streams(chunk: pa.RecordBatch, graphs: Set[str]) -> int | None:
    """Returns the position of the first edge of a stream, not of a stored graph."""
    streams = enumerate(chunk["stream"].to_pylist())
    return next((position for position, stream in streams if stream not in graphs), None)


def _by_stream(plan: PhysicalPlan, chunk: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Splits edges by stream, and casts vertices from the text of the sort to the stream's type."""
    batches = []
    for stream in plan.streams:
        own = chunk.filter(pc.equal(chunk["stream"], pa.scalar(stream.name)))
        vertex = ARROW_TYPES[stream.vertex_type]
        columns = {name: own[name].cast(vertex) for name in ("src", "trg")}
        columns |= {name: own[name] for name in ("label", "ts", "stream", "op")}
        for name in stream.properties:
            columns[property_column(name)] = own[_column(stream, name)]
        batches.append(pa.RecordBatch.from_pydict(columns))
    return batches

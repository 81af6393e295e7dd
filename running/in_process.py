"""Runs a plan over files in this process, without Spark and without a checkpoint.

In: a plan, the files of its streams, a place for the results. Out: the results that Spark gives,
slice by slice, rejected and late rows beside them, and a `RunReport`.

Reading, slices, formats and sinks are those of a run on Spark; the operators run in a `LocalRun`.
"""

from __future__ import annotations

import resource
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..algebra.durations import ticks
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanStream
from ..catalog.edges import EdgeFile
from ..executor.batch import FOREVER, Batch, without_repeated_ends
from ..executor.checking import check_document
from ..executor.chunks import chunks
from ..executor.counters import Counters
from ..executor.dictionary import BLOCK_ROWS, decoded
from ..executor.local import LateEdge, LocalRun
from ..executor.operators.simple_path import StepBudgetError
from ..executor.scans import DELETES, property_column, scan_inputs
from ..executor.spark.exchange.columns import carried, properties_of
from ..executor.spark.exchange.names import column_names
from ..executor.spark.host.errors import BudgetError, CancelledError, ExecutionError
from ..executor.spark.host.folders import own_folder
from ..executor.spark.options import RunOptions
from ..executor.spark.reading.fingerprint import check_unchanged, fingerprint
from ..executor.spark.reading.rate import ReplayRate
from ..executor.spark.reading.rejected import RejectedRows
from ..executor.spark.reading.replay import Replay
from ..executor.spark.report import OnProgress, Progress, RunReport
from ..executor.spark.results.claims import check_output, claim
from ..executor.spark.results.delivery import sink_of
from ..executor.spark.results.formats import ResultShape
from ..executor.spark.results.parts import PartWriter
from ..executor.spark.results.sink import Sink
from ..executor.spark.results.sinks import NOTE, Output, ToFolder, set_aside
from ..executor.values import ARROW_TYPES
from ..executor.watermarks import in_disorder

_NOT_RESUMED = "A run without Spark has no checkpoint: the same command starts over."


def run_in_process(
    plan: PhysicalPlan,
    files: Mapping[str, Sequence[EdgeFile]],
    output: Output,
    options: RunOptions,
    *,
    on_progress: OnProgress | None,
    cancelled: threading.Event,
) -> RunReport:
    """Runs a plan over the ``files`` of each stream to their end.

    Args:
        plan: the plan to run; all of its partitions run in this process.
        files: the files of each stream.
        output: the place for the results; a folder has to be new or empty.
        options: the options of the run; ``checkpoint`` and ``session`` are not read.
        on_progress: a callback for progress.
        cancelled: an event that stops the run.

    Raises:
        PlanError: if the plan cannot be run.
        ExecutionError: if the input or the output cannot be used; the message says what to do.
        CancelledError: on Ctrl-C or ``cancelled``.
    """
    check_document(plan)
    with ExitStack() as stack:
        folder, _ = stack.enter_context(own_folder())
        run = _Run(
            plan,
            files,
            output,
            options,
            folder=folder,
            on_progress=on_progress,
            cancelled=cancelled,
        )
        try:
            return run.to_end()
        except KeyboardInterrupt:
            raise run.stopped() from None
        except StepBudgetError as error:
            raise BudgetError.of(str(error)) from error


class _Run:
    """One run, from the files to the report."""

    def __init__(
        self,
        plan: PhysicalPlan,
        files: Mapping[str, Sequence[EdgeFile]],
        output: Output,
        options: RunOptions,
        *,
        folder: Path,
        on_progress: OnProgress | None,
        cancelled: threading.Event,
    ) -> None:
        self._started = time.monotonic()
        self._plan = plan
        self._files = files
        self._output = output
        self._options = options
        self._folder = folder
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._shape = ResultShape.of(plan)
        self._engine = Engine(plan)
        self._replay = Replay(folder, plan, files)
        self._rejected = options.rejected or set_aside(output, folder, None, "rejected")
        self._late = set_aside(output, folder, options.rejected, "late")
        self._batches = self._results = self._edges = 0
        self._before: Mapping[int, Counters] = {}
        self._counters: Mapping[int, Counters] = {}

    def to_end(self) -> RunReport:
        """Reads, runs and publishes."""
        options = self._options
        rate = None if options.speed is None else ReplayRate.of(options.speed, options.interval)
        interval = options.interval if rate is None else rate.interval
        with _claimed(self._plan, self._output, self._folder):
            slices = self._slices(None if rate is None else rate.slice_length)
            sink = sink_of(self._output, self._shape, self._folder)
        streaming = time.monotonic()
        pause = None if interval is None else ticks(interval, "millisecond") / 1000
        try:
            with RejectedRows(self._late) as late:
                for number, (rows, is_last) in enumerate(_with_last(slices)):
                    self._wait_until(None if pause is None else streaming + number * pause)
                    self._process(rows, sink, is_last=is_last)
                    late.write(self._engine.late_documents())
                    self._show()
            sink.finish()
        finally:
            shutil.rmtree(sink.spec.staging, ignore_errors=True)
        return self._report(time.monotonic() - streaming)

    def stopped(self) -> CancelledError:
        """The error of a run that was stopped."""
        done = f"Stopped after {self._batches} batches and {self._results} results."
        return CancelledError(done, _NOT_RESUMED)

    def _slices(self, slice_length: int | None) -> Iterator[pa.Table]:
        """Reads and sorts the files; returns the slices."""
        described = fingerprint(self._files)
        with RejectedRows(self._rejected) as aside:
            slices = self._replay.slices(
                aside,
                self._options.largest_slice,
                slice_length,
                strict=self._options.strict,
                on_read=self._on_read,
            )
            first = next(slices, None)
            check_unchanged(described, self._files)
        return iter(()) if first is None else chain([first], slices)

    def _process(self, rows: pa.Table, sink: Sink, *, is_last: bool) -> None:
        """Runs a slice and publishes its results."""
        blocks = self._engine.results(rows)
        if is_last:
            blocks = chain(blocks, self._engine.end())
        with PartWriter(sink.spec, partition=0) as writer:
            for block in blocks:
                writer.write(self._unless_cancelled(block))
            part = writer.close()
        if part is not None:
            sink.deliver(self._batches, [part])
            self._results += part.rows
        self._batches += 1
        self._edges += rows.num_rows - rows["label"].null_count
        self._before, self._counters = self._counters, self._engine.run.counters

    def _unless_cancelled(self, block: pa.RecordBatch) -> pa.RecordBatch:
        if self._cancelled.is_set():
            raise self.stopped()
        return block

    def _wait_until(self, due: float | None) -> None:
        """Waits for the time of the next slice, by the monotonic clock."""
        pause = 0.0 if due is None else max(0.0, due - time.monotonic())
        if self._cancelled.wait(pause):
            raise self.stopped()

    def _on_read(self, done: int, total: int) -> None:
        if self._cancelled.is_set():
            raise self.stopped()
        if self._on_progress is not None and done < total:
            self._on_progress(Progress("reading", done / total))

    def _show(self) -> None:
        if self._on_progress is None:
            return
        self._on_progress(
            Progress(
                "running",
                self._edges / max(1, self._replay.relevant),
                batch=self._batches,
                edges=self._edges,
                results=self._results,
                late=self._engine.late,
                rejected=self._replay.rejected,
                now=self._engine.latest,
                ticks=self._engine.ticks,
                operators=self._counters,
                seconds=time.monotonic() - self._started,
            )
        )

    def _report(self, streaming: float) -> RunReport:
        replay, counters = self._replay, self._counters
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        kept = not self._rejected.is_relative_to(self._folder)
        return RunReport(
            edges=replay.edges,
            relevant=replay.relevant,
            rejected=replay.rejected,
            results=self._results,
            processed=self._edges,
            found=self._results,
            batches=self._batches,
            seconds=time.monotonic() - self._started,
            stream_seconds=streaming,
            late=self._engine.late,
            late_by_stream=dict(sorted(self._engine.late_by_stream.items())),
            worker_peak_bytes=peak if sys.platform == "darwin" else peak * 1024,
            rejected_file=str(self._rejected) if kept and self._rejected.exists() else None,
            late_file=str(self._late) if kept and self._late.exists() else None,
            ticks=self._engine.ticks,
            operators=counters,
            last_batch={
                node: done.since(self._before.get(node, Counters()))
                for node, done in counters.items()
            },
        )


class Engine:
    """A `LocalRun` over slices of a replay.

    Attributes:
        run: the run of the plan.
        late: the number of late edges.
        late_by_stream: the number of late edges of each stream that has any.
        latest: the largest ts of an edge of a stream; None before the first one.
        ticks: application time from the first edge of a stream to the last.
    """

    def __init__(self, plan: PhysicalPlan) -> None:
        """Builds the operators of a plan; raises `PlanError` if it cannot be run."""
        self.run = LocalRun(plan)
        self._names = column_names(plan.columns)
        self._in_disorder = in_disorder(plan)
        inputs = scan_inputs(plan)
        self._streams = tuple(s for s in plan.streams if s.name in {i.scan.stream for i in inputs})
        self._stored = {scan.stream for _, scan in plan.scans if scan.range is None}
        self._properties = properties_of(inputs)
        self._carried = [name for name, _ in carried(inputs)]
        self.late = 0
        self.late_by_stream: dict[str, int] = {}
        self._first: int | None = None
        self.latest: int | None = None

    @property
    def ticks(self) -> int:
        """Application time from the first edge of a stream to the last."""
        return 0 if self.latest is None or self._first is None else self.latest - self._first + 1

    def results(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yields the results of a slice; read each block before the next one."""
        if self._in_disorder:
            yield from self._blocks(self.run.take(self._by_stream(rows)))
            return
        for chunk in chunks(rows.num_rows):
            own = rows.slice(chunk.start, chunk.rows)
            batch = self.run.push(self._by_stream(own))
            chunk.results = len(batch)
            yield from self._blocks(batch)

    def end(self) -> Iterator[pa.RecordBatch]:
        """Yields the results that the end of the input releases."""
        yield from self._blocks(self.run.end())

    def late_documents(self) -> list[dict[str, Any]]:
        """Takes the late edges since the last call, as documents for the file of late edges."""
        late, self.run.late = self.run.late, []
        self.late += len(late)
        for edge in late:
            self.late_by_stream[edge.stream] = self.late_by_stream.get(edge.stream, 0) + 1
        return list(map(self._late_document, late))

    def _late_document(self, late: LateEdge) -> dict[str, Any]:
        row = {name: late.edge[name] for name in ("src", "trg", "label", "ts")}
        for name in self._carried:
            value = late.edge.get(name)
            if name not in row and value is not None:
                row[name.removeprefix(".")] = value
        reason = f"late: the watermark was {late.watermark}"
        return {"stream": late.stream, "row": row, "reason": reason}

    def _blocks(self, batch: Batch) -> Iterator[pa.RecordBatch]:
        for piece in without_repeated_ends(batch).pieces(BLOCK_ROWS):
            yield decoded(piece, self.run.dictionary, self._names)

    def _by_stream(self, rows: pa.Table) -> list[pa.RecordBatch]:
        """Splits the rows of a slice by stream, with the columns and types of the stream."""
        names = rows["stream"].cast(pa.string())
        batches = []
        for stream in self._streams:
            own = rows.filter(pc.equal(names, pa.scalar(stream.name)))
            if not own.num_rows:
                continue
            if stream.name not in self._stored:
                self._note_times(own)
            batches += self._typed(own, stream).combine_chunks().to_batches()
        return batches

    def _typed(self, rows: pa.Table, stream: PlanStream) -> pa.Table:
        vertex = ARROW_TYPES[stream.vertex_type]
        columns: dict[str, Any] = {name: rows[name].cast(vertex) for name in ("src", "trg")}
        columns |= {name: rows[name].cast(pa.string()) for name in ("label", "stream")}
        columns["ts"] = rows["ts"]
        for (name, kind), column in self._properties.items():
            if (name, kind) == DELETES:
                columns[name] = rows[column]
            elif stream.properties.get(name) == kind:
                columns[property_column(name)] = rows[column]
        return pa.table(columns)

    def _note_times(self, rows: pa.Table) -> None:
        """Notes the first and the last ts of rows that are edges, not ends of a stream."""
        ts = rows["ts"].to_numpy()
        ts = ts[ts < FOREVER]
        if len(ts):
            first, last = int(np.min(ts)), int(np.max(ts))
            self._first = first if self._first is None else min(first, self._first)
            self.latest = last if self.latest is None else max(last, self.latest)


@contextmanager
def _claimed(plan: PhysicalPlan, output: Output, folder: Path) -> Iterator[None]:
    """Claims the output; an error inside the block leaves an output folder as it was."""
    check_output(output, None, folder)
    if not isinstance(output, ToFolder):
        yield
        return
    existed = output.path.exists()
    claim(output.path, uuid.uuid4().hex, plan.digest)
    try:
        yield
    except (ExecutionError, KeyboardInterrupt):
        shutil.rmtree(output.path / NOTE if existed else output.path, ignore_errors=True)
        raise


def _with_last(tables: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, bool]]:
    """Yields each slice with whether it is the last one."""
    current = next(tables, None)
    while current is not None:
        following = next(tables, None)
        yield current, following is None
        current = following

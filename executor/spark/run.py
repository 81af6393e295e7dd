"""Runs a plan over finite inputs on Spark, from the files to the results.

The steps: look whether checkpoint and output may be used, spool the input while Spark
starts, then stream the spool through the plan's stage, a slice per micro-batch, and publish
each batch's results when it is done. Killed at any moment, the same call goes on where the
last finished batch ended.
"""

from __future__ import annotations

import re
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from algebra.plan import PhysicalPlan
from executor.checking import check_document
from executor.spark.batches import Batches
from executor.spark.checkpoint import NOTE, Pin, Work, open_work
from executor.spark.errors import (
    BudgetError,
    CancelledError,
    ExecutionError,
    SparkFailedError,
)
from executor.spark.formats import ResultShape
from executor.spark.leaf_rows import Arrival
from executor.spark.pace import Pace
from executor.spark.reading import Reading
from executor.spark.replay import LARGEST_SLICE, Inputs, fingerprint, spool
from executor.spark.report import OnProgress, RunReport
from executor.spark.session import (
    SessionOptions,
    jvm_peak_bytes,
    running_session,
    spark_session,
)
from executor.spark.settings import location, readable, streaming_session
from executor.spark.sinks import Output, ToFile, ToFolder, ToFunction, ToStdout, sink_of
from executor.spark.stage import result_blocks
from executor.spark.workers import free_pool
from executor.watermarks import in_disorder

_POLL_SECONDS = 0.1
_LAST_BATCH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a plan is run.

    ``checkpoint``: the folder to take the run up from, or to keep it in; without one the
    run can be taken up only where its output is a folder or a file. ``rejected``: the file
    for rows that are no edges (default: beside the results). ``interval``: at most one
    micro-batch in so much time, such as ``"10 seconds"``; without one as fast as it goes.
    ``speed`` replays files at so many time units of the stream per second of the clock: a
    micro-batch per ``interval`` (one second unless said) takes what the stream has in that time,
    and spans in which it has nothing are left out. Of ``session`` the number of partitions is the
    plan's.
    """

    checkpoint: Path | None = None
    rejected: Path | None = None
    strict: bool = False
    interval: str | None = None
    speed: float | None = None
    largest_slice: int = LARGEST_SLICE
    session: SessionOptions = field(default_factory=SessionOptions)


def run(
    plan: PhysicalPlan,
    inputs: Inputs,
    output: Output,
    options: RunOptions | None = None,
    *,
    spark: SparkSession | None = None,
    on_progress: OnProgress | None = None,
    cancelled: threading.Event | None = None,
) -> RunReport:
    """Runs a plan over files to their end.

    Several may run at once in one session, from several threads.

    Args:
        plan: what to run.
        inputs: for each stream that the plan reads its files; all are merged by time, or
            as :func:`executor.spark.replay.spool` says where a stream has a delay.
        output: where the results go.
        options: how.
        spark: a session to run in; by default the one that runs in this process, or else
            one that is started and stopped here.
        on_progress: called now and then, not always from the calling thread.
        cancelled: set by any thread, it stops the run as Ctrl-C does.

    Raises:
        PlanError: if the plan cannot be run.
        ExecutionError: if something else is in the way; the message says what to do.
        CancelledError: on Ctrl-C or ``cancelled``, when all has been stopped.
    """
    options = options or RunOptions()
    cancelled = cancelled or threading.Event()
    started = time.monotonic()
    check_document(plan)
    shape = ResultShape.of(plan)
    fingerprint(inputs)
    pace = None if options.speed is None else Pace.of(options.speed, options.interval)
    if cancelled.is_set():
        raise CancelledError("Stopped before it began.")
    with ExitStack() as stack:
        pin = Pin(plan, _described(output), plan.parallelism)
        work = open_work(pin, output, options.checkpoint)
        stack.callback(work.close)
        if work.report is not None:
            # All was done before; of this run there is nothing to tell.
            return replace(
                RunReport.from_document(work.report),
                processed=0,
                found=0,
                batches=0,
                seconds=time.monotonic() - started,
                stream_seconds=0.0,
                resumed=True,
            )
        rejected = options.rejected or _aside(output, work, None, "rejected")
        spooling = partial(
            spool,
            work.input,
            plan,
            inputs,
            rejected,
            strict=options.strict,
            largest_slice=options.largest_slice,
            span=None if pace is None else pace.span,
        )
        reading = stack.enter_context(Reading(work, spooling, on_progress, cancelled))
        spark = spark or running_session()
        if spark is None:
            session = replace(options.session, partitions=plan.parallelism)
            spark = stack.enter_context(spark_session(session, held=[work.lock]))
        spooled = reading.result()
        batches = Batches(work, spooled, sink_of(output, shape, work.folder), on_progress)
        streaming = time.monotonic()
        interval = options.interval if pace is None else pace.interval
        _stream(spark, plan, batches, interval, cancelled)
        batches.sink.finish()
        late = _aside(output, work, options.rejected, "late")
        report = RunReport(
            edges=spooled.edges,
            relevant=spooled.relevant,
            rejected=spooled.rejected,
            results=batches.counted.results,
            processed=batches.processed,
            found=batches.found,
            batches=batches.batches,
            seconds=time.monotonic() - started,
            stream_seconds=time.monotonic() - streaming,
            resumed=not work.fresh,
            late=sum(batches.counted.late.values()),
            late_by_stream=dict(batches.counted.late),
            late_file=str(late) if batches.late.gathered(late) else None,
            rebuilt=batches.counted.rebuilt,
            jvm_peak_bytes=jvm_peak_bytes(spark),
            worker_peak_bytes=batches.counted.worker_peak_bytes,
            rejected_file=str(rejected) if rejected.exists() else None,
            ticks=batches.counted.ticks,
            operators=batches.counted.operators,
            last_batch=batches.last_batch,
        )
        work.complete(report.document())
        return report


def _stream(
    spark: SparkSession,
    plan: PhysicalPlan,
    batches: Batches,
    interval: str | None,
    cancelled: threading.Event,
) -> None:
    """Streams the spool through the plan until all of it is done."""
    if not batches.spool.slice_ends:
        return
    try:
        with free_pool() as workers:
            _wait(_started(spark, plan, batches, interval, workers), batches, cancelled)
    except (PySparkException, Py4JError, ConnectionError) as error:
        if error is batches.error:
            raise  # not Spark's: whoever reads the results has gone
        # A batch whose JVM died must not find its session stopped, nor log when nobody is quiet.
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
        raise _failure(error) from error


def _started(
    spark: SparkSession, plan: PhysicalPlan, batches: Batches, interval: str | None, workers: str
) -> StreamingQuery:
    edges = (
        streaming_session(spark, plan.parallelism)
        .readStream.schema(batches.spool.ddl)
        .option("maxFilesPerTrigger", 1)
        .parquet(readable(batches.spool.folder))
    )
    writer = (
        result_blocks(edges, plan, workers, _arrival(plan))
        .writeStream.foreachBatch(batches)
        .option("checkpointLocation", location(batches.work.spark))
    )
    if interval is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=interval)
    return writer.start()


def _arrival(plan: PhysicalPlan) -> Arrival:
    return "replayed" if in_disorder(plan) else "in order"


def _described(output: Output) -> str:
    """What a checkpoint remembers of an output."""
    match output:
        case ToFolder(path, file_format) | ToFile(path, file_format):
            return f"{path.absolute()} ({file_format})"
        case ToStdout(file_format):
            return f"- ({file_format})"
        case ToFunction():
            return "a function"


def _aside(output: Output, work: Work, rejected: Path | None, what: str) -> Path:
    """Where rows that are set aside go: beside the results, or beside the file that somebody
    chose for rows that are no edges."""
    match output:
        case _ if rejected is not None:
            return rejected.with_name(f"{rejected.name}.{what}.jsonl")
        case ToFolder(path):
            return path / NOTE / f"{what}.jsonl"
        case ToFile(path):
            return path.with_name(f"{path.name}.{what}.jsonl")
        case _:
            return work.folder / f"{what}.jsonl"


def _wait(query: StreamingQuery, batches: Batches, cancelled: threading.Event) -> None:
    """Waits for the end of a query where Ctrl-C is heard, not in a call of the JVM."""
    ended = threading.Event()
    failures: list[Exception] = []

    def watch() -> None:
        try:
            query.awaitTermination()
        except (PySparkException, Py4JError, OSError) as error:
            failures.append(error)
        finally:
            ended.set()

    threading.Thread(target=watch, daemon=True, name="headrace-watch").start()
    try:
        while not ended.wait(_POLL_SECONDS):
            if batches.finished:
                query.stop()  # only a query with an interval would wait for more
            elif cancelled.is_set():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        with suppress(PySparkException, Py4JError, OSError):
            query.stop()
        batches.wait_until_idle(_LAST_BATCH_SECONDS)
        raise CancelledError(
            f"Stopped after {batches.batches} batches and {batches.found} results.",
            "The same command goes on from there.",
        ) from None
    if batches.error is not None:
        raise batches.error
    if failures:
        raise _failure(failures[0]) from failures[0]


_OVER_BUDGET = re.compile(r"StepBudgetError: (.*?\.) (.*)")


def _failure(error: Exception) -> ExecutionError:
    over = _OVER_BUDGET.search(str(error))
    if over is not None:
        return BudgetError(*over.groups())
    if isinstance(error, PySparkException):
        what = f"The query failed in Spark: {_reason(str(error))}"
    else:
        what = f"Spark's Java process ended unexpectedly ({error})."
    return SparkFailedError(
        what, "Run with --debug to see all that Spark says; the same command goes on from there."
    )


def _reason(text: str) -> str:
    """The line of Spark's message that says most: a Python worker's error, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        name, separator, _ = line.partition(": ")
        if separator and name.isidentifier() and name.endswith(("Error", "Exception")):
            return line
    return lines[0] if lines else text

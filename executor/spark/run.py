"""Runs a plan over finite inputs on Spark, from the files to the results.

The steps: look whether checkpoint and output may be used, spool the input while Spark
starts, then stream the spool through the plan's stage, a slice per micro-batch, and publish
each batch's results when it is done. Killed at any moment, the same call goes on where the
last finished batch ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from ...algebra.plan import PhysicalPlan
from ...catalog.edges import EdgeFile
from ...catalog.live import LiveSource
from ..checking import check_document
from ..watermarks import in_disorder
from .batches import Batches
from .checkpoint import Pin, open_work
from .host.errors import CancelledError
from .live import run_live
from .query import RunOptions, complete, described, failures_told, set_aside
from .reading.fingerprint import fingerprint
from .reading.rate import Pace
from .reading.replay import Spool, spool
from .reading.scan_rows import Arrival
from .report import OnProgress, RunReport
from .results.formats import ResultShape
from .results.sinks import Output, sink_of
from .session.session import jvm_peak_bytes, running_session, spark_session
from .session.settings import readable, streaming_session
from .session.workers import free_pool
from .spooling import Reading
from .stage.dataflow import result_blocks

__all__ = ["RunOptions", "run"]


def run(
    plan: PhysicalPlan,
    inputs: Mapping[str, Sequence[EdgeFile] | LiveSource],
    output: Output,
    options: RunOptions | None = None,
    *,
    spark: SparkSession | None = None,
    on_progress: OnProgress | None = None,
    cancelled: threading.Event | None = None,
) -> RunReport:
    """Runs a plan over files to their end, or over live sources until it is stopped.

    Several may run at once in one session, from several threads.

    Args:
        plan: what to run.
        inputs: for each stream that the plan reads its files; all are merged by time, or
            as :func:`headrace.executor.spark.reading.replay.spool` says where a stream has a delay.
            Or its live source: then the run has no end
            (:func:`headrace.executor.spark.live.run_live`).
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
    files = {name: given for name, given in inputs.items() if not isinstance(given, LiveSource)}
    live = {name: given for name, given in inputs.items() if isinstance(given, LiveSource)}
    if live:
        run_live(
            plan,
            live,
            files,
            output,
            options,
            spark=spark,
            on_progress=on_progress,
            cancelled=cancelled,
        )
    shape = ResultShape.of(plan)
    fingerprint(files)
    pace = None if options.speed is None else Pace.of(options.speed, options.interval)
    if cancelled.is_set():
        raise CancelledError("Stopped before it began.")
    with ExitStack() as stack:
        pin = Pin(plan, described(output), plan.parallelism)
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
        rejected = options.rejected or set_aside(output, work, None, "rejected")
        spooling = partial(
            spool,
            work.input,
            plan,
            files,
            rejected,
            strict=options.strict,
            largest_slice=options.largest_slice,
            span=None if pace is None else pace.span,
            begun=work.batches.begun,
        )
        reading = stack.enter_context(Reading(work, spooling, on_progress, cancelled))
        spark = spark or running_session()
        if spark is None:
            start = replace(options.session, partitions=plan.parallelism)
            spark = stack.enter_context(spark_session(start, held=[work.lock]))
        spooled = reading.result()
        sink = sink_of(output, shape, work.folder)
        batches = Batches(work, sink, on_progress, spooled)
        streaming = time.monotonic()
        interval = options.interval if pace is None else pace.interval
        if spooled.slice_ends:
            with failures_told(batches), free_pool() as workers:
                session = streaming_session(spark, plan.parallelism)
                blocks = result_blocks(_edges(session, spooled), plan, workers, _arrival(plan))
                complete(blocks, batches, interval, cancelled)
        batches.sink.finish()
        late = set_aside(output, work, options.rejected, "late")
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


def _edges(spark: SparkSession, spooled: Spool) -> DataFrame:
    """The spool as a stream, a slice per micro-batch."""
    reader = spark.readStream.schema(spooled.ddl).option("maxFilesPerTrigger", 1)
    return reader.parquet(readable(spooled.folder))


def _arrival(plan: PhysicalPlan) -> Arrival:
    return "replayed" if in_disorder(plan) else "in order"

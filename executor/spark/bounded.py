"""Runs a plan over files on Spark, from the files to the results.

The steps: check that checkpoint and output may be used, spool the input while Spark starts, stream
the spool through the plan's stages, a slice per micro-batch, and publish the results of each batch
when it is done. Killed at any moment, the same call resumes where the last finished batch ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from ...algebra.plan import PhysicalPlan
from ...catalog.edges import EdgeFile
from .batches import Batches
from .checkpoint import CheckpointDirectory, Manifest, open_checkpoint
from .host.errors import CancelledError
from .options import RunOptions
from .query import described, run_query, stopped, translate_spark_errors
from .reading.fingerprint import fingerprint
from .reading.rate import ReplayRate
from .reading.replay import Spool, spool
from .reading.slice_rows import packed_slices
from .report import OnProgress, RunReport
from .results.delivery import sink_of
from .results.formats import ResultShape
from .results.sinks import Output, ToKafka, packages_of_outputs, set_aside
from .session.cluster import check_cluster
from .session.packages import with_packages
from .session.session import jvm_peak_bytes, running_session, spark_session
from .session.settings import streaming_session
from .session.workers import free_pool, own_workers
from .spooling import Reading
from .stage.dataflow import result_blocks


def run_bounded(
    plan: PhysicalPlan,
    files: Mapping[str, Sequence[EdgeFile]],
    output: Output,
    options: RunOptions,
    *,
    spark: SparkSession | None,
    on_progress: OnProgress | None,
    cancelled: threading.Event,
) -> RunReport:
    """Runs a plan over the ``files`` of each stream to their end.

    The other arguments and the errors are those of :func:`headrace.executor.spark.run.run`.
    """
    started = time.monotonic()
    shape = ResultShape.of(plan)
    fingerprint(files)
    rate = None if options.speed is None else ReplayRate.of(options.speed, options.interval)
    if cancelled.is_set():
        raise CancelledError("Stopped before it began.")
    with ExitStack() as stack:
        manifest = Manifest(plan, described(output, options.also), plan.parallelism)
        checkpoint = open_checkpoint(manifest, output, options.checkpoint)
        stack.callback(checkpoint.close)
        if checkpoint.report is not None:
            return _report_of_earlier_run(checkpoint.report, time.monotonic() - started)
        rejected = options.rejected or set_aside(output, checkpoint.folder, None, "rejected")
        spooling = partial(
            spool,
            checkpoint.input,
            plan,
            files,
            rejected,
            strict=options.strict,
            largest_slice=options.largest_slice,
            slice_length=None if rate is None else rate.slice_length,
            begun=checkpoint.batches.begun,
        )
        reading = stack.enter_context(Reading(checkpoint, spooling, on_progress, cancelled))
        spark = spark or running_session()
        if spark is None:
            start = with_packages(
                options.session,
                plan.parallelism,
                kafka=ToKafka in (type(output), type(options.also)),
                others=packages_of_outputs(output, options.also),
            )
            spark = stack.enter_context(spark_session(start, held=[checkpoint.lock]))
        check_cluster(spark.sparkContext, checkpoint.folder)
        spooled = reading.result()
        sink = sink_of(output, shape, checkpoint.folder, spark, options.also)
        stack.callback(sink.close)
        batches = Batches(checkpoint, sink, on_progress, spooled)
        streaming = time.monotonic()
        interval = options.interval if rate is None else rate.interval
        if spooled.slice_ends:
            with translate_spark_errors(batches), free_pool() as workers:
                session = streaming_session(spark, plan.parallelism)
                with own_workers(session, None):
                    messages = packed_slices(session, spooled.folder, plan)
                blocks = result_blocks(messages, plan, workers, parts=batches.sink.spec)
                if not run_query(blocks, batches, interval, cancelled):
                    raise stopped(batches)
        batches.sink.finish()
        late = set_aside(output, checkpoint.folder, options.rejected, "late")
        report = replace(
            _report(spooled, batches, checkpoint, rejected, late),
            seconds=time.monotonic() - started,
            stream_seconds=time.monotonic() - streaming,
            jvm_peak_bytes=jvm_peak_bytes(spark),
        )
        checkpoint.complete(report.document())
        return report


def _report_of_earlier_run(document: Mapping[str, object], seconds: float) -> RunReport:
    """The report of a run that had ended before: this one did nothing."""
    return replace(
        RunReport.from_document(document),
        processed=0,
        found=0,
        batches=0,
        seconds=seconds,
        stream_seconds=0.0,
        resumed=True,
    )


def _report(
    spooled: Spool, batches: Batches, checkpoint: CheckpointDirectory, rejected: Path, late: Path
) -> RunReport:
    """The report of a run but for its times; collects late edges in the file ``late``."""
    counted = batches.metrics
    return RunReport(
        edges=spooled.edges,
        relevant=spooled.relevant,
        rejected=spooled.rejected,
        results=counted.results,
        processed=batches.processed,
        found=batches.found,
        batches=batches.batches,
        seconds=0.0,
        stream_seconds=0.0,
        resumed=not checkpoint.fresh,
        late=sum(counted.late.values()),
        late_by_stream=dict(counted.late),
        late_file=str(late) if batches.late.gathered(late) else None,
        rebuilt=counted.rebuilt,
        worker_peak_bytes=counted.worker_peak_bytes,
        rejected_file=str(rejected) if rejected.exists() else None,
        ticks=counted.ticks,
        operators=counted.operators,
        last_batch=batches.last_batch,
    )

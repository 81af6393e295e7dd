"""Runs a plan on Spark: over files to their end, or over live sources until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from ...algebra.plan import PhysicalPlan
from ...catalog.edges import EdgeFile
from ...catalog.live import LiveSource
from ..checking import check_document
from .bounded import run_bounded
from .live import run_live
from .options import RunOptions
from .report import OnProgress, RunReport
from .results.sinks import Output

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
    """Runs a plan: :func:`headrace.executor.spark.live.run_live` where an input is a live source,
    :func:`headrace.executor.spark.bounded.run_bounded` where all are files.

    Several plans may run at once in one session, from several threads.

    Args:
        plan: what to run.
        inputs: the files of each stream that the plan reads, or its live source. Files are merged
            by time, or as :func:`headrace.executor.spark.reading.replay.spool` says where a stream
            has a delay.
        output: where the results go.
        options: how.
        spark: a session to run in; by default the one that runs in this process, or else one that
            is started and stopped here.
        on_progress: called now and then, not always from the calling thread.
        cancelled: set by any thread, it stops the run as Ctrl-C does.

    Raises:
        PlanError: if the plan cannot be run.
        ExecutionError: if something else is in the way; the message says what to do.
        CancelledError: on Ctrl-C or ``cancelled``, when all has been stopped.
    """
    options = options or RunOptions()
    cancelled = cancelled or threading.Event()
    check_document(plan)
    files = {name: source for name, source in inputs.items() if not isinstance(source, LiveSource)}
    live = {name: source for name, source in inputs.items() if isinstance(source, LiveSource)}
    if not live:
        return run_bounded(
            plan,
            files,
            output,
            options,
            spark=spark,
            on_progress=on_progress,
            cancelled=cancelled,
        )
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

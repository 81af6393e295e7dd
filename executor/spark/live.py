"""Runs a plan over live sources, which are unbounded, until it is stopped.

Unlike a run over files (:mod:`headrace.executor.spark.bounded`), a live run spools nothing: Spark
reads the sources and logs their offsets in its checkpoint. Edges wait for the watermark as in
:func:`headrace.executor.spark.stream.stream`. Late edges, and rows that are not edges, are appended
to files batch by batch.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from pyspark.sql import DataFrame, SparkSession

from ...algebra.plan import PhysicalPlan
from ...algebra.remedy import Remedy
from ...catalog.edges import EdgeFile
from ...catalog.live import LiveSource
from .batches import Batches
from .checkpoint import Manifest, open_checkpoint
from .host.errors import CancelledError, ChangedInputError, ExecutionError, InputError, OutputError
from .options import RunOptions
from .query import described, run_query, stopped, translate_spark_errors
from .reading.sources import (
    Aside,
    StoredGraph,
    live_rows,
    packed_sources,
    stored_rows,
)
from .report import OnProgress, Progress
from .results.dead_letters import DeadLetters, Growing
from .results.delivery import sink_of
from .results.formats import ResultShape
from .results.sinks import Output, ToFile, ToKafka, packages_of_outputs, set_aside
from .session.cluster import check_cluster
from .session.packages import with_packages
from .session.session import running_session, spark_session
from .session.settings import streaming_session
from .session.workers import free_pool, own_workers
from .stage.dataflow import result_blocks
from .stream import inputs_read


def run_live(
    plan: PhysicalPlan,
    sources: Mapping[str, LiveSource],
    stored: Mapping[str, Sequence[EdgeFile]],
    output: Output,
    options: RunOptions,
    *,
    spark: SparkSession | None,
    on_progress: OnProgress | None,
    cancelled: threading.Event,
) -> NoReturn:
    """Runs a plan over ``sources``, and the ``stored`` graphs beside them, until it is stopped.

    A micro-batch takes what has arrived since the one before; ``options.interval`` is the least
    time between two. The other arguments are those of :func:`headrace.executor.spark.run.run`.

    Raises:
        PlanError: if the plan cannot be run.
        ExecutionError: if something else is in the way; the message says what to do.
        CancelledError: on Ctrl-C or ``cancelled``, when all has been stopped.
    """
    _check(plan, sources, stored, output, options)
    shape = ResultShape.of(plan)
    stored_graphs = [StoredGraph.of(*each) for each in sorted(stored.items())]
    manifest = Manifest(
        plan,
        described(output, options.also),
        plan.parallelism,
        _sources_document(sources, stored_graphs),
    )
    if cancelled.is_set():
        raise CancelledError("Stopped before it began.")
    with ExitStack() as stack:
        checkpoint = open_checkpoint(manifest, output, options.checkpoint)
        stack.callback(checkpoint.close)
        letters = DeadLetters(
            Growing(
                set_aside(output, checkpoint.folder, options.rejected, "late"),
                checkpoint.late,
                options.most_set_aside,
            ),
            Growing(
                options.rejected or set_aside(output, checkpoint.folder, None, "rejected"),
                checkpoint.folder / "rejected",
                options.most_set_aside,
            ),
        )
        spark = spark or running_session()
        if spark is None:
            if on_progress is not None:
                on_progress(Progress("starting", None))
            session = with_packages(
                options.session,
                plan.parallelism,
                kafka=_uses_kafka(sources, output, options.also),
                others=packages_of_outputs(output, options.also),
            )
            spark = stack.enter_context(spark_session(session, held=[checkpoint.lock]))
        check_cluster(spark.sparkContext, checkpoint.folder)
        own = streaming_session(spark, plan.parallelism)
        try:
            messages, graphs = _messages(
                own, plan, sources, stored_graphs, checkpoint.folder, strict=options.strict
            )
        except ExecutionError:
            if checkpoint.fresh:
                checkpoint.discard()  # nothing was done: leave nothing behind
            raise
        sink = sink_of(output, shape, checkpoint.folder, own, options.also)
        stack.callback(sink.close)
        batches = Batches(checkpoint, sink, on_progress, None, letters)
        try:
            with translate_spark_errors(batches), free_pool() as workers:
                blocks = result_blocks(messages, plan, workers, graphs, parts=batches.sink.spec)
                ended = run_query(blocks, batches, options.interval, cancelled)
        except ChangedInputError:
            if checkpoint.fresh and not batches.batches:
                checkpoint.discard()  # so that the same command starts over
            raise
        if not ended:
            raise stopped(batches)
        raise CancelledError("The query was stopped in Spark.", "The same call goes on from there.")


def _messages(
    spark: SparkSession,
    plan: PhysicalPlan,
    sources: Mapping[str, LiveSource],
    stored: Sequence[StoredGraph],
    folder: Path,
    *,
    strict: bool,
) -> tuple[DataFrame, DataFrame | None]:
    """Messages to the first stage: of all streams, and of all stored graphs if there are any.

    ``folder`` is the checkpoint's.
    """
    names = sorted({*sources, *(graph.name for graph in stored)})
    streams, _ = inputs_read(plan)

    def aside(name: str) -> Aside:
        return Aside(str(folder / "rejected"), name, str(names.index(name)), strict)

    with own_workers(spark, None):
        live = [rows for n in streams for rows in live_rows(spark, sources[n], plan, aside(n))]
        graphs = [stored_rows(spark, graph, plan, aside(graph.name)) for graph in stored]
        messages = packed_sources(live, plan, "live")
        return messages, packed_sources(graphs, plan, "stored") if graphs else None


def _check(
    plan: PhysicalPlan,
    sources: Mapping[str, LiveSource],
    stored: Mapping[str, Sequence[EdgeFile]],
    output: Output,
    options: RunOptions,
) -> None:
    """Raises an error unless the plan, its sources and the output fit together."""
    graphs = {scan.stream for _, scan in plan.scans if scan.range is None}
    ending = sorted(name for name in stored if name not in graphs)
    if ending:
        raise InputError(
            f"The stream {ending[0]!r} is of files that are read to their end, and "
            f"{min(sources)!r} is unbounded.",
            "Put its files into a folder that is followed (follow: true in the catalog).",
        )
    missing = sorted({scan.stream for _, scan in plan.scans} - {*sources, *stored})
    if missing:
        raise InputError(f"The plan reads {missing[0]!r}, which has no source.")
    if isinstance(output, ToFile):
        raise OutputError(
            f"The output {output.path} is a single file, which needs a bounded input.",
            "",
            Remedy("output", "Give a folder for the results, or - for standard output"),
        )
    if options.speed is not None:
        raise InputError("Only files are replayed at a speed; a live source has its own.")


def _sources_document(
    sources: Mapping[str, LiveSource], stored: Sequence[StoredGraph]
) -> dict[str, Any]:
    """The sources in the manifest, without the addresses of brokers, which change."""
    document: dict[str, Any] = {"stored": [state for g in stored for state in g.states]}
    for name, live in sorted(sources.items()):
        source = live.source
        options = {k: v for k, v in source.options.items() if not k.startswith("kafka.")}
        expected = asdict(replace(live.expectation, properties=dict(live.expectation.properties)))
        document[name] = {
            "format": source.format,
            "path": [str(path) for path in source.path],
            "labels": dict(source.path_labels),
            "options": options,
            "follow": source.follow,
            "value": source.value,
            "fields": list(source.fields),
            **({"layout": source.layout} if source.of_graphs else {}),
            "columns": dict(live.columns),
            "expectation": expected,
        }
    found: dict[str, Any] = json.loads(json.dumps(document))
    return found


def _uses_kafka(sources: Mapping[str, LiveSource], *outputs: Output | None) -> bool:
    of_sources = any(live.source.format == "kafka" for live in sources.values())
    return of_sources or any(isinstance(output, ToKafka) for output in outputs)

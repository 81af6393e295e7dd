"""The stateful part of a plan: a chain of ``transformWithState`` operators, one per stage.

In: a streaming DataFrame of messages. Out: rows ``(kind, rows, payload)``: blocks of results
and reports (:mod:`headrace.executor.spark.exchange.blocks`). Groups are partitions. Spark's state
holds, per stage and partition, its metadata and the input that is still valid.

No time mode of Spark's is used: its watermarks drop rows silently, one of t = 0 at once.
"""

from __future__ import annotations

import uuid

from pyspark.sql import DataFrame

from ....algebra.plan import PhysicalPlan
from ...stages import stages_of
from ..exchange.blocks import BLOCKS
from ..exchange.packing import PACKED, PARTITION
from ..reading.scan_rows import packed_scan_input_rows
from ..results.parts import PartSpec
from ..session.workers import own_workers
from .processor import StageProcessor


def live_result_blocks(
    edges: DataFrame,
    plan: PhysicalPlan,
    workers: str,
    stored: DataFrame | None = None,
    *,
    parts: PartSpec | None = None,
) -> DataFrame:
    """The results of a plan over streaming edges (stream, label, src, trg, ts), packed.

    Edges wait for the watermark. ``stored`` are the edges of stored graphs, a static DataFrame of
    the same columns: the initial state of the query, read in its very first batch and never again.
    The other arguments and the errors are those of :func:`result_blocks`.
    """
    first = stages_of(plan)[0]
    initial = None
    with own_workers(edges.sparkSession, None):
        messages = packed_scan_input_rows(edges, plan, first, waits=True)
        if stored is not None:
            initial = packed_scan_input_rows(stored, plan, first, waits=False)
    return result_blocks(messages, plan, workers, initial, parts=parts)


def result_blocks(
    messages: DataFrame,
    plan: PhysicalPlan,
    workers: str,
    initial: DataFrame | None = None,
    *,
    parts: PartSpec | None = None,
) -> DataFrame:
    """The results of a plan over messages to its first stage, packed.

    ``workers`` names the pool of Python workers that the first stage has to itself; further ones
    have theirs. ``initial`` are messages too, the initial state of the query. With ``parts`` the
    last stage writes the results to files, and a row names each file.

    Raises:
        PlanError: if the plan asks for what the executor does not do, or may not do.
    """
    stages = stages_of(plan)
    run = uuid.uuid4().hex
    rows = messages
    for stage in stages:
        loads = initial is not None and stage.number == 0
        processor = StageProcessor(
            plan.to_json(),
            run,
            stage.number,
            loads=loads,
            parts=parts if stage is stages[-1] else None,
        )
        pool = f"{workers}-{stage.number}" if stage.number else workers
        with own_workers(messages.sparkSession, pool):
            rows = rows.groupBy(PARTITION).transformWithStateInPandas(
                processor,
                BLOCKS if stage is stages[-1] else PACKED,
                outputMode="Append",
                timeMode="None",
                initialState=initial.groupBy(PARTITION) if loads and initial is not None else None,
            )
    return rows

"""The stateful part of a plan: a chain of ``transformWithState`` operators, one per stage.

In: a streaming DataFrame of edges. Out: rows ``(kind, rows, payload)``: blocks of results
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
from ..reading.scan_rows import ArrivalOrder, packed_scan_input_rows
from ..session.workers import own_workers
from .processor import StageProcessor


def result_blocks(
    edges: DataFrame,
    plan: PhysicalPlan,
    workers: str,
    arrival: ArrivalOrder = "in order",
    stored: DataFrame | None = None,
) -> DataFrame:
    """The results of a plan over streaming edges (stream, label, src, trg, ts), packed.

    ``arrival`` is the order in which these come. ``workers`` names the pool of Python workers that
    the first stage has to itself; further ones have theirs. ``stored`` are the edges of stored
    graphs, a static DataFrame of the same columns, where they do not come first among ``edges``:
    the initial state of the query, read in its very first batch and never again.

    Raises:
        PlanError: if the plan asks for what the executor does not do, or may not do.
    """
    stages = stages_of(plan)
    run = uuid.uuid4().hex
    initial = None
    with own_workers(edges.sparkSession, None):
        rows = packed_scan_input_rows(edges, plan, stages[0], arrival)
        if stored is not None:
            initial = packed_scan_input_rows(stored, plan, stages[0], "in order").groupBy(PARTITION)
    for stage in stages:
        loads = initial is not None and stage.number == 0
        processor = StageProcessor(plan.to_json(), run, stage.number, loads=loads)
        pool = f"{workers}-{stage.number}" if stage.number else workers
        with own_workers(edges.sparkSession, pool):
            rows = rows.groupBy(PARTITION).transformWithStateInPandas(
                processor,
                BLOCKS if stage is stages[-1] else PACKED,
                outputMode="Append",
                timeMode="None",
                initialState=initial if loads else None,
            )
    return rows

"""The stateful part of a plan as one ``transformWithState`` operator of Spark.

In: a streaming DataFrame of edges. Out: rows ``(kind, rows, payload)``: blocks of results
and reports (:mod:`executor.spark.processor`). Groups are partitions. Spark's state holds,
per partition, a small head and the input that is still valid.

No time mode of Spark's is used: its watermarks drop rows silently, one of t = 0 at once.
"""

from __future__ import annotations

import uuid

from pyspark.sql import DataFrame

from algebra.plan import PhysicalPlan, PlanError
from executor.leaves import leaves
from executor.spark.leaf_rows import packed_leaf_rows
from executor.spark.packing import PARTITION
from executor.spark.processor import OUTPUT, Stage
from executor.spark.workers import own_workers


def result_blocks(edges: DataFrame, plan: PhysicalPlan, workers: str) -> DataFrame:
    """The results of a plan over streaming edges (stream, label, src, trg, ts), packed.

    ``workers`` names the pool of Python workers that the stage has to itself.

    Raises:
        PlanError: if the plan asks for what the executor does not do, or may not do.
    """
    if plan.parallelism > 1:
        raise PlanError("plans for several partitions do not run on Spark yet: optimize for one")
    packed = packed_leaf_rows(edges, leaves(plan))
    stage = Stage(plan.to_json(), run=uuid.uuid4().hex)
    with own_workers(edges.sparkSession, workers):
        return packed.groupBy(PARTITION).transformWithStateInPandas(
            stage, OUTPUT, outputMode="Append", timeMode="None"
        )

"""A plan as a DataFrame on a user's session, with the user's sources and sinks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.algebra.physical import Exchange, ToKernel
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.batch import FOREVER
from headrace.executor.local import Result
from headrace.executor.scans import scan_inputs
from headrace.executor.spark.host.errors import ExecutionError, InputError
from headrace.executor.spark.stream import stream
from tests.executor.spark.plans import (
    PLUS,
    csv_file,
    expected,
    plan_of,
    random_edges,
    reach,
    scan,
    snapshots,
)

pytestmark = [pytest.mark.spark, pytest.mark.long]


def edges_in(spark: SparkSession, folder: Path) -> DataFrame:
    folder.mkdir(exist_ok=True)
    schema = "src int, trg int, label string, ts long"
    reader = spark.readStream.schema(schema).option("header", True)
    return reader.option("maxFilesPerTrigger", 1).csv(str(folder))


OWN_ROOTS = plan_of(
    (scan(), ()),
    (ToKernel(), (0,)),
    (Exchange("broadcast"), (1,)),
    (replace(PLUS, roots="own"), (2,)),
).model_copy(update={"parallelism": 2})


@pytest.mark.parametrize("plan", [reach(), OWN_ROOTS])
def test_results_reach_a_memory_sink(
    rocksdb: SparkSession, tmp_path: Path, plan: PhysicalPlan
) -> None:
    """The session has one shuffle partition, so the groups of the second plan meet in a task."""
    edges = random_edges(60)
    results = stream(rocksdb, plan, {"input": edges_in(rocksdb, tmp_path / "in")})
    assert results.dtypes == [("x", "string"), ("y", "string"), ("ts", "bigint"), ("exp", "bigint")]
    writer = results.writeStream.format("memory").queryName("found")
    query = writer.option("checkpointLocation", str(tmp_path / "ck")).start()
    try:
        for part in range(3):
            csv_file(tmp_path / "in" / f"{part}.csv", edges[part * 20 : part * 20 + 20])
            query.processAllAvailable()
        progress = query.recentProgress
    finally:
        query.stop()
    progress_metrics = [p.observedMetrics for p in progress if p.numInputRows]
    assert len(progress_metrics) == 3
    relevant = sum(1 for edge in edges if edge[2] == "a")

    def counted(name: str, field: str) -> int:
        return sum(each[name][field] for each in progress_metrics)

    root, (scan_input,) = f"headrace.{plan.root}", scan_inputs(plan)
    assert (
        counted("headrace", "edges")
        == relevant
        == counted(f"headrace.{scan_input.node}", "rows_out")
    )
    assert counted("headrace", "results") == rocksdb.table("found").count()
    assert counted(root, "rows_in") == relevant * plan.parallelism
    assert [each[root]["rows_out"] for each in progress_metrics] == [
        e["headrace"]["results"] for e in progress_metrics
    ]
    assert progress_metrics[-1]["headrace"]["now"] == edges[-1][3]
    assert (
        0
        < progress_metrics[-1][root]["state_bytes"]
        == progress_metrics[-1]["headrace"]["state_bytes"]
    )
    assert counted("headrace", "late") == counted("headrace", "rebuilt") == 0
    found = [
        Result((row.x, row.y), row.ts, FOREVER if row.exp is None else row.exp)
        for row in rocksdb.table("found").collect()
    ]
    assert snapshots(found) == snapshots(expected(reach(), edges))


def test_missing_streams_and_columns_are_reported(rocksdb: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stream 'input', which has no DataFrame"):
        stream(rocksdb, reach(), {})
    lacking = edges_in(rocksdb, tmp_path / "in").drop("ts")
    with pytest.raises(InputError, match="no column ts; it has src, trg, label"):
        stream(rocksdb, reach(), {"input": lacking})


def test_another_state_store_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="needs the state store RocksDB"):
        stream(spark, reach(), {"input": edges_in(spark, tmp_path / "in")})

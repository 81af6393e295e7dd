"""Plans for several partitions on real Spark give right results, after restarts too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Edge
from headrace.executor.spark.exchange.packing import partition_keys
from headrace.executor.spark.host.errors import CancelledError, OtherQueryError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.stages import stages_of
from tests.executor.plans import answer
from tests.executor.spark.inputs import inputs_of
from tests.executor.spark.plans import csv_file, random_edges
from tests.executor.spark.running import read_jsonl, results_of
from tests.executor.spreading import spread
from tests.executor.test_hypercube import PLAN as HYPERCUBE
from tests.executor.test_partitioned import HASH_JOIN, OWN_ROOTS, SHARED
from tests.executor.test_pipeline import snapshot
from tests.oracles.judgement import Line
from tests.oracles.query import Atom, Derived, Query, Rule, Source, Var
from tests.oracles.roots import Agg, First
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized
from tests.properties.running import judge
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.strategies.streams import long_stream

pytestmark = [pytest.mark.spark, pytest.mark.long]


def right(plan: PhysicalPlan, edges: list[Edge], folder: Path) -> None:
    found = read_jsonl(folder / "out")
    assert len(found) > 10
    for t in range(edges[-1][3] + 12):
        assert snapshot(found, t) == answer(plan, edges, t), f"at {t}"


def test_spark_hashes_each_partition_key_to_its_own_task(spark: SparkSession) -> None:
    for count in (1, 2, 7, 32):
        keys = partition_keys(count)
        frame = spark.createDataFrame([(key,) for key in keys], "key int")
        rows = frame.selectExpr("key", f"pmod(hash(key), {count}) AS task").collect()
        assert {row.key: row.task for row in rows} == dict(zip(keys, range(count), strict=True))


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(HASH_JOIN, id="join", marks=pytest.mark.soak),
        pytest.param(OWN_ROOTS, id="path"),
        pytest.param(SHARED, id="shared", marks=pytest.mark.soak),
        pytest.param(HYPERCUBE, id="hypercube"),
    ],
)
def test_a_stopped_run_over_partitions_continues(
    spark: SparkSession, tmp_path: Path, plan: PhysicalPlan
) -> None:
    edges = random_edges(90, seed=3)
    inputs = {"s": [csv_file(tmp_path / "in.csv", edges)]}
    output = ToFolder(tmp_path / "out")
    options = RunOptions(largest_slice=15)

    def stop(progress: Progress) -> None:
        if progress.batch == 3:
            raise CancelledError("No more of this.")

    with pytest.raises(CancelledError, match="No more of this"):
        run(plan, inputs, output, options, spark=spark, on_progress=stop)
    count = plan.parallelism
    more = {**plan.to_document(), "parallelism": count + 1, "digest": None}
    with pytest.raises(OtherQueryError, match=f"another parallelism: {count}, not {count + 1}"):
        run(PhysicalPlan.from_document(more), inputs, output, options, spark=spark)
    report = run(plan, inputs, output, options, spark=spark)
    assert report.resumed
    right(plan, edges, tmp_path)
    found = read_jsonl(tmp_path / "out")
    assert report.results == len(found)
    stages = stages_of(plan)
    operators = {i for stage in stages for i in stage.nodes}
    scan_inputs = {flow.source for flow in stages[0].inputs}
    ports = {flow.port for stage in stages for flow in stage.inputs}
    assert set(report.operators) == operators | scan_inputs | ports


def test_random_queries_over_partitions_equal_the_oracle(spark: SparkSession) -> None:
    @given(case=cases(), seed=st.integers(0, 999))
    @examples(3)
    def check(case: Case, seed: int) -> None:
        plan = spread(optimized(case).plan, 2, seed)
        with TemporaryDirectory() as folder:
            found, report = results_of(spark, plan, inputs_of(case, Path(folder), seed), 9)
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in found])
        assert report.results == len(found)

    check()


def test_first_rows_over_partitions_equal_the_oracle(spark: SparkSession) -> None:
    """The first rows of each partition, then those of all, which are joined on all partitions."""
    x, y, n = Var("x"), Var("y"), Var("n")
    busy = Rule(
        "Busy", ("x", "n"), (Atom("a", x, y),), (), (("n", Agg("count")),),
        first=First((("n", True),), 2),
    )  # fmt: skip
    rules = (busy, Rule("Answer", ("x", "y"), (Derived("Busy", (x, n)), Atom("b", x, y))))
    window = Source("s", 6, 2)
    query = Query(rules, (("a", window), ("b", window)))
    case = Case(query, long_stream(2, ("a", "b"), ("0", "1", "2", "3"), 60, 1.2))
    plan = optimized(case, replace(THOROUGH, parallelism=2)).plan
    assert sum(node.op == "TOP_K" for node in plan.nodes) == 2
    with TemporaryDirectory() as folder:
        found, report = results_of(spark, plan, inputs_of(case, Path(folder), 3), 9)
    judge(Truth(case.query, case.edges), plan, [Line(*result) for result in found])
    assert report.results == len(found) > 10

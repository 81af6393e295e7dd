"""Disordered rows wait for the watermark over partitions and restarts, also on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace import stream
from headrace.algebra.physical import MergeUnion
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.batch import FOREVER
from headrace.executor.local import Edge, Result
from headrace.executor.spark.reading.replay import spool
from headrace.executor.spark.results.sinks import ToFunction
from headrace.executor.spark.run import RunOptions, run
from tests.executor.disorder import Disorder, disorders, in_order
from tests.executor.plans import answer, plans
from tests.executor.spark.chain import Chain
from tests.executor.spark.plans import (
    csv_file,
    expected,
    plan_of,
    random_edges,
    reach,
    scan,
    snapshots,
)
from tests.executor.spark.running import results_in
from tests.executor.spark.test_replay import slices_of
from tests.executor.spark.test_stream import OWN_ROOTS, edges_in
from tests.executor.spreading import spread
from tests.executor.test_partitioned import TWO_LEVELS, WRITTEN
from tests.executor.test_pipeline import PATTERNS, snapshot, streams
from tests.strategies.amount import examples


def fed(plan: PhysicalPlan, disorder: Disorder, seed: int, hops: int) -> Chain:
    """Runs all batches and the end; after every ``hops`` batches in another worker."""
    chain = Chain(plan, seed, disorder=True)
    chain.another_worker(gone=True)
    for number, (batch, clock) in enumerate(zip(disorder.batches, disorder.clocks, strict=True)):
        if hops and number % hops == 0:
            chain.another_worker(gone=number % (2 * hops) == 0)
        chain.batch(batch, clock if disorder.idle_ms else None)
    if hops:
        chain.another_worker(gone=True)
    chain.end()
    return chain


def check(plan: PhysicalPlan, disorder: Disorder, chain: Chain) -> None:
    """Checks late edges against the definition, and the results without them."""
    late = disorder.late(plan)
    reported = [(*each["row"].values(), each["stream"]) for each in chain.late]
    assert sorted(reported) == sorted(late)
    counted = [sum(json.loads(report)["late"].values()) for report in chain.reports]
    assert sum(counted) == len(late)
    edges = in_order(disorder.edges, late)
    for t in range(max((edge[3] for edge in edges), default=-1) + 12):
        assert snapshot(chain.results, t) == answer(plan, edges, t), f"at {t}"


SEEDS = st.integers(0, 99)
HOPS = st.integers(0, 3)


@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"filtered"}))
def test_hand_written_plans_over_disordered_rows_equal_the_oracle(name: str) -> None:
    @given(disorder=disorders(streams(longest=60), beyond=True, idle=True), seed=SEEDS, hops=HOPS)
    @examples(5)
    def holds(disorder: Disorder, seed: int, hops: int) -> None:
        plan = disorder.plan(WRITTEN[name])
        note(plan.to_json())
        check(plan, disorder, fed(plan, disorder, seed, hops))

    holds()


@given(
    plan=plans(PATTERNS),
    disorder=disorders(streams()),
    partitions=st.integers(2, 3),
    seed=SEEDS,
    hops=HOPS,
)
@examples(30)
def test_random_plans_over_disordered_rows_equal_the_oracle(
    plan: PhysicalPlan, disorder: Disorder, partitions: int, seed: int, hops: int
) -> None:
    own = disorder.plan(spread(plan, partitions, seed))
    note(own.to_json())
    chain = fed(own, disorder, seed, hops)
    assert not chain.late
    check(own, disorder, chain)


def test_waiting_rows_for_later_stages_are_kept_until_due() -> None:
    delays = {"s": 10, "t": 0, "u": 0}
    plan = Disorder((), (), delays, {}).plan(TWO_LEVELS)
    chain = Chain(plan, disorder=True)
    edges: list[Edge] = [(f"v{i % 9}", f"v{i % 7}", "b", i % 10, "t") for i in range(60)]
    chain.another_worker(gone=True)
    chain.batch([*edges, ("v1", "v2", "a", 10, "s")])
    assert chain.ports_kept(0) == {0, 1}
    chain.another_worker(gone=True)
    chain.batch([("v1", "v2", "a", 19, "s")])
    assert chain.ports_kept(0) == {0}
    assert {report["now"] for report in map(json.loads, chain.reports)} == {9}


DELAY = 6


def delayed(plan: PhysicalPlan, delay: int = DELAY) -> PhysicalPlan:
    """A plan over one stream that may be out of order."""
    (stream,) = plan.streams
    return plan.model_copy(update={"streams": (stream.model_copy(update={"delay": delay}),)})


def shuffled(count: int, seed: int = 0) -> list[Edge]:
    """Edges out of order by at most the delay, apart from every twelfth."""
    random = Random(seed)
    places = {}
    for number, edge in enumerate(random_edges(count, seed, labels="aaab")):
        moved = 6 * DELAY if number % 12 == 3 else random.randint(0, DELAY)
        places[number] = (edge[3] + moved, edge)
    return [(*edge[:4], "input") for _, edge in sorted(places.values(), key=lambda p: p[0])]


def arrivals(files: list[list[Edge]], size: int) -> Disorder:
    """Micro-batches of files, merged by the largest ts that each has reached."""
    placed: list[tuple[int, int, Edge]] = []
    for number, file in enumerate(files):
        latest = 0
        for edge in file:
            latest = max(latest, edge[3])
            placed.append((latest, number, edge))
    edges = [edge for *_, edge in sorted(placed, key=lambda place: place[:2])]
    batches = [tuple(edges[i : i + size]) for i in range(0, len(edges), size)]
    return Disorder(tuple(batches), (0,) * len(batches), {}, {})


def test_files_are_merged_by_the_largest_ts_of_each(tmp_path: Path) -> None:
    edges = shuffled(60)
    dealt = [edges[0::2], edges[1::2]]
    files = [csv_file(tmp_path / f"{i}.csv", own) for i, own in enumerate(dealt)]
    plan = delayed(reach())
    made = spool(tmp_path / "in", plan, {"input": files}, tmp_path / "bad", largest_slice=7)
    slices = slices_of(made, ended=False)
    *rows, end = [row[1:5] for part in slices for row in part]
    expected_order = arrivals(dealt, 7).edges
    assert rows == [
        (label, x, y, ts) if label == "a" else (None, None, None, ts)
        for x, y, label, ts, *_ in expected_order
    ]
    assert end == (None, None, None, FOREVER)
    assert made.slice_ends[-1] == made.relevant == sum(edge[2] == "a" for edge in edges)


def test_a_stream_without_delay_is_sorted_beside_a_delayed_one(tmp_path: Path) -> None:
    plan = plan_of(
        (scan("a", stream="s"), ()),
        (scan("b", stream="t"), ()),
        (MergeUnion(), (0, 1)),
        vertex_types=(("s", "string"), ("t", "string")),
    )
    late, sorted_ = plan.streams
    plan = plan.model_copy(update={"streams": (late.model_copy(update={"delay": 9}), sorted_)})
    inputs = {
        "s": [csv_file(tmp_path / "s.csv", [("1", "2", "a", t) for t in (5, 3, 9)])],
        "t": [csv_file(tmp_path / "t.csv", [("1", "2", "b", t) for t in (7, 4, 6)])],
    }
    made = spool(tmp_path / "in", plan, inputs, tmp_path / "bad")
    (rows,) = slices_of(made, ended=False)
    assert [(row[0], row[4]) for row in rows] == [
        ("t", 4), ("s", 5), ("s", 3), ("t", 6), ("t", 7), ("t", FOREVER), ("s", 9), ("s", FOREVER),
    ]  # fmt: skip


@pytest.mark.spark
@pytest.mark.long
def test_spark_sorts_disordered_files(spark: SparkSession, tmp_path: Path) -> None:
    edges = shuffled(120)
    dealt = [edges[0::2], edges[1::2]]
    files = [csv_file(tmp_path / f"{i}.csv", own) for i, own in enumerate(dealt)]
    own = delayed(OWN_ROOTS)
    options = RunOptions(largest_slice=30, checkpoint=tmp_path / "ck")
    tables: list[pa.Table] = []
    output = ToFunction(lambda _, rows: tables.append(rows))
    report = run(own, {"input": files}, output, options, spark=spark)
    late = arrivals(dealt, 30).late(own)
    assert report.late == len(late) > 0
    assert report.late_by_stream == {"input": len(late)}
    assert report.late_file is not None
    reported = [json.loads(line) for line in Path(report.late_file).read_text().splitlines()]
    assert sorted((*each["row"].values(), each["stream"]) for each in reported) == sorted(late)
    found = [result for table in tables for result in results_in(table)]
    assert snapshots(found) == snapshots(expected(reach(), in_order(edges, late)))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.long
def test_waiting_rows_and_watermark_survive_a_restart(
    rocksdb: SparkSession, tmp_path: Path
) -> None:
    """The second start has the first one's waiting rows and watermark."""
    plan = delayed(OWN_ROOTS)
    edges = [*shuffled(90), ("0", "1", "b", 1_000, "input")]  # the last moves time on
    batches = tuple(tuple(edges[i : i + 30]) for i in (0, 30, 60, 90))
    folder, query = tmp_path / "in", None
    metrics: list[int] = []
    for number, batch in enumerate(batches):
        frame = edges_in(rocksdb, folder)
        csv_file(folder / f"{number}.csv", batch)
        if query is None:
            results = stream(rocksdb, plan, {"input": frame}, late=tmp_path / "late")
            writer = results.writeStream.format("json").option("path", str(tmp_path / "out"))
            query = writer.option("checkpointLocation", str(tmp_path / "ck")).start()
        query.processAllAvailable()
        if number % 2:
            done = [progress["observedMetrics"]["headrace"] for progress in query.recentProgress]
            metrics += [each["late"] for each in done]
            query.stop()
            query = None
    late = Disorder(batches, (0,) * len(batches), {}, {}).late(plan)
    files = sorted((tmp_path / "late").glob("*.jsonl"))
    reported = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert sorted((*each["row"].values(), each["stream"]) for each in reported) == sorted(late)
    assert sum(metrics) == len(late) > 0
    rows = rocksdb.read.schema(results.schema).json(str(tmp_path / "out")).collect()
    found = [Result((row.x, row.y), row.ts, row.exp) for row in rows]
    assert snapshots(found) == snapshots(expected(reach(), in_order(edges, late)))

"""Stored graphs on Spark are read once, before the stream, and survive a restart."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from headrace.algebra.physical import (
    Coalesce,
    Exchange,
    HashJoin,
    MergeUnion,
    SPath,
    ToKernel,
    WindowScan,
)
from headrace.algebra.values import VertexType
from headrace.catalog.edges import EdgeFile
from headrace.executor.local import Edge, Result
from headrace.executor.spark.host.errors import CancelledError, InputError, OtherQueryError
from headrace.executor.spark.reading.replay import spool
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.settings import PROVIDER, ROCKSDB
from headrace.executor.spark.stream import stream
from tests.executor.spark.chain import Chain
from tests.executor.spark.plans import csv_file, expected, plan_of, random_edges, scan, snapshots
from tests.executor.spark.running import read_jsonl
from tests.executor.spark.test_chain import fed
from tests.executor.spreading import spread
from tests.oracles.judgement import Line
from tests.oracles.query import text
from tests.oracles.snapshot import ALWAYS, Truth
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge, rows_of_edges
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.strategies.stored import stored_cases

GRAPH = WindowScan("graph", "k", None, None)
TWO_STEPS = HashJoin(((0, 1), (1, 2)), (0, 2))
THEN_MANY = SPath(2, ((0, 0, False, 1), (1, 1, False, 1)), (1,), "0·1*")
STREAMS: tuple[tuple[str, VertexType], ...] = (("graph", "string"), ("input", "string"))
PLAN = plan_of(
    (scan("a", 9), ()), (GRAPH, ()), (THEN_MANY, (0, 1)), (TWO_STEPS, (1, 1)),
    (MergeUnion(), (2, 3)), (Coalesce(), (4,)),
    vertex_types=STREAMS,
)  # fmt: skip
"""``a·k*``, and pairs two steps apart in the stored graph alone."""
ON_TWO = plan_of(
    (scan("a", 9), ()), (ToKernel(), (0,)), (GRAPH, ()), (ToKernel(), (2,)),
    (Exchange("hash", (1,)), (1,)), (Exchange("hash", (0,)), (3,)), (TWO_STEPS, (4, 5)),
    (Exchange("hash", (1,)), (6,)), (TWO_STEPS, (7, 5)),
    vertex_types=STREAMS,
).model_copy(update={"parallelism": 2})  # fmt: skip
"""``a·k·k`` over two stages of two partitions."""

STORED = [(str(i), str((3 * i + 1) % 8), "k", 0, "graph") for i in range(8)]
LIVE = [(*edge[:4], "input") for edge in random_edges(60, seed=3, labels="a")]
EDGES: list[Edge] = [*STORED, *LIVE]


def files_in(folder: Path) -> dict[str, list[EdgeFile]]:
    """The stream as a file with times, the stored graph as one without."""
    lines = "".join(f"{src},{trg},k\n" for src, trg, *_ in STORED)
    (folder / "graph.csv").write_text("src,trg,label\n" + lines)
    live = csv_file(folder / "in.csv", [edge[:4] for edge in LIVE])
    return {"graph": [EdgeFile(str(folder / "graph.csv"), stored=True)], "input": [live]}


@pytest.mark.long
@given(
    case=stored_cases(cases()),
    partitions=st.integers(1, 3),
    seed=st.integers(0, 9_999),
    hops=st.integers(0, 3),
)
@examples(15)
def test_stages_keep_a_stored_graph_over_worker_losses(
    case: Case, partitions: int, seed: int, hops: int
) -> None:
    """After every ``hops`` batches another worker continues from the log alone."""
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=2, seed=seed):
        several = spread(plan, partitions, seed) if partitions > 1 else plan
        edges = rows_of_edges(case.query, case.edges)
        chain = fed(Chain(several, seed), edges, 1 + seed % 7, hops, gone=False)
        lines = [Line(r.bindings, r.ts, ALWAYS if r.exp > 10**9 else r.exp) for r in chain.results]
        judge(truth, several, lines)


def test_the_log_writes_a_stored_graph_once() -> None:
    chain = Chain(ON_TWO)
    chain.another_worker(gone=True)
    chain.batch(STORED)
    reports = [json.loads(report) for report in chain.reports]
    loaded = {key: dict(log) for key, log in chain.logs.items()}
    assert sum(report["blobs"] for report in reports) >= 2
    for edge in LIVE:
        chain.batch([edge])
    for key, blobs in loaded.items():
        assert {number: chain.logs[key].get(number) for number in blobs} == blobs
    assert snapshots(chain.results) == snapshots(expected(ON_TWO, EDGES))


def test_the_spool_begins_with_the_stored_graph(tmp_path: Path) -> None:
    """The spool ignores the time column of a stored graph's file."""
    files = files_in(tmp_path)
    timed = csv_file(tmp_path / "timed.csv", [(*edge[:3], 7) for edge in STORED])
    made = spool(tmp_path / "s", PLAN, {**files, "graph": [timed]}, tmp_path / "rejected.jsonl")
    rows = pq.read_table(sorted(made.folder.glob("*.parquet"))).to_pylist()
    assert [row["ts"] for row in rows if row["stream"] == "graph"] == [0] * len(STORED)
    assert [row["ts"] for row in rows] == sorted(row["ts"] for row in rows)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.long
def test_a_run_over_a_stored_graph_continues_after_a_stop(
    spark: SparkSession, tmp_path: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.batch == 4:
            raise CancelledError("No more of this.")

    files, output = files_in(tmp_path), ToFolder(tmp_path / "out")
    options = RunOptions(largest_slice=10)
    with pytest.raises(CancelledError, match="No more of this"):
        run(PLAN, files, output, options, spark=spark, on_progress=stop)
    with pytest.raises(OtherQueryError, match="other input files, or these have changed"):
        run(PLAN, {**files, "graph": files["input"]}, output, options, spark=spark)
    report = run(PLAN, files, output, options, spark=spark)
    assert report.resumed
    assert report.operators[2].rows_in == report.relevant == len(EDGES)
    found = read_jsonl(tmp_path / "out")
    always = [r for r in found if r.exp is None]
    assert {r.ts for r in always} == {0}
    whole = expected(PLAN, EDGES)
    assert len(always) == sum(r.exp > 10**9 for r in whole) > 0
    assert snapshots([_ended(r) for r in found]) == snapshots([_ended(r) for r in whole])
    assert len(found) == len(set(found)) == report.results


def _ended(result: Result) -> Result:
    """Results without end get an end after all others, to compare snapshots."""
    return result._replace(exp=min(result.exp or 10**9, 10**9))


@pytest.mark.spark
@pytest.mark.long
def test_a_static_dataframe_is_read_on_a_users_session(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get(PROVIDER) or ""
    spark.conf.set(PROVIDER, ROCKSDB)
    rows = [(src, trg, "k") for src, trg, *_ in STORED]
    graph = spark.createDataFrame(rows, "src string, trg string, label string")
    live = _live(spark, tmp_path / "in")
    try:
        for part in range(2):
            # A query that goes on has the graph in its state: what is given now is not read.
            given = graph if not part else graph.where("src < '0'")
            results = stream(spark, ON_TWO, {"input": live, "graph": given})
            csv_file(tmp_path / "in" / f"{part}.csv", [e[:4] for e in LIVE[part * 30 :][:30]])
            query = (
                results.writeStream.format("json")
                .option("checkpointLocation", str(tmp_path / "ck"))
                .option("path", str(tmp_path / "out"))
                .start()
            )
            try:
                query.processAllAvailable()
            finally:
                query.stop()
        found = [
            Result((row.x, row.y), row.ts, row.exp)
            for row in spark.read.schema(results.schema).json(str(tmp_path / "out")).collect()
        ]
        assert snapshots(found) == snapshots(expected(ON_TWO, EDGES))
        _mistakes(spark, live, graph)
    finally:
        spark.conf.set(PROVIDER, before)


def _live(spark: SparkSession, folder: Path) -> DataFrame:
    folder.mkdir()
    reader = spark.readStream.schema("src string, trg string, label string, ts long")
    return reader.option("header", True).option("maxFilesPerTrigger", 1).csv(str(folder))


def _mistakes(spark: SparkSession, live: DataFrame, graph: DataFrame) -> None:
    with pytest.raises(InputError, match="stored graph 'graph', which has no DataFrame"):
        stream(spark, PLAN, {"input": live})
    with pytest.raises(InputError, match="'graph' as a stored graph, and its DataFrame is a str"):
        stream(spark, PLAN, {"input": live, "graph": live})
    with pytest.raises(InputError, match="'input' as a stream, and its DataFrame is a static"):
        stream(spark, PLAN, {"input": graph, "graph": graph})
    alone = plan_of((GRAPH, ()), (TWO_STEPS, (0, 0)), vertex_types=STREAMS[:1])
    with pytest.raises(InputError, match="no stream but stored graphs alone"):
        stream(spark, alone, {"graph": graph})

"""Plans on real Spark give the results of the oracle and of the in-process pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from headrace.catalog.edges import EdgeFile
from headrace.executor.local import Edge, Result
from headrace.executor.spark.host.errors import InputError
from headrace.executor.spark.report import Progress, RunReport
from headrace.executor.spark.results.formats import ResultFormat
from headrace.executor.spark.results.sinks import ToFile, ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.inputs import inputs_of
from tests.executor.spark.plans import (
    csv_file,
    edges_of_a,
    expected,
    random_edges,
    reach,
    snapshots,
)
from tests.executor.spark.running import read_csv, read_jsonl, read_parquet, results_of
from tests.oracles.judgement import Line
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.queries import Case, cases

pytestmark = pytest.mark.spark


def _check(spark: SparkSession, case: Case, seed: int) -> None:
    plans = plans_of(optimized(case), most=3, seed=seed)
    plan = plans[seed % len(plans)]
    with TemporaryDirectory() as folder:
        found, report = results_of(spark, plan, inputs_of(case, Path(folder), seed), 9)
    judge(Truth(case.query, case.edges), plan, [Line(*result) for result in found])
    assert report.edges == len(case.edges)
    assert report.results == len(found)


@pytest.mark.long
def test_random_queries_equal_the_oracle(spark: SparkSession) -> None:
    @given(case=cases(), seed=st.integers(0, 999))
    @examples(6)
    def check(case: Case, seed: int) -> None:
        _check(spark, case, seed)

    check()


@pytest.mark.long
@pytest.mark.parametrize("name", ["Table 5.1 Q4", "Table 5.1 Q5", "Table 5.1 Q7"])
def test_named_queries_equal_the_oracle(spark: SparkSession, name: str) -> None:
    @given(case=cases(st.just(NAMED[name])), seed=st.integers(0, 999))
    @examples(1)
    def check(case: Case, seed: int) -> None:
        assume(len(case.edges) >= 12)
        _check(spark, case, seed)

    check()


@pytest.mark.long
def test_edges_of_equal_ts_may_span_slices(spark: SparkSession, tmp_path: Path) -> None:
    edges: list[Edge] = [(str(i), str(i + 1), "a", 7) for i in range(11)]
    edges += [(str(i), str(i + 1), "a", 8) for i in range(11, 14)]
    file = csv_file(tmp_path / "in.csv", edges)
    found, report = results_of(spark, reach(), {"input": [file]}, largest_slice=4)
    assert report.batches == 4
    assert snapshots(found) == snapshots(expected(reach(), edges))
    assert len({r.bindings for r in found}) == 14 * 15 / 2


@pytest.mark.long
def test_time_zero_and_a_long_gap_give_right_results(spark: SparkSession, tmp_path: Path) -> None:
    edges: list[Edge] = [("1", "2", "a", 0), ("2", "3", "a", 0), ("3", "4", "a", 900)]
    file = csv_file(tmp_path / "in.csv", edges)
    found, _ = results_of(spark, reach(), {"input": [file]}, largest_slice=1)
    assert snapshots(found) == {
        0: {("1", "2"), ("2", "3"), ("1", "3")},
        20: set(),
        900: {("3", "4")},
        920: set(),
    }


def test_input_without_relevant_edges_has_no_results(spark: SparkSession, tmp_path: Path) -> None:
    file = csv_file(tmp_path / "in.csv", [("1", "2", "b", 3)])
    output = ToFile(tmp_path / "out.csv", "csv")
    report = run(reach(), {"input": [file]}, output, spark=spark)
    assert (report.edges, report.relevant, report.results, report.batches) == (1, 0, 0, 0)
    assert (tmp_path / "out.csv").read_text() == '"x","y","ts","exp"\n'


def test_rows_that_are_no_edges_are_counted_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("src,trg,label,ts\n1,2,a,0\n,2,a,1\n2,3,a,x\n2,3,a,2\n")
    inputs = {"input": [EdgeFile(str(path))]}
    report = run(reach(), inputs, ToFolder(tmp_path / "out"), spark=spark)
    assert (report.edges, report.rejected) == (2, 2)
    rejected = tmp_path / "out" / "_headrace" / "rejected.jsonl"
    assert report.rejected_file == str(rejected)
    assert len(rejected.read_text().splitlines()) == 2
    bindings = {r.bindings for r in read_jsonl(tmp_path / "out")}
    assert bindings == {("1", "2"), ("2", "3"), ("1", "3")}


def test_a_strict_run_that_fails_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("src,trg,label,ts\n1,2,a,0\n,2,a,1\n")
    with pytest.raises(InputError, match=r"in\.csv:3: src is empty"):
        run(
            reach(),
            {"input": [EdgeFile(str(path))]},
            ToFolder(tmp_path / "out"),
            RunOptions(strict=True),
            spark=spark,
        )
    assert [p.name for p in tmp_path.rglob("*")] == ["in.csv"]


def test_folder_names_may_have_pattern_characters(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a b#[c]{d}%41"
    folder.mkdir()
    edges = random_edges(20)
    inputs = {"input": [csv_file(folder / "in.csv", edges)]}
    run(edges_of_a(), inputs, ToFolder(folder / "out"), spark=spark)
    found = read_jsonl(folder / "out")
    assert snapshots(found) == snapshots(expected(edges_of_a(), edges))
    assert {p.name for p in tmp_path.iterdir()} == {folder.name}


@pytest.mark.parametrize(
    ("file_format", "read"), [("jsonl", read_jsonl), ("csv", read_csv), ("parquet", read_parquet)]
)
def test_each_format_has_the_results(
    spark: SparkSession,
    tmp_path: Path,
    file_format: ResultFormat,
    read: Callable[[Path], list[Result]],
) -> None:
    edges = random_edges(40)
    inputs = {"input": [csv_file(tmp_path / "in.csv", edges)]}
    options = RunOptions(largest_slice=15)
    wanted = expected(reach(), edges)
    output = tmp_path / f"out.{file_format}"
    report = run(reach(), inputs, ToFile(output, file_format), options, spark=spark)
    assert snapshots(read(output)) == snapshots(wanted)
    assert report.results == report.found == len(read(output))
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("out")] == [output.name]


def test_the_report_counts_edges_results_and_batches(spark: SparkSession, tmp_path: Path) -> None:
    edges = random_edges(60)
    inputs = {"input": [csv_file(tmp_path / "in.csv", edges)]}
    updates: list[Progress] = []
    output = ToFolder(tmp_path / "out")
    options = RunOptions(largest_slice=10)
    report = run(reach(), inputs, output, options, spark=spark, on_progress=updates.append)
    relevant = sum(edge[2] == "a" for edge in edges)
    assert (report.edges, report.relevant, report.processed) == (60, relevant, relevant)
    assert report.batches == -(-relevant // 10)
    assert not report.resumed
    assert report.late == 0
    assert report.rebuilt < report.batches, "a worker that is gone costs a rebuild; most are there"
    assert report.operators[1].rows_in == relevant
    assert report.operators[1].rows_out == report.results
    assert report.operators[1].state_entries > 0
    assert report.worker_peak_bytes > 0
    assert RunReport.from_document(json.loads(json.dumps(report.document()))) == report
    running = [p for p in updates if p.phase == "running"]
    assert [p.batch for p in running] == list(range(1, report.batches + 1))
    assert running[-1].fraction == 1.0
    assert running[-1].results == report.results
    assert running[-1].now == max(edge[3] for edge in edges if edge[2] == "a")

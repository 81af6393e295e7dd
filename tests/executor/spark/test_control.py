"""Several runs at once in one session, and runs that are stopped from outside."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from executor.spark.errors import CancelledError
from executor.spark.report import Progress, RunReport
from executor.spark.run import RunOptions, run
from executor.spark.settings import PROVIDER
from executor.spark.sinks import ToFolder
from tests.executor.spark.plans import (
    csv_file,
    edges_of_a,
    expected,
    random_edges,
    reach,
    snapshots,
)
from tests.executor.spark.running import read_jsonl

pytestmark = pytest.mark.spark

EDGES = random_edges(120, seed=9, vertices=20)
OPTIONS = RunOptions(largest_slice=10)
REACH = reach(length=30, slide=5)


def test_two_at_once_and_one_of_them_stopped(spark: SparkSession, tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    settings, provider = dict(spark.conf.getAll), spark.conf.get(PROVIDER)
    start = partial(run, options=OPTIONS, spark=spark)
    cancelled = threading.Event()
    both = threading.Barrier(2, timeout=60)

    def at_the_same_time(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == 2:
            both.wait()

    def until_the_fifth(progress: Progress) -> None:
        at_the_same_time(progress)
        if progress.phase == "running" and progress.batch == 5:
            cancelled.set()

    with ThreadPoolExecutor(2) as threads:
        whole = threads.submit(
            start, edges_of_a(), inputs, ToFolder(tmp_path / "a"), on_progress=at_the_same_time
        )
        stopped = threads.submit(
            start,
            REACH,
            inputs,
            ToFolder(tmp_path / "b"),
            on_progress=until_the_fifth,
            cancelled=cancelled,
        )
        with pytest.raises(CancelledError, match="Stopped after"):
            stopped.result()
        report = whole.result()
    assert report.late == 0
    assert snapshots(read_jsonl(tmp_path / "a")) == snapshots(expected(edges_of_a(), EDGES))

    rest: RunReport = start(REACH, inputs, ToFolder(tmp_path / "b"))
    assert rest.resumed
    assert 0 < rest.processed < rest.relevant
    start(REACH, inputs, ToFolder(tmp_path / "undisturbed"))
    assert _files(tmp_path / "b") == _files(tmp_path / "undisturbed")
    assert snapshots(read_jsonl(tmp_path / "b")) == snapshots(expected(REACH, EDGES))
    assert (dict(spark.conf.getAll), spark.conf.get(PROVIDER)) == (settings, provider)


def test_a_slice_for_each_interval(spark: SparkSession, tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    options = RunOptions(speed=100, interval="100 milliseconds")
    report = run(edges_of_a(), inputs, ToFolder(tmp_path / "out"), options, spark=spark)
    assert report.batches == len({edge[3] // 10 for edge in EDGES if edge[2] == "a"})
    assert snapshots(read_jsonl(tmp_path / "out")) == snapshots(expected(edges_of_a(), EDGES))


def test_stopped_before_it_began(spark: SparkSession, tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    with pytest.raises(CancelledError):
        run(REACH, inputs, ToFolder(tmp_path / "out"), spark=spark, cancelled=cancelled)
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]


def _files(folder: Path) -> dict[str, list[str]]:
    """The lines of each file; state that was made anew may give them in another order."""
    return {file.name: sorted(file.read_text().splitlines()) for file in folder.glob("part-*")}

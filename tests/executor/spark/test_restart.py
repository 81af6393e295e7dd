"""A run that is killed anywhere and restarted gives each right result once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from headrace.executor.local import run_plan
from headrace.executor.spark.host.errors import CancelledError, DamagedError, OtherQueryError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.child import EDGES, OPTIONS, PLAN, SLICE, inputs_in
from tests.executor.spark.plans import csv_file, expected, reach, snapshots
from tests.executor.spark.running import read_jsonl
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]


class Child:
    """A run in another process, watched by what it prints."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.executor.spark.child", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        self.jvm = 0

    def until(self, batch: int) -> None:
        """Waits until a number of batches are done."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, value, *_ = line.split()
            assert word != "error", line
            if word == "jvm":
                self.jvm = int(value)
            elif int(value) >= batch:
                return
        raise AssertionError(self.process.communicate()[1])

    def gone(self) -> bool:
        """Waits for the end of the process and its JVM; returns whether both ended."""
        self.process.communicate()
        return until(lambda: not psutil.pid_exists(self.jvm))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    csv_file(tmp_path / "in.csv", EDGES)
    return tmp_path


@pytest.mark.long
def test_a_killed_run_continues_with_each_result_once(spark: SparkSession, folder: Path) -> None:
    first = Child(folder)
    first.until(3)
    time.sleep(0.2)
    os.kill(first.process.pid, signal.SIGKILL)
    # No wait for the JVM of the killed one: that is the next run's business.
    second = Child(folder)
    second.until(8)
    os.kill(second.jvm, signal.SIGKILL)
    out, errors = second.process.communicate()
    assert second.process.returncode == 1
    assert "error SparkFailedError Spark's Java process ended unexpectedly" in out
    assert errors == ""

    published = {file: file.read_bytes() for file in (folder / "out").glob("part-*")}
    report = run(PLAN, inputs_in(folder), ToFolder(folder / "out"), OPTIONS, spark=spark)
    assert report.resumed
    assert 0 < report.processed < report.relevant
    found = read_jsonl(folder / "out")
    assert snapshots(found) == snapshots(expected(PLAN, EDGES))
    relevant = [edge for edge in EDGES if edge[2] == "a"]
    assert Counter(found) == Counter(run_plan(PLAN, relevant, batch_rows=SLICE))
    assert report.results == len(found)
    assert report.operators[1].rows_in == report.relevant
    assert all(file.read_bytes() == data for file, data in published.items())
    assert {path.name for path in (folder / "out" / "_headrace").iterdir()} == {
        "query.json",
        "owner.json",
        "lock",
        "counted.json",
    }
    assert first.gone()

    again = run(PLAN, inputs_in(folder), ToFolder(folder / "out"), OPTIONS, spark=spark)
    assert (again.batches, again.processed, again.found) == (0, 0, 0)
    assert (again.results, again.operators) == (report.results, report.operators)
    with pytest.raises(OtherQueryError, match="belongs to another plan or query"):
        run(reach(31), inputs_in(folder), ToFolder(folder / "out"), OPTIONS, spark=spark)
    assert read_jsonl(folder / "out") == found


@pytest.mark.soak
def test_an_interrupted_run_continues(folder: Path) -> None:
    child = Child(folder)
    child.until(2)
    os.kill(child.process.pid, signal.SIGINT)
    out, errors = child.process.communicate(timeout=PATIENCE)
    assert child.process.returncode == 1
    assert "error CancelledError Stopped after" in out
    assert errors == ""
    assert child.gone()
    assert {path.name for path in (folder / "out" / "_headrace").iterdir()} >= {"query.json"}


@pytest.mark.soak
def test_a_run_survives_workers_killed_between_batches(spark: SparkSession, folder: Path) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    jvm = psutil.Process(gateway.proc.pid)

    def kill_workers(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch in (3, 7):
            living = [c for c in jvm.children() if c.status() != psutil.STATUS_ZOMBIE]
            daemons = [child for child in living if "daemon" in " ".join(child.cmdline())]
            for worker in (worker for daemon in daemons for worker in daemon.children()):
                worker.kill()

    checkpoint = RunOptions(largest_slice=SLICE, checkpoint=folder / "checkpoint")
    report = run(
        PLAN,
        inputs_in(folder),
        ToFolder(folder / "out"),
        checkpoint,
        spark=spark,
        on_progress=kill_workers,
    )
    assert report.rebuilt >= 2, "once for each start, and perhaps for a worker that was gone"
    assert snapshots(read_jsonl(folder / "out")) == snapshots(expected(PLAN, EDGES))


@pytest.mark.long
def test_a_run_that_its_callback_stops_continues(spark: SparkSession, folder: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.batch == 4:
            raise CancelledError("No more of this.")

    output = ToFolder(folder / "out")
    with pytest.raises(CancelledError, match="No more of this"):
        run(PLAN, inputs_in(folder), output, OPTIONS, spark=spark, on_progress=stop)
    report = run(PLAN, inputs_in(folder), output, OPTIONS, spark=spark)
    assert report.resumed
    found = read_jsonl(folder / "out")
    assert snapshots(found) == snapshots(expected(PLAN, EDGES))
    assert len(found) == len(set(found)) == report.results


@pytest.mark.long
def test_a_slice_that_is_torn_during_a_run_is_named(spark: SparkSession, folder: Path) -> None:
    output = ToFolder(folder / "out")

    def lose_a_slice(progress: Progress) -> None:
        if progress.phase == "running":
            for file in (folder / "out" / "_headrace" / "input").glob("edges-00000004*"):
                file.write_bytes(b"torn")

    with pytest.raises(DamagedError, match=r"edges-00000004\.parquet is damaged") as caught:
        run(PLAN, inputs_in(folder), output, OPTIONS, spark=spark, on_progress=lose_a_slice)
    assert "\n\tat " not in str(caught.value)

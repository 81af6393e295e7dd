"""Concurrent runs in one session, and runs that are stopped from outside."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession

from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.host.files import read_sealed
from headrace.executor.spark.report import Progress, RunReport
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.settings import PROVIDER, streaming_session
from tests.executor.spark.plans import (
    csv_file,
    edges_of_a,
    expected,
    random_edges,
    reach,
    snapshots,
)
from tests.executor.spark.running import read_jsonl
from tests.processes import java_below
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.spark

EDGES = random_edges(120, seed=9, vertices=20)
OPTIONS = RunOptions(largest_slice=10)
REACH = reach(length=30, slide=5)


@pytest.mark.long
def test_stopping_a_run_leaves_a_concurrent_run_alone(spark: SparkSession, tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    settings, provider = dict(spark.conf.getAll), spark.conf.get(PROVIDER)
    start = partial(run, options=OPTIONS, spark=spark)
    cancelled = threading.Event()
    both = threading.Barrier(2, timeout=PATIENCE)

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
    # Not file by file: Spark may take two slices at once after it was stopped between two notes.
    found = read_jsonl(tmp_path / "b")
    assert len(found) == len(set(found)), "each result once"
    assert snapshots(found) == snapshots(expected(REACH, EDGES))
    assert (dict(spark.conf.getAll), spark.conf.get(PROVIDER)) == (settings, provider)


def kept(spark: SparkSession) -> tuple[int, int, int]:
    """The threads that look after idle workers, and the connections between Spark and this process,
    as either side sees them."""
    jvm: Any = spark.sparkContext._jvm
    names = [t.getName() for t in jvm.java.lang.Thread.getAllStackTraces().keySet().toArray()]
    (java,) = java_below(psutil.Process())
    server: Any = spark.sparkContext._gateway._callback_server  # type: ignore[union-attr]
    port = server.server_socket.getsockname()[1]
    return (
        sum(name.startswith("Idle Worker Monitor") for name in names),
        sum(c.laddr.port == port for c in psutil.Process().net_connections("tcp")),
        sum(bool(c.raddr) and c.raddr.port == port for c in java.net_connections("tcp")),
    )


@pytest.mark.long
def test_spark_keeps_nothing_of_runs_that_have_ended(spark: SparkSession, tmp_path: Path) -> None:
    """Else a service would have a thread, a session and open files more with each start."""
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    options = RunOptions(largest_slice=1_000)
    run(edges_of_a(), inputs, ToFolder(tmp_path / "first"), options, spark=spark)
    before = kept(spark)
    for number in range(3):
        run(edges_of_a(), inputs, ToFolder(tmp_path / str(number)), options, spark=spark)
    assert streaming_session(spark, 1) is streaming_session(spark, 1)

    def as_before() -> bool:
        # A thread ends when it is told that it is to. A connection may have come: the JVM tells
        # of its garbage by a thread of its own.
        threads, ours, theirs = kept(spark)
        return threads <= before[0] and ours <= before[1] + 1 and theirs <= before[2] + 1

    until(as_before, lambda: f"{before} before, {kept(spark)} after")


@pytest.mark.soak
@pytest.mark.parametrize("seconds", [0.2, 0.6, 1.2])
def test_stopping_a_starting_run_leaves_no_process(
    spark: SparkSession, tmp_path: Path, seconds: float
) -> None:
    """An interrupted Spark leaves the process that it asks for the columns of state."""
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    cancelled = threading.Event()
    threading.Timer(seconds, cancelled.set).start()
    options = replace(OPTIONS, interval="1 second")
    with pytest.raises(CancelledError):
        run(REACH, inputs, ToFolder(tmp_path / "out"), options, spark=spark, cancelled=cancelled)
    until(lambda: not _driver_workers(), _driver_workers)


def _driver_workers() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(word.endswith("_driver_worker") for word in process.cmdline()):
                found.append(process)
    return found


@pytest.mark.long
def test_replay_takes_one_slice_per_interval(spark: SparkSession, tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    options = RunOptions(speed=100, interval="100 milliseconds")
    report = run(edges_of_a(), inputs, ToFolder(tmp_path / "out"), options, spark=spark)
    assert report.batches == len({edge[3] // 10 for edge in EDGES if edge[2] == "a"})
    assert snapshots(read_jsonl(tmp_path / "out")) == snapshots(expected(edges_of_a(), EDGES))


def test_a_run_stopped_before_it_begins_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    with pytest.raises(CancelledError):
        run(REACH, inputs, ToFolder(tmp_path / "out"), spark=spark, cancelled=cancelled)
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.soak
def test_a_run_with_an_interval_ends_after_a_kill_anywhere(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A Spark killed between its logs of slice and batch takes two slices in one batch."""
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    checkpoint, output = tmp_path / "checkpoint", ToFolder(tmp_path / "out")
    options = replace(OPTIONS, checkpoint=checkpoint, interval="10 milliseconds")
    cancelled = threading.Event()

    def until_the_third(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == 3:
            cancelled.set()

    with pytest.raises(CancelledError):
        run(
            REACH, inputs, output, options, spark=spark,
            on_progress=until_the_third, cancelled=cancelled,
        )  # fmt: skip
    notes, offsets, commits = (
        checkpoint / "spark" / name for name in ("sources/0", "offsets", "commits")
    )
    last = _last(notes)
    if last == _last(offsets):  # else it was stopped just there
        text = (notes / str(last)).read_text()
        for before, after in (
            (f"edges-{last:08}", f"edges-{last + 1:08}"),
            (str(1_000_000_000 + last), str(1_000_000_000 + last + 1)),
            (f'"batchId":{last}', f'"batchId":{last + 1}'),
        ):
            assert before in text
            text = text.replace(before, after)
        (notes / str(last + 1)).write_text(text)
    report = run(REACH, inputs, output, options, spark=spark)
    assert report.processed < report.relevant
    assert snapshots(read_jsonl(output.path)) == snapshots(expected(REACH, EDGES))
    # Killed after the last batch was done, and before it was noted that this was the last.
    last = _last(offsets)
    if _last(commits) < last:
        shutil.copy(commits / str(last - 1), commits / str(last))
    pin = checkpoint / "query.json"
    document = read_sealed(pin)
    del document["report"]
    pin.write_text(json.dumps(document))
    again = run(REACH, inputs, output, options, spark=spark)
    assert (again.batches, again.results) == (0, report.results)


def _last(notes: Path) -> int:
    return max(int(note.name) for note in notes.iterdir() if note.name.isdigit())

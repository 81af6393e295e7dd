"""Runs on real Spark with a full disk, a damaged checkpoint, and a clock set back."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headrace.executor.local import Result, run_plan
from headrace.executor.spark import query as module
from headrace.executor.spark.host import clock
from headrace.executor.spark.host.errors import DamagedError, StorageError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFile, ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.child import EDGES, OPTIONS, PLAN, SLICE, inputs_in
from tests.executor.spark.plans import csv_file
from tests.executor.spark.running import read_jsonl
from tests.executor.spark.shortage import no_room_for_files

pytestmark = pytest.mark.spark


@cache
def right() -> Counter[Result]:
    """The results without Spark, computed when a test needs them: the run compiles kernels."""
    return Counter(run_plan(PLAN, [edge for edge in EDGES if edge[2] == "a"], batch_rows=SLICE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    csv_file(tmp_path / "in.csv", EDGES)
    return tmp_path


@pytest.fixture
def shortage() -> Iterator[ExitStack]:
    """Fills a disk; closing it makes room again."""
    with ExitStack() as stack:
        yield stack


def at(batch: int, act: Callable[[], object]) -> Callable[[Progress], None]:
    """Runs an action after a batch."""

    def tell(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == batch:
            act()

    return tell


def processes(spark: SparkSession, which: str) -> list[int]:
    """This process, Spark's JVM, or the Python processes of its workers."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    jvm = psutil.Process(gateway.proc.pid)
    match which:
        case "driver":
            return [os.getpid()]
        case "jvm":
            return [jvm.pid]
        case _:
            return [p.pid for p in jvm.children(recursive=True)]


@pytest.mark.long
def test_a_run_continues_when_the_disk_has_room_again(
    spark: SparkSession, folder: Path, shortage: ExitStack
) -> None:
    """The disk is full in the middle of the run, for each kind of process in turn."""
    options = replace(OPTIONS, checkpoint=folder / "ck")
    output = ToFolder(folder / "out")
    for batch, which in ((3, "driver"), (6, "workers"), (9, "jvm")):

        def fill(which: str = which) -> None:
            shortage.enter_context(no_room_for_files(*processes(spark, which)))

        with pytest.raises(StorageError, match="File too large") as caught:
            run(PLAN, inputs_in(folder), output, options, spark=spark, on_progress=at(batch, fill))
        shortage.close()
        assert "goes on from there" in caught.value.hint, which
        assert "Traceback" not in str(caught.value)
        found = Counter(read_jsonl(folder / "out"))
        assert found <= right(), "no wrong line, and none twice"
    report = run(PLAN, inputs_in(folder), output, options, spark=spark)
    assert report.resumed
    assert Counter(read_jsonl(folder / "out")) == right()
    assert report.results == right().total()


class Stopped(Exception):  # noqa: N818 - it is not an error
    """The test has seen enough of a run."""


def stop() -> None:
    raise Stopped


@pytest.mark.long
def test_damaged_state_is_refused_by_name_and_a_copy_continues(
    spark: SparkSession, folder: Path
) -> None:
    options, output = replace(OPTIONS, checkpoint=folder / "run/ck"), ToFolder(folder / "run/out")

    def start(on_progress: Callable[[Progress], None] | None = None) -> None:
        run(PLAN, inputs_in(folder), output, options, spark=spark, on_progress=on_progress)

    with pytest.raises(Stopped):
        start(at(6, stop))
    shutil.copytree(folder / "run", folder / "copy")
    for kind in ("*.zip", "SSTs/*.sst", "5.changelog"):
        files = list((folder / "run/ck/spark/state/0/0").glob(kind))
        assert files, kind
        for file in files:
            written = file.read_bytes()
            at_middle = len(written) // 2
            flipped = bytes([written[at_middle] ^ 4])
            file.write_bytes(written[:at_middle] + flipped + written[at_middle + 1 :])
        with pytest.raises(DamagedError) as caught:
            start()
        assert any(f"{file} is damaged" in caught.value.message for file in files)
        assert "Put back a copy" in caught.value.hint
        assert Counter(read_jsonl(folder / "run/out")) <= right()
        shutil.rmtree(folder / "run")
        shutil.copytree(folder / "copy", folder / "run")
    start()
    assert Counter(read_jsonl(folder / "run/out")) == right()


@pytest.mark.long
def test_a_clock_that_is_set_back_delays_no_query(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark would wait for the old time of the clock, so the query is restarted."""
    ahead, starts = [0.0], [0]
    start = module._started

    def started(*arguments: Any) -> StreamingQuery:
        starts[0] += 1
        return start(*arguments)

    def set_back() -> None:
        ahead[0] -= 3600

    monkeypatch.setattr(clock, "_ahead", lambda: ahead[0])
    monkeypatch.setattr(module, "_started", started)
    options = RunOptions(largest_slice=100, interval="1000 hours")
    output = ToFile(folder / "out.jsonl")
    run(PLAN, inputs_in(folder), output, options, spark=spark, on_progress=at(1, set_back))
    assert starts == [2], "the second one begins at once, and has the last slice"
    relevant = [edge for edge in EDGES if edge[2] == "a"]
    assert Counter(read_jsonl(folder / "out.jsonl")) == Counter(
        run_plan(PLAN, relevant, batch_rows=100)
    )

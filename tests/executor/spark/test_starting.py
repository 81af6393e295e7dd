"""Slow starts on a busy machine are repeated and do not fail the query."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headrace.executor.spark import query as module
from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.session.early_worker import PORT, SECRET, SOCKET_PATH, connected
from headrace.executor.spark.session.turns import AT_ONCE, Turn
from tests.executor.spark.plans import csv_file, edges_of_a, expected, random_edges, snapshots
from tests.executor.spark.running import read_jsonl

EDGES = random_edges(60, seed=9, vertices=20)
OPTIONS = RunOptions(largest_slice=30)
LIMIT_OF_SPARK = 10
"""Seconds in which a worker of the driver has to connect."""
IMPORTING = 25_000_000
"""Bytes that a Python has only after it has begun to import PySpark."""


def driver_worker() -> psutil.Process | None:
    """The process that Spark asks for the state of a query."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(word.endswith("_driver_worker") for word in process.cmdline()):
                return process
    return None


@pytest.mark.soak
@pytest.mark.spark
def test_a_worker_may_take_longer_to_import_than_spark_waits(
    spark: SparkSession, tmp_path: Path
) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    held: list[psutil.Process] = []
    ended = threading.Event()

    def hold_the_first_that_imports() -> None:
        while not ended.wait(0.002):
            process = driver_worker()
            with suppress(psutil.Error):
                if process is None or process.memory_info().rss < IMPORTING:
                    continue
                process.suspend()
                held.append(process)
                ended.wait(LIMIT_OF_SPARK + 1.5)
                process.resume()
                return

    watching = threading.Thread(target=hold_the_first_that_imports)
    watching.start()
    updates: list[Progress] = []
    try:
        run(
            edges_of_a(), inputs, ToFolder(tmp_path / "out"), OPTIONS,
            spark=spark, on_progress=updates.append,
        )  # fmt: skip
    finally:
        ended.set()
        watching.join()
    assert held
    assert "waiting" not in {progress.phase for progress in updates}
    assert snapshots(read_jsonl(tmp_path / "out")) == snapshots(expected(edges_of_a(), EDGES))


@pytest.mark.long
@pytest.mark.spark
def test_a_start_is_repeated_until_it_succeeds(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "SparkException: Python worker failed to connect back.\nCaused by: java.net.SocketTimeo"
    started, left = module._started, [text] * 7

    def slow(*given: Any) -> StreamingQuery:
        if left:
            raise StreamingQueryException(left.pop())
        return started(*given)

    monkeypatch.setattr(module, "_started", slow)
    monkeypatch.setattr(module, "LONGEST_PAUSE_SECONDS", 0.01)
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    updates: list[Progress] = []
    run(
        edges_of_a(), inputs, ToFolder(tmp_path / "out"), OPTIONS,
        spark=spark, on_progress=updates.append,
    )  # fmt: skip
    waits = [progress.reason for progress in updates if progress.phase == "waiting"]
    assert len(waits) == 7
    assert "Python worker failed to connect back" in waits[0]
    assert updates[-1].phase == "running"
    assert snapshots(read_jsonl(tmp_path / "out")) == snapshots(expected(edges_of_a(), EDGES))


@pytest.mark.long
@pytest.mark.spark
def test_a_run_waiting_to_repeat_its_start_can_be_stopped(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> StreamingQuery:
        raise StreamingQueryException("java.util.concurrent.TimeoutException: Futures timed out")

    monkeypatch.setattr(module, "_started", never)
    inputs = {"input": [csv_file(tmp_path / "in.csv", EDGES)]}
    cancelled = threading.Event()

    def stop(progress: Progress) -> None:
        if progress.phase == "waiting":
            cancelled.set()

    with pytest.raises(CancelledError, match="Stopped after 0 batches"):
        run(
            edges_of_a(), inputs, ToFolder(tmp_path / "out"), OPTIONS,
            spark=spark, on_progress=stop, cancelled=cancelled,
        )  # fmt: skip


def test_at_most_a_few_queries_start_at_once() -> None:
    never, stopped = threading.Event(), threading.Event()
    turns = [Turn() for _ in range(AT_ONCE)]
    try:
        assert all(turn.comes(never) for turn in turns)
        stopped.set()
        with Turn() as late:
            assert not late.comes(stopped)
        turns[0].give_back()
        turns[0].give_back()
        with Turn() as late:
            assert late.comes(never)
            assert not late.is_long()
        with Turn() as again:
            assert again.comes(never)
    finally:
        for turn in turns:
            turn.give_back()


class Jvm:
    """The JVM's side of the protocol by which a worker connects."""

    def __init__(self, answer: bytes, path: Path | None = None) -> None:
        self._answer = answer
        self._path = path
        self._listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self._listener.bind(str(path) if path else ("127.0.0.1", 0))
        self._listener.listen()
        self.secret = b""
        self.pid = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def environment(self) -> Mapping[str, str]:
        if self._path is not None:
            return {SOCKET_PATH: str(self._path)}
        return {PORT: str(self._listener.getsockname()[1]), SECRET: "open sesame"}

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rwb") as file:
            if self._path is None:
                (length,) = struct.unpack("!i", file.read(4))
                self.secret = file.read(length)
                file.write(struct.pack("!i", len(self._answer)) + self._answer)
                file.flush()
            with suppress(struct.error):
                (self.pid,) = struct.unpack("!i", file.read(4))

    def close(self) -> None:
        self._thread.join()
        self._listener.close()


@pytest.mark.parametrize("by_path", [False, True])
def test_the_early_connection_follows_sparks_protocol(tmp_path: Path, by_path: bool) -> None:
    jvm = Jvm(b"ok", tmp_path / "socket" if by_path else None)
    with connected(jvm.environment()):
        jvm.close()
    assert jvm.pid == os.getpid()
    assert jvm.secret == (b"" if by_path else b"open sesame")


def test_a_refused_secret_raises() -> None:
    jvm = Jvm(b"err")
    with pytest.raises(ConnectionRefusedError, match="does not accept"):
        connected(jvm.environment())
    jvm.close()


def test_the_early_worker_imports_only_the_standard_library() -> None:
    """The module imports little, and from the standard library only."""
    code = "import headrace.executor.spark.session.early_worker, sys; print(*sys.modules)"
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"pyspark", "numpy", "pandas", "pyarrow", "numba"} & {*completed.stdout.split()}

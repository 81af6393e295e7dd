"""Runs on a standalone cluster on loopback: a master and two workers, each a process."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bench.standalone import Cluster, standalone_cluster
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.spark, pytest.mark.long]

EXAMPLE = Path(__file__).parents[2] / "examples" / "mathoverflow"
QUERY = "Answer(x, y) <- x (a2q/c2a)+ y. WINDOW 3d SLIDE 1d"
SEEN_ELSEWHERE = """
from pathlib import Path
import sys
from headrace.executor.spark.host.errors import ExecutionError
from headrace.executor.spark.session.cluster import check_cluster
from headrace.executor.spark.session.options import SessionOptions
from headrace.executor.spark.session.session import spark_session
with spark_session(SessionOptions(master=sys.argv[1], records_classes=False)) as spark:
    check_cluster(spark.sparkContext, Path(sys.argv[2]))
    print("shared")
    try:
        check_cluster(spark.sparkContext, Path("/proc/self/cwd"))
    except ExecutionError as error:
        print(error)
"""
"""``/proc/self/cwd`` is another folder in each process."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for all tests of this file; the last one kills a worker."""
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as running:
        yield running


def edges_file(folder: Path, edges: int) -> Path:
    """The first edges of the bundled data, by time, in one file."""
    rows = []
    for label in ("a2q", "c2a"):
        with gzip.open(EXAMPLE / f"{label}.csv.gz", "rt") as file:
            next(file)
            rows += [(int(line.split(",")[2]), f"{line.strip()},{label}") for line in file]
    path = folder / "edges.csv"
    lines = [line for _, line in sorted(rows)[:edges]]
    path.write_text("\n".join(["src,trg,ts,label", *lines]) + "\n")
    return path


def packed_python(folder: Path, starts: Path) -> Path:
    """An archive whose ``bin/python`` notes that it was started, and runs this interpreter."""
    python = folder / "python"
    python.write_text(f'#!/bin/sh\necho "$PWD" >> {starts}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    archive = folder / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(python, "bin/python")
    return archive


def validity(files: Iterable[Path]) -> dict[tuple[str, ...], list[list[int]]]:
    """The times at which each answer is valid, without overlaps: rows differ by partitions."""
    times = defaultdict(list)
    for file in files:
        for line in file.read_text().splitlines():
            row = json.loads(line)
            times[tuple(row["bindings"].values())].append([row["ts"], row["exp"]])
    merged: dict[tuple[str, ...], list[list[int]]] = {}
    for answer, rows in times.items():
        kept = merged[answer] = []
        for ts, exp in sorted(rows):
            if kept and ts <= kept[-1][1]:
                kept[-1][1] = max(kept[-1][1], exp)
            else:
                kept.append([ts, exp])
    return merged


def headrace(*arguments: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "headrace", *arguments]


def test_a_folder_that_executors_do_not_share_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    answer = subprocess.run(
        [sys.executable, "-c", SEEN_ELSEWHERE, cluster.master, shared],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.stdout.startswith("shared\n"), answer.stderr
    assert re.search(r"does not share the checkpoint /proc/self/cwd with the driver", answer.stdout)
    assert not list(shared.iterdir())


def test_a_worker_killed_during_a_run_changes_no_result(cluster: Cluster, tmp_path: Path) -> None:
    """The workers' Python comes from an archive, and one of two worker processes is killed."""
    edges, starts, out = edges_file(tmp_path, 3_000), tmp_path / "starts", tmp_path / "out"
    archive = packed_python(tmp_path, starts)
    common: list[str | Path] = [QUERY, "--input", edges]
    alone = tmp_path / "alone.jsonl"
    subprocess.run(
        headrace("run", *common, "--engine", "local", "-o", alone), check=True, timeout=PATIENCE
    )
    environment = {**os.environ, "PYSPARK_PYTHON": "./environment/bin/python"}
    command = headrace("run", *common, "--parallelism", "2", "--largest-batch", "300", "-o", out)
    command += ["--master", cluster.master, "--conf", f"spark.archives={archive}#environment"]
    log = tmp_path / "run.log"
    with log.open("wb") as output:
        run = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        until(lambda: run.poll() is not None or list(out.glob("*.jsonl")), log.read_text)
        assert run.poll() is None, log.read_text()
        assert all(worker.executors() for worker in cluster.workers)
        before = len(list(out.glob("*.jsonl")))
        cluster.workers[0].kill()
        assert run.wait(PATIENCE) == 0, log.read_text()
    finally:
        run.kill()
        run.wait()
    assert len(list(out.glob("*.jsonl"))) > before, "the run ended before the worker was killed"
    assert validity(out.glob("*.jsonl")) == validity([alone]) != {}
    folders = set(starts.read_text().split())
    assert {f"worker-{n}" for n in range(2)} <= {part for f in folders for part in Path(f).parts}

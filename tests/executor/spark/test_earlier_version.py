"""A checkpoint of an earlier version continues.

``earlier/checkpoint.tar.gz`` is what commit 5764d18, whose folders were packages of their own, left
of a run that was killed after three micro-batches.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.catalog.edges import EdgeFile
from headrace.executor.local import Edge, run_plan
from headrace.executor.spark.checkpoint import checkpointed_plan
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import run
from tests.executor.spark.running import read_jsonl

EARLIER = Path(__file__).parent / "earlier"
PLACE = b"/tmp/oldck"
"""Where the run was made; Spark notes full paths."""
MADE_NS = 1_795_338_265_580_487_940
"""When its input was written, which its manifest holds."""


def moved(folder: Path) -> Path:
    """The output folder of that run, with the paths of this test."""
    with tarfile.open(EARLIER / "checkpoint.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    for file in folder.rglob("*"):
        if file.is_file() and PLACE in (content := file.read_bytes()):
            file.write_bytes(content.replace(PLACE, str(folder).encode()))
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    return folder / "out"


@pytest.mark.long
@pytest.mark.spark
def test_a_checkpoint_of_an_earlier_version_continues(spark: SparkSession, tmp_path: Path) -> None:
    tmp_path = Path(os.path.realpath(tmp_path))
    out = moved(tmp_path)
    input_ = tmp_path / "edges.csv"
    shutil.copyfile(EARLIER / "edges.csv", input_)
    os.utime(input_, ns=(MADE_NS, MADE_NS))
    before = {path.name: path.read_bytes() for path in out.glob("part-*")}
    plan = checkpointed_plan(out / "_headrace")
    assert plan is not None
    files = {"input": [EdgeFile(str(input_), time_unit=plan.time_unit)]}
    report = run(plan, files, ToFolder(out), spark=spark)
    assert len(before) == 3
    assert {name: (out / name).read_bytes() for name in before} == before
    found = read_jsonl(out)
    assert report.results == len(found)
    assert sorted(found) == sorted(run_plan(plan, edges(input_)))


def edges(path: Path) -> list[Edge]:
    """The edges of the input, in order."""
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    return [(src, trg, label, int(ts), "input") for src, trg, label, ts in rows]

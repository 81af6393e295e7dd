"""A run continues from every moment at which a kill can interrupt Spark's checkpoint writes.

The moments come from Spark itself: a run is recorded, its files are put in the order in which they
were written, and each prefix of that order is restored with the next file as Hadoop's file systems
leave it.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import pytest
from pyspark.sql import SparkSession

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.report import OnProgress, Progress, RunReport
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from headrace.executor.spark.state.unfinished import remove_unfinished
from tests.executor.spark.plans import csv_file, expected, random_edges, reach, snapshots
from tests.executor.spark.running import read_jsonl

PLAN = reach()
EDGES = random_edges(60, seed=3)
OPTIONS = RunOptions(largest_slice=20)
BATCHES = 2

Form = Literal["half written", "named before its checksums", "beside other checksums"]
"""The last of them is left where a file is written again, by a batch that is done again."""

IN_EACH_RUN: Final = ("offsets/0", ".changelog", "commits/0")
"""Files whose first half is tried in each run of the tests; the rest takes minutes."""


@dataclass(frozen=True)
class Recording:
    """A run of two batches, of which the second was interrupted when its results were out.

    Attributes:
        out: the output of the run.
        earlier: the files of ``out`` after the first batch.
        saved: the files of ``out`` after the second batch.
        written: the files of Spark's checkpoint in the order of writing.
    """

    out: Path
    earlier: Path
    saved: Path
    written: tuple[Path, ...]

    def restore(self, file: Path, form: Form) -> None:
        """Fills ``out`` with the files that a kill leaves while Spark writes ``file``."""
        shutil.rmtree(self.out, ignore_errors=True)
        moment = (self.saved / file).stat().st_mtime_ns
        for path in self.saved.rglob("*"):
            if path.is_file():
                self._copy_of(path.relative_to(self.saved), moment)
        left = self.out / file
        left.parent.mkdir(parents=True, exist_ok=True)
        checksums = left.with_name(f".{left.name}.crc")
        checksums.unlink(missing_ok=True)
        temporary = f".{left.name}.{uuid.uuid4()}.tmp"
        left.with_name(f".{temporary}.crc").write_bytes(b"crc\0")
        if form == "half written":
            data = (self.saved / file).read_bytes()
            left.with_name(temporary).write_bytes(data[: len(data) // 2])
        else:
            self._copy(file, self.saved)
        if form == "beside other checksums":
            checksums.write_bytes(b"crc\0\0\0\2\0" + os.urandom(4))

    def _copy_of(self, name: Path, moment: int) -> None:
        """Copies the version of a file that was there at a moment, if one was.

        The second batch replaces files of the first, such as the note of its reports.
        """
        for folder in (self.saved, self.earlier):
            if (folder / name).exists() and (folder / name).stat().st_mtime_ns < moment:
                self._copy(name, folder)
                return

    def _copy(self, name: Path, folder: Path) -> None:
        (self.out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / name, self.out / name)

    def goes_on(self, spark: SparkSession) -> None:
        """Checks that the run continues from ``out`` and gives each result once."""
        started(spark, self.out.parent)
        found = read_jsonl(self.out)
        assert snapshots(found) == snapshots(expected(PLAN, EDGES))
        assert len(found) == len(set(found))


def started(spark: SparkSession, folder: Path, on_progress: OnProgress | None = None) -> RunReport:
    inputs = {"input": [EdgeFile(str(folder / "in.csv"))]}
    output = ToFolder(folder / "out")
    return run(PLAN, inputs, output, OPTIONS, spark=spark, on_progress=on_progress)


@pytest.fixture(scope="module")
def recorded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("recorded")
    csv_file(folder / "in.csv", EDGES)
    out, earlier, saved = folder / "out", folder / "earlier", folder / "saved"

    def interrupt(progress: Progress) -> None:
        if progress.phase == "running" and progress.batch == 1:
            shutil.copytree(out, earlier)
        if progress.phase == "running" and progress.batch == BATCHES:
            raise CancelledError("interrupted")

    with pytest.raises(CancelledError):
        started(spark, folder, interrupt)
    shutil.copytree(out, saved)
    files = [path for path in (saved / "_headrace" / "spark").rglob("[!.]*") if path.is_file()]
    files.sort(key=lambda path: path.stat().st_mtime_ns)
    return Recording(out, earlier, saved, tuple(path.relative_to(saved) for path in files))


@pytest.mark.soak
@pytest.mark.spark
def test_every_kind_of_file_is_recorded(recorded: Recording) -> None:
    names = [str(path.relative_to("_headrace/spark")) for path in recorded.written]
    assert names.index("metadata") < names.index("offsets/0") < names.index("commits/0")
    assert {"sources/0/0", "offsets/1", "state/0/_metadata/v2/0"} <= set(names)
    assert any(name.startswith("state/0/_stateSchema/") for name in names)
    assert any(name.endswith(".changelog") for name in names)
    assert "commits/1" not in names


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("ending", IN_EACH_RUN)
def test_a_run_killed_while_spark_wrote_a_file_continues(
    spark: SparkSession, recorded: Recording, ending: str
) -> None:
    file = next(path for path in recorded.written if str(path).endswith(ending))
    recorded.restore(file, "half written")
    recorded.goes_on(spark)


@pytest.mark.soak
@pytest.mark.parametrize("form", get_args(Form))
def test_a_run_killed_while_spark_wrote_any_file_continues(
    spark: SparkSession, recorded: Recording, form: Form
) -> None:
    for file in recorded.written:
        if form != "beside other checksums" or "state" in file.parts:
            recorded.restore(file, form)
            recorded.goes_on(spark)


def names_in(folder: Path) -> Sequence[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_only_unfinished_files_are_removed(tmp_path: Path) -> None:
    kept = [
        ".metadata.crc",
        "metadata",
        "offsets/.0.crc",
        "offsets/0",
        "state/0/0/.1.changelog.crc",
        "state/0/0/1.changelog",
        "state/0/0/notes.tmp",
    ]
    left = [
        "offsets/.1.3f0c7a52-9d0e-4f3a-8a54-0b2f5a1c6d7e.tmp",
        "offsets/..1.3f0c7a52-9d0e-4f3a-8a54-0b2f5a1c6d7e.tmp.crc",
        "state/0/0/.2.changelog.3f0c7a52-9d0e-4f3a-8a54-0b2f5a1c6d7e.tmp",
    ]
    for name in (*kept, *left):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    remove_unfinished(tmp_path)
    assert names_in(tmp_path) == kept
    remove_unfinished(tmp_path / "nowhere")

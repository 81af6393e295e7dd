"""Only the query that a checkpoint or output belongs to can use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.spark import checkpoint as module
from headrace.executor.spark.checkpoint import (
    CheckpointDirectory,
    Manifest,
    checkpointed_plan,
    open_checkpoint,
)
from headrace.executor.spark.host.errors import ExecutionError, OtherQueryError, OutputError
from headrace.executor.spark.host.folders import remove_abandoned
from headrace.executor.spark.results.claims import check_lasting
from headrace.executor.spark.results.delivery import sink_of
from headrace.executor.spark.results.formats import ResultShape
from headrace.executor.spark.results.sinks import (
    Output,
    ToFile,
    ToFolder,
    ToFunction,
    ToStdout,
    output_of,
)
from tests.executor.spark.plans import reach


@contextmanager
def opened(
    output: Output,
    checkpoint: Path | None = None,
    plan: PhysicalPlan | None = None,
    output_name: str = "out",
) -> Iterator[CheckpointDirectory]:
    directory = open_checkpoint(Manifest(plan or reach(), output_name, 1), output, checkpoint)
    try:
        yield directory
    finally:
        directory.close()


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_same_query_continues_from_its_checkpoint(tmp_path: Path) -> None:
    output = ToFolder(tmp_path / "out")
    with opened(output) as directory:
        assert directory.fresh
        first = directory.id
    with opened(output) as directory:
        assert not directory.fresh
        assert (directory.id, directory.folder) == (first, tmp_path / "out" / "_headrace")


def test_a_checkpoint_keeps_its_plan(tmp_path: Path) -> None:
    assert checkpointed_plan(tmp_path / "ck") is None
    with opened(ToFolder(tmp_path / "out"), tmp_path / "ck"):
        assert checkpointed_plan(tmp_path / "ck") == reach()


@pytest.mark.parametrize(
    ("plan", "output_name", "what"),
    [(reach(99), "out", "another plan or query"), (reach(), "else", "another output")],
)
def test_another_query_is_refused_a_checkpoint(
    tmp_path: Path, plan: PhysicalPlan, output_name: str, what: str
) -> None:
    output = ToFolder(tmp_path / "out")
    with opened(output, tmp_path / "ck"):
        pass
    before = tree(tmp_path)
    with pytest.raises(OtherQueryError, match=what):
        open_checkpoint(Manifest(plan, output_name, 1), output, tmp_path / "ck")
    with pytest.raises(OtherQueryError, match="another parallelism: 1, not 2"):
        open_checkpoint(Manifest(reach(), "out", 2), output, tmp_path / "ck")
    assert tree(tmp_path) == before


def test_results_of_an_earlier_run_are_not_appended_to(tmp_path: Path) -> None:
    output = ToFolder(tmp_path / "out")
    with opened(output, tmp_path / "first"):
        (tmp_path / "out" / "part-0.jsonl").write_text("{}\n")
    before = tree(tmp_path)
    with pytest.raises(OtherQueryError, match="results of another query or of an earlier run"):
        open_checkpoint(Manifest(reach(), "out", 1), output, tmp_path / "second")
    with pytest.raises(OtherQueryError, match="results of another query or of an earlier run"):
        open_checkpoint(Manifest(reach(), "out", 1), output, None)
    assert tree(tmp_path) == before


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("42")
    before = tree(tmp_path)
    manifest = Manifest(reach(), "out", 1)
    with pytest.raises(OutputError, match="is not empty"):
        open_checkpoint(manifest, ToFolder(tmp_path / "out"), None)
    with pytest.raises(OtherQueryError, match="is not a checkpoint of Headrace"):
        open_checkpoint(manifest, ToFolder(tmp_path / "new"), tmp_path / "out")
    with pytest.raises(OutputError, match="is not a folder"):
        open_checkpoint(manifest, ToFolder(tmp_path / "out" / "thesis.tex"), None)
    with pytest.raises(OutputError, match="exists"):
        open_checkpoint(manifest, ToFile(tmp_path / "out" / "thesis.tex"), None)
    assert tree(tmp_path) == before


def test_an_empty_output_folder_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with opened(ToFolder(tmp_path / "out")) as directory:
        assert directory.fresh


def test_lost_results_are_detected(tmp_path: Path) -> None:
    output = ToFolder(tmp_path / "out")
    with opened(output, tmp_path / "ck") as directory:
        directory.spark.mkdir()
    for path in sorted((tmp_path / "out").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(OutputError, match="are missing"):
        open_checkpoint(Manifest(reach(), "out", 1), output, tmp_path / "ck")


@pytest.mark.parametrize(
    ("output", "left"),
    [
        (ToFolder(Path("out")), {"out/_headrace/query.json", "out/_headrace/owner.json"}),
        (ToFile(Path("out.jsonl")), set[str]()),
    ],
)
def test_the_end_of_a_run_leaves_only_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: Output, left: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(output) as directory:
        (directory.input).mkdir()
        (directory.input / "edges").write_text("many")
        directory.complete({"seconds": 1})
    assert set(tree(tmp_path)) - {"out/_headrace/lock"} == left
    if left:
        with opened(output) as directory:
            assert directory.report == {"seconds": 1}


def test_an_explicit_checkpoint_is_kept(tmp_path: Path) -> None:
    with opened(ToFile(tmp_path / "out.csv"), tmp_path / "ck") as directory:
        directory.spark.mkdir()
        (directory.spark / "offsets").write_text("1")
        directory.complete({"seconds": 1})
    assert (tmp_path / "ck" / "spark" / "offsets").exists()


@pytest.mark.parametrize("output", [ToStdout(), ToFunction(lambda batch, rows: None)])
def test_a_run_without_a_named_checkpoint_leaves_nothing(output: Output) -> None:
    with opened(output) as directory:
        (directory.folder / "input").mkdir()
    assert not directory.folder.exists()


def test_sweeping_spares_every_folder_that_a_user_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user names a folder as checkpoint or output, even like a temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for output, checkpoint in (
        (ToStdout(), tmp_path / "headrace-run-mine"),
        (ToFolder(tmp_path / "headrace-run-out"), tmp_path / "headrace-ck"),
        (ToFolder(tmp_path / "headrace-alone"), None),
    ):
        with opened(output, checkpoint):
            pass
    before = tree(tmp_path)
    for path in tmp_path.rglob("*"):
        os.utime(path, (time.time() - 7200,) * 2)
    remove_abandoned()
    assert tree(tmp_path) == before


def test_the_temporary_work_folder_of_a_killed_run_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    directory = open_checkpoint(Manifest(reach(), "-", 1), ToStdout(), None)
    remove_abandoned(time.time() + 3600)
    assert directory.folder.is_dir(), "it is in use"
    os.close(directory.lock)
    remove_abandoned(time.time() + 3600)
    assert not directory.folder.exists()


def test_a_temporary_folder_of_another_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opened(ToStdout()) as directory:
        before = tree(tmp_path)
        (tmp_path / "link").symlink_to(directory.folder)
        for place in (directory.folder, directory.folder / "new", tmp_path / "link"):
            with pytest.raises(OutputError, match="temporary folder of Headrace"):
                check_lasting(ToStdout(), place)
            with pytest.raises(OutputError, match="give another output"):
                check_lasting(ToFolder(place), None)
        check_lasting(ToFile(tmp_path / "new.csv"), tmp_path / "other")
        assert tree(directory.folder) == {
            str(Path(name).relative_to(directory.folder.name)): data
            for name, data in before.items()
        }


def test_a_start_killed_before_its_manifest_is_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "_headrace"
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    (folder / ".query.json.4711.tmp").write_text('{"ver')
    with opened(ToFolder(tmp_path / "out")) as directory:
        assert directory.fresh
    assert {path.name for path in folder.iterdir()} == {"lock", "query.json", "owner.json"}


def test_one_output_file_in_a_new_folder_outlives_its_run(tmp_path: Path) -> None:
    output = ToFile(tmp_path / "new" / "sub" / "out.csv")
    with opened(output) as directory:
        output.path.write_text("x,y\n")
        directory.complete({"seconds": 1})
    assert tree(tmp_path) == {"new/sub/out.csv": b"x,y\n"}


def test_a_continued_run_to_one_file_leaves_nothing(tmp_path: Path) -> None:
    output = ToFile(tmp_path / "out.csv")
    with opened(output) as directory:
        directory.input.mkdir()
    with opened(output) as directory:
        output.path.write_text("x,y\n")
        directory.complete({"seconds": 1})
    assert tree(tmp_path) == {"out.csv": b"x,y\n"}


@pytest.mark.parametrize("ended", [False, True])
def test_a_run_killed_after_its_file_appeared_continues(tmp_path: Path, ended: bool) -> None:
    output = ToFile(tmp_path / "out.csv", "csv")
    with opened(output) as directory:
        sink = sink_of(output, ResultShape.of(reach()), directory.folder)
        (tmp_path / ".out.csv.4711.tmp").write_text("half")
        sink.finish()
        if ended:
            directory._document["report"] = {"seconds": 1}
            directory._write()
        assert set(tree(tmp_path)) >= {"out.csv", "out.csv.headrace/query.json"}
        os.close(directory.lock)  # as a kill would
        with opened(output) as again:
            assert again.id == directory.id
            assert again.report == ({"seconds": 1} if ended else None)
            again.complete({"seconds": 1})
        directory.lock = os.open(os.devnull, os.O_RDONLY)
    assert set(tree(tmp_path)) == {"out.csv"}


def test_an_existing_output_file_is_not_replaced(tmp_path: Path) -> None:
    output = ToFile(tmp_path / "out.csv", "csv")
    with opened(output):
        pass
    output.path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        open_checkpoint(Manifest(reach(), "out", 1), output, None)
    assert output.path.read_text() == "mine"


@pytest.mark.parametrize("where", ["nowhere", "here"])
def test_a_failed_start_removes_the_folders_it_created(tmp_path: Path, where: str) -> None:
    if where == "here":
        (tmp_path / "a").mkdir()
        (tmp_path / "ck").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for checkpoint in (None, tmp_path / "ck"):
        with opened(ToFolder(tmp_path / "a" / "b" / "out"), checkpoint) as directory:
            directory.discard()
        left = [path for path in tmp_path.rglob("*") if path.name != "lock"]
        assert sorted(left) == before
        (tmp_path / "ck" / "lock").unlink(missing_ok=True)


def test_a_second_run_on_a_checkpoint_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.3)
    output = ToFolder(tmp_path / "out")
    with opened(output), pytest.raises(ExecutionError, match="Another run uses"):
        open_checkpoint(Manifest(reach(), "out", 1), output, None)


def test_a_start_waits_for_the_jvm_of_a_killed_run(tmp_path: Path) -> None:
    output = ToFolder(tmp_path / "out")
    directory = open_checkpoint(Manifest(reach(), "out", 1), output, None)
    sleeper = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(1)"], pass_fds=[directory.lock]
    )
    directory.close()
    with opened(output):
        assert sleeper.poll() is not None


def test_a_checkpoint_of_another_format_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ck").mkdir()
    (tmp_path / "ck" / "query.json").write_text(json.dumps({"version": 99}))
    with pytest.raises(OtherQueryError, match="version 99"):
        open_checkpoint(Manifest(reach(), "out", 1), ToFolder(tmp_path / "out"), tmp_path / "ck")


def test_a_torn_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ck").mkdir()
    (tmp_path / "ck" / "query.json").write_text('{"ver')
    with pytest.raises(ExecutionError, match="is damaged"):
        open_checkpoint(Manifest(reach(), "out", 1), ToFolder(tmp_path / "out"), tmp_path / "ck")


def test_output_names_choose_file_or_folder(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    assert output_of("-") == ToStdout("jsonl")
    assert output_of("-", "csv") == ToStdout("csv")
    assert output_of("a/b.CSV") == ToFile(Path("a/b.CSV"), "csv")
    assert output_of("a.jsonl", "csv") == ToFile(Path("a.jsonl"), "csv")
    assert output_of("results") == ToFolder(Path("results"), "jsonl")
    assert output_of("results", "parquet") == ToFolder(Path("results"), "parquet")
    assert output_of(str(tmp_path / "d.csv")) == ToFolder(tmp_path / "d.csv", "jsonl")
    with pytest.raises(OutputError, match="Parquet cannot go to standard output"):
        output_of("-", "parquet")

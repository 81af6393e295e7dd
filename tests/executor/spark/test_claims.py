"""An output belongs to one run, under all its names and with simultaneous starts."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.executor.spark import checkpoint as module
from headrace.executor.spark.checkpoint import CheckpointDirectory, Manifest, open_checkpoint
from headrace.executor.spark.host.errors import (
    DamagedError,
    ExecutionError,
    OtherQueryError,
    OutputError,
)
from headrace.executor.spark.host.files import read_sealed, write_sealed
from headrace.executor.spark.query import described
from headrace.executor.spark.results.delivery import WrittenFile, sink_of
from headrace.executor.spark.results.formats import ResultShape
from headrace.executor.spark.results.parts import Part
from headrace.executor.spark.results.sinks import Output, ToFile, ToFolder
from tests.executor.spark.plans import reach
from tests.executor.spark.shortage import read_only

PLAN = reach()
SHAPE = ResultShape.of(PLAN)


def opened(output: Output, checkpoint: Path | None = None) -> CheckpointDirectory:
    return open_checkpoint(Manifest(PLAN, described(output), 1), output, checkpoint)


def begun(output: Output, checkpoint: Path | None = None) -> CheckpointDirectory:
    """A run that ended at its first batch."""
    directory = opened(output, checkpoint)
    directory.spark.mkdir()
    directory.close()
    return directory


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder, with a link to it in the same parent."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "checkpoint"),
    [("link/out", "link/ck"), ("real/../real/out", "link/../real/ck"), ("link/out", "real/ck")],
)
def test_all_names_of_a_path_belong_to_one_run(place: Path, output: str, checkpoint: str) -> None:
    first = begun(ToFolder(place / "real/out"), place / "real/ck")
    again = opened(ToFolder(place / output), place / checkpoint)
    assert (again.id, again.folder) == (first.id, place / "real/ck")
    again.close()


def test_a_checkpoint_with_unresolved_names_continues(place: Path) -> None:
    first = begun(ToFolder(place / "link/out"), place / "link/ck")
    manifest = place / "real/ck/query.json"
    document = read_sealed(manifest)
    del document["folder"]
    document["output"] = f"{place / 'link/out'} (jsonl)"
    manifest.write_text(json.dumps(document, indent=1))
    again = opened(ToFolder(place / "link/out"), place / "link/ck")
    assert (again.id, again.folder) == (first.id, place / "link/ck"), "as Spark knows its files"
    again.close()


def test_a_moved_checkpoint_is_refused(place: Path) -> None:
    begun(ToFolder(place / "out"), place / "ck")
    (place / "ck").rename(place / "moved")
    with pytest.raises(OtherQueryError, match=r"ck; it has been moved or copied") as caught:
        opened(ToFolder(place / "out"), place / "moved")
    assert f"Move it back to {place / 'ck'}" in caught.value.hint


def test_dangling_links_are_refused(place: Path) -> None:
    (place / "out").symlink_to(place / "nowhere")
    (place / "out.jsonl").symlink_to(place / "nowhere.jsonl")
    for output in (ToFolder(place / "out"), ToFile(place / "out.jsonl")):
        with pytest.raises(OutputError, match=r"is a link to .*nowhere"):
            opened(output, place / "ck")
    assert sorted(p.name for p in place.iterdir()) == ["link", "out", "out.jsonl", "real"]


@pytest.mark.parametrize("planted", ["out/_headrace", "ck/input", "ck/spark", "ck/spark/state"])
def test_links_inside_our_folders_are_refused(place: Path, planted: str) -> None:
    (place / "real/input").mkdir()
    (place / "real/input/thesis.tex").write_text("42")
    output = ToFolder(place / "out")
    if planted.startswith("ck"):
        begun(output, place / "ck")
        if planted == "ck/spark":
            (place / "ck/spark").rmdir()
    else:
        (place / "out").mkdir()
    (place / planted).symlink_to(place / "real")
    with pytest.raises(ExecutionError, match=f"{planted} is a link"):
        opened(output, place / "ck" if planted.startswith("ck") else None)
    assert (place / "real/input/thesis.tex").read_text() == "42"


def test_a_link_in_place_of_a_result_is_not_followed(place: Path) -> None:
    directory = opened(ToFolder(place / "out"), place / "ck")
    sink = sink_of(ToFolder(place / "out"), SHAPE, directory.folder)
    part = Path(sink.spec.staging) / "1.part"
    part.write_text("a result\n")
    (place / "foreign").write_text("not ours")
    (place / "out/part-00000003-000.jsonl").symlink_to(place / "foreign")
    with pytest.raises(OutputError, match=r"part-00000003-000.jsonl is a link"):
        sink.deliver(3, [Part(str(part), 0, 1, 9)])
    (place / "out/part-00000003-000.jsonl").unlink()
    sink.deliver(3, [Part(str(part), 0, 1, 9)])
    assert (place / "out/part-00000003-000.jsonl").read_text() == "a result\n"
    assert (place / "foreign").read_text() == "not ours"
    directory.close()


def test_results_are_staged_on_the_file_system_of_the_output(place: Path) -> None:
    sink = sink_of(ToFolder(place / "out"), SHAPE, place / "ck")
    assert Path(sink.spec.staging).is_relative_to(place / "out/_headrace")


@pytest.mark.parametrize("inside", ["spark", "input/results", "staging", "parts"])
def test_an_output_in_a_folder_that_the_run_empties_is_refused(place: Path, inside: str) -> None:
    with pytest.raises(OutputError, match="which Headrace empties"):
        opened(ToFolder(place / "link/ck" / inside), place / "real/ck")
    assert not (place / "real/ck").exists()


def test_one_of_several_simultaneous_runs_gets_the_output(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.0)
    for turn in range(20):
        for own in (True, False):  # each with a checkpoint of its own, or all with one
            together = threading.Barrier(4)
            won: list[CheckpointDirectory] = []
            refused: list[ExecutionError] = []
            folder = place / f"{turn}-{own}"

            def start(number: int, folder: Path = folder, own: bool = own) -> None:
                together.wait()  # noqa: B023
                try:
                    checkpoint = folder.with_name(f"{folder.name}-ck{number if own else ''}")
                    won.append(opened(ToFolder(folder), checkpoint))  # noqa: B023
                except ExecutionError as error:
                    refused.append(error)  # noqa: B023

            threads = [threading.Thread(target=start, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(won) == 1, [str(error) for error in refused]
            assert len(refused) == 3
            note = read_sealed(folder / "_headrace/owner.json")
            assert note["id"] == read_sealed(won[0].folder / "query.json")["id"] == won[0].id
            won[0].close()


def test_a_run_that_waited_for_another_rereads_the_checkpoint(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run had checked the checkpoint before, when there was none."""
    output, waited = ToFolder(place / "out"), module._locked
    before: list[CheckpointDirectory] = []

    def locked(folder: Path) -> int:
        monkeypatch.setattr(module, "_locked", waited)
        before.append(begun(output, place / "ck"))  # another run comes and goes
        return waited(folder)

    monkeypatch.setattr(module, "_locked", locked)
    directory = opened(output, place / "ck")
    assert not directory.fresh
    assert directory.id == before[0].id
    directory.close()


def test_a_file_created_during_the_run_is_not_replaced(place: Path) -> None:
    output = ToFile(place / "out.jsonl")
    directory = opened(output, place / "ck")
    sink = sink_of(output, SHAPE, directory.folder)
    part = Path(sink.spec.staging) / "1.part"
    part.write_text("ours\n")
    sink.deliver(0, [Part(str(part), 0, 1, 5)])
    (place / "out.jsonl").write_text("of another run\n")
    with pytest.raises(OutputError, match="was made by something else while this ran"):
        sink.finish()
    assert (place / "out.jsonl").read_text() == "of another run\n"
    directory.close()
    (place / "out.jsonl").unlink()
    again = opened(output, place / "ck")
    sink_of(output, SHAPE, again.folder).finish()
    assert (place / "out.jsonl").read_text() == "ours\n"
    again.close()


def test_a_run_killed_after_it_recorded_its_file_ends(place: Path) -> None:
    output = ToFile(place / "out.jsonl")
    directory = opened(output)
    sink_of(output, SHAPE, directory.folder).finish()
    directory.close()  # and no report was written
    again = opened(output)
    assert WrittenFile(again.folder).is_at(place / "out.jsonl")
    sink_of(output, SHAPE, again.folder).finish()
    again.complete({"seconds": 1})
    again.close()
    assert [p.name for p in place.glob("out.jsonl*")] == ["out.jsonl"]


def test_damaged_parts_do_not_reach_the_output_file(place: Path) -> None:
    output = ToFile(place / "out.jsonl")
    directory = opened(output)
    sink = sink_of(output, SHAPE, directory.folder)
    for batch in range(3):
        for _ in range(2):  # a batch that is run again, too
            part = Path(sink.spec.staging) / f"{batch}.part"
            part.write_text(f"result {batch}\n")
            sink.deliver(batch, [Part(str(part), 0, 1, 9)])
    (damaged,) = (directory.folder / "parts").glob("part-00000001-*")
    damaged.write_text("result 7\n")
    with pytest.raises(DamagedError, match=f"{damaged} is damaged"):
        sink.finish()
    assert not (place / "out.jsonl").exists()
    damaged.write_text("result 1\n")
    sink.finish()
    assert (place / "out.jsonl").read_text() == "result 0\nresult 1\nresult 2\n"
    directory.close()


def test_the_end_of_a_run_removes_no_results(place: Path) -> None:
    """The run created the folder of the file, and the folders above."""
    output = ToFile(place / "new/folder/out.jsonl")
    directory = opened(output)
    sink_of(output, SHAPE, directory.folder).finish()
    directory.complete({"seconds": 1})
    directory.close()
    assert [p.name for p in (place / "new/folder").iterdir()] == ["out.jsonl"]


def test_a_damaged_owner_note_is_refused(place: Path) -> None:
    begun(ToFolder(place / "out"), place / "ck")
    (place / "out/_headrace/owner.json").write_text("{}")
    with pytest.raises(DamagedError, match=r"owner\.json is damaged"):
        opened(ToFolder(place / "out"), place / "ck")


def test_a_damaged_manifest_is_refused(place: Path) -> None:
    begun(ToFolder(place / "out"), place / "ck")
    manifest = place / "ck/query.json"
    manifest.write_text(manifest.read_text().replace('"parallelism": 1', '"parallelism": 3'))
    with pytest.raises(DamagedError, match=r"query\.json is damaged"):
        opened(ToFolder(place / "out"), place / "ck")
    write_sealed(manifest, {"version": 1})
    with pytest.raises(DamagedError, match=r"query\.json is damaged"):
        opened(ToFolder(place / "out"), place / "ck")


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that a user without rights can read."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["results", "results.jsonl"])
@pytest.mark.parametrize("where", ["output", "checkpoint"])
def test_an_unwritable_path_is_refused(open_to_all: Path, name: str, where: str) -> None:
    folder = open_to_all / "kept"
    folder.mkdir()
    output, checkpoint = open_to_all / name, open_to_all / "ck"
    if where == "output":
        output = folder / name
    else:
        checkpoint = folder / "ck"
    kind = ToFile if name.endswith("jsonl") else ToFolder
    with (
        read_only(folder),
        pytest.raises(OutputError, match="kept cannot be written to: permission denied"),
    ):
        opened(kind(output), checkpoint)
    assert sorted(os.listdir(open_to_all)) == ["kept"]
    assert not list(folder.iterdir())

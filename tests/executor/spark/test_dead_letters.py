"""Dead-letter files of a run that never ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.api.service import dead_letters
from headrace.api.service.query_folder import QueryFolder
from headrace.executor.spark.host.errors import DamagedError, StorageError
from headrace.executor.spark.results.dead_letters import Growing, segments
from tests.strategies.amount import examples

MOST = 400


def added(growing: Growing, folder: Path, batch: int, *numbers: int) -> None:
    """The dead letters of a batch, in two parts."""
    folder.mkdir(parents=True, exist_ok=True)
    half = len(numbers) // 2
    for part, some in enumerate((numbers[:half], numbers[half:])):
        lines = "".join(json.dumps({"n": n}) + "\n" for n in some)
        (folder / f"late-{batch:08}-{part}.jsonl").write_text(lines)
    growing.add(batch)


def numbers(path: Path) -> list[int]:
    return [
        json.loads(line)["n"]
        for _, file in segments(path)
        for line in file.read_text().splitlines()
    ]


def test_without_a_limit_all_lines_are_in_one_file(tmp_path: Path) -> None:
    path, folder = tmp_path / "late.jsonl", tmp_path / "parts"
    growing = Growing(path, folder)
    for batch in range(100):
        added(growing, folder, batch, batch)
    assert segments(path) == [(0, path)]
    assert numbers(path) == list(range(100))
    assert growing.lines == 100


def test_a_rotated_file_is_left_alone(tmp_path: Path) -> None:
    """A file with the log's name and a number, as logrotate makes, is not part of the log."""
    path, folder = tmp_path / "late.jsonl", tmp_path / "parts"
    added(Growing(path, folder), folder, 0, *range(9))
    aside = path.rename(tmp_path / "late.jsonl.1")
    growing = Growing(path, folder)
    added(growing, folder, 1, 9)
    assert aside.read_text().count("\n") == 9
    assert numbers(path) == [9]
    assert growing.lines == 10


def test_the_oldest_files_are_removed_and_positions_stay(tmp_path: Path) -> None:
    query = QueryFolder(tmp_path)
    folder = tmp_path / "parts"
    growing = Growing(query.rejected, folder, MOST)
    added(growing, folder, 0, 0, 1)
    first = dead_letters.page(query, "0", 1)
    assert [item["n"] for item in first["items"]] == [0]
    for batch in range(1, 100):
        added(growing, folder, batch, batch + 1)
        kept = numbers(query.rejected)
        assert kept == list(range(kept[0], batch + 2))
        assert sum(file.stat().st_size for _, file in segments(query.rejected)) <= MOST
    assert growing.lines == 101
    assert len(kept) > 30
    rest = dead_letters.page(query, first["next"], 1_000)
    assert [item["n"] for item in rest["items"]] == kept
    assert dead_letters.page(query, rest["next"], 1_000) == {"items": [], "next": rest["next"]}


class Dying(Growing):
    """A log whose process dies right after it has written the note."""

    def _prune(self) -> None:
        """Does nothing: the process is dead."""


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(["", "before the note", "after it"])),
        max_size=12,
    ),
    st.sampled_from([None, 60, 200]),
)
@examples(100)
def test_each_line_is_written_once_after_a_kill_anywhere(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[int, str]],
    most: int | None,
) -> None:
    """Spark runs the killed batch again."""
    home = tmp_path_factory.mktemp("killed")
    path, folder = home / "late.jsonl", home / "parts"
    growing, count = Growing(path, folder, most), 0
    for batch, (lines, killed) in enumerate(batches):
        note = folder / "added.json"
        before = note.read_bytes() if note.exists() else None
        growing = Dying(path, folder, most) if killed == "before the note" else growing
        added(growing, folder, batch, *range(count, count + lines))
        if killed == "before the note":
            if before is None:
                note.unlink(missing_ok=True)
            else:
                note.write_bytes(before)
        if killed:
            growing = Growing(path, folder, most)
            added(growing, folder, batch, *range(count, count + lines))
        count += lines
        assert growing.lines == count
        found = numbers(path)
        assert found == list(range(count - len(found), count))
        assert most is not None or len(found) == count
        assert not any(folder.glob("*.jsonl"))


@pytest.mark.parametrize("name", ["late.jsonl", "late.jsonl.000000000000000003"])
def test_links_are_not_followed(tmp_path: Path, name: str) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("not ours\n")
    growing = Growing(tmp_path / "late.jsonl", tmp_path / "parts")
    (tmp_path / name).symlink_to(foreign)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/late-00000000.jsonl").write_text("{}\n")
    with pytest.raises(StorageError, match=f"{name} is a link"):
        growing.add(0)
    (tmp_path / "parts/added.json").write_text('{"batch": 3, "bytes": 4, "lines": 1}')
    with pytest.raises(StorageError, match=f"{name} is a link"):
        Growing(tmp_path / "late.jsonl", tmp_path / "parts")
    assert foreign.read_text() == "not ours\n"


def test_a_damaged_note_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    growing = Growing(tmp_path / "late.jsonl", folder)
    added(growing, folder, 0, 1, 2, 3)
    note = folder / "added.json"
    note.write_bytes(note.read_bytes().replace(b'"bytes": ', b'"bytes": 1'))
    before = (tmp_path / "late.jsonl").read_bytes()
    with pytest.raises(DamagedError, match=r"added\.json is damaged"):
        Growing(tmp_path / "late.jsonl", folder)
    assert (tmp_path / "late.jsonl").read_bytes() == before

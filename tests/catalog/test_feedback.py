"""The file of measured figures: means by age, bounds, damage, and several writers."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.catalog import feedback, load, loads
from headrace.catalog.feedback import (
    DAY,
    HALF_LIFE,
    LONGEST_AGE,
    FeedbackFileError,
    feedback_file,
    newest,
    read,
    write,
)
from headrace.catalog.figures import Observation
from headrace.catalog.model import Source, Stream
from tests.api.command import CATALOG, ROOT, environment

NOW = 1_800_000_000.0
SEEN = Observation("i", "s", "distinct", 2.0, 10.0, 3.0, "S_PATH")
KEY = ("i", "s")
TEXT = """
streams:
  rows:
    source: {format: csv, path: data/rows.csv}
    labels: {a: {rate: 1, distinct_src: 2, distinct_trg: 2}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.measured.sqlite"


def test_newer_runs_weigh_more(path: Path) -> None:
    assert read(path, NOW) == {}
    write(path, "old", [replace(SEEN, rate=8.0)], NOW - HALF_LIFE)
    write(path, "new", [SEEN], NOW)
    distinct = read(path, NOW)[KEY].distinct
    assert distinct is not None
    assert distinct.rate == pytest.approx((2.0 + 8.0 / 2) / 1.5)
    assert (distinct.population, distinct.runs, distinct.at) == (10.0, 2, NOW)
    assert read(path, NOW)[KEY].derived is None


def test_old_runs_are_not_read_and_the_next_write_drops_them(path: Path) -> None:
    write(path, "old", [SEEN], NOW)
    later = NOW + LONGEST_AGE - 1
    assert read(path, later)[KEY].age == LONGEST_AGE - 1
    assert read(path, later + 1) == {}
    write(path, "new", [replace(SEEN, identity="j")], later + 1)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT identity FROM figures").fetchall() == [("j",)]


def test_a_run_replaces_its_earlier_figures(path: Path) -> None:
    for k in range(3):
        write(path, "run", [replace(SEEN, rate=float(k), population=None)], NOW + k)
    (figures,) = read(path, NOW + 9).values()
    assert figures.distinct is not None
    assert (figures.distinct.rate, figures.distinct.runs) == (2.0, 1)
    assert figures.distinct.population is None
    assert newest(path) == NOW + 2


def test_the_numbers_of_runs_and_of_rows_are_bounded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback, "MOST_RUNS", 3)
    monkeypatch.setattr(feedback, "MOST_ROWS", 5)
    for k in range(6):
        write(path, f"run {k}", [SEEN], NOW + k)
    distinct = read(path, NOW + 9)[KEY].distinct
    assert distinct is not None
    assert distinct.runs == 3
    write(path, "more", [replace(SEEN, identity=f"i{k}") for k in range(9)], NOW + DAY)
    assert len(read(path, NOW + DAY)) == 5


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + bytes(90)])
def test_a_damaged_file_is_an_error_that_names_it(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FeedbackFileError, match=r"c\.measured\.sqlite"):
        read(path, NOW)
    with pytest.raises(FeedbackFileError, match=r"c\.measured\.sqlite"):
        write(path, "run", [SEEN], NOW)
    assert newest(path) == 0.0
    assert path.read_bytes() == content


def test_a_file_of_another_version_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(FeedbackFileError, match="another version"):
        write(path, "run", [SEEN], NOW)


def test_wrong_numbers_in_the_file_are_not_read(path: Path) -> None:
    write(path, "run", [SEEN, replace(SEEN, identity="j")], NOW)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE figures SET rate = -1.0 WHERE identity = 'i'")
        connection.execute("UPDATE figures SET population = 'many' WHERE identity = 'j'")
    assert read(path, NOW) == {}


def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from headrace.catalog.feedback import write\n"
        "from headrace.catalog.figures import Observation\n"
        "for k in range(20):\n"
        "    seen = Observation(f'{sys.argv[2]} {k}', 's', 'distinct', 1.0, 1.0, 1.0, 'S_PATH')\n"
        f"    write(Path(sys.argv[1]), sys.argv[2], [seen], {NOW})\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, path, name], env=environment(), cwd=ROOT)
        for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(read(path, NOW)) == 40


def test_the_source_of_a_relation_changes_with_the_declaration_and_not_with_statistics(
    tmp_path: Path,
) -> None:
    scans = frozenset({("rows", "a", 10, 1)})
    catalog = loads(TEXT)
    stream = catalog.streams["rows"]

    def source(stream: Stream, **fields: Any) -> str | None:
        changed = replace(catalog, streams={"rows": stream}, **fields)
        return feedback_file(changed, tmp_path / "c").source_of(scans)

    same = source(stream)
    assert same is not None
    assert source(replace(stream, labels={})) == same
    different = [
        source(replace(stream, source=Source("csv", ("data/other.csv",)))),
        source(replace(stream, label="a")),
        source(replace(stream, properties={"p": "string"})),
        source(stream, time_unit="hour"),
        feedback_file(catalog, tmp_path / "c").over(["other.csv"]).source_of(scans),
        feedback_file(catalog, tmp_path / "c").source_of(frozenset({("rows", "a", 9, 1)})),
    ]
    assert len({same, *different}) == 1 + len(different)
    assert feedback_file(catalog, tmp_path).source_of(frozenset({("gone", "a", 9, 1)})) is None


def test_a_folder_with_its_catalog_can_be_moved(tmp_path: Path) -> None:
    scans = frozenset({("rows", "a", 10, 1)})
    sources = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.yaml").write_text(TEXT)
        loaded = load(tmp_path / name / "c.yaml").feedback
        assert loaded is not None
        assert loaded.path == tmp_path / name / "c.measured.sqlite"
        sources.add(loaded.source_of(scans))
    assert len(sources) == 1


def test_bundled_catalogs_keep_no_figures() -> None:
    assert load(CATALOG).feedback is None

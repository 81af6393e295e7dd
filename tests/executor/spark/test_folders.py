"""Folders of killed runs are removed, and no others."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from headrace.executor.spark.host.folders import MARK, own_folder, remove_abandoned


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parent of temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_by_a_killed_run(place: Path, name: str, lock: str) -> Path:
    folder = place / name
    (folder / "local").mkdir(parents=True)
    (folder / lock).touch()
    long_ago = time.time() - 3600
    os.utime(folder / lock, (long_ago, long_ago))
    return folder


def test_a_folder_is_removed_at_the_end(place: Path) -> None:
    def fail() -> None:
        with own_folder() as (folder, _):
            (folder / "spark.log").touch()
            raise RuntimeError("it fails")

    with pytest.raises(RuntimeError, match="it fails"):
        fail()
    assert not list(place.iterdir())


def test_the_next_run_removes_folders_of_killed_runs(place: Path) -> None:
    left_by_a_killed_run(place, "headrace-abc", MARK)
    with own_folder() as (folder, _):
        assert list(place.iterdir()) == [folder]


def test_folders_in_use_stay(place: Path) -> None:
    with own_folder() as (folder, _):
        remove_abandoned(time.time() + 3600)
        assert folder.is_dir()


def test_folders_of_others_stay(place: Path) -> None:
    checkpoint = left_by_a_killed_run(place, "headrace-run-abc", "lock")
    session = left_by_a_killed_run(place, "headrace-abc", "session.lock")
    other = left_by_a_killed_run(place, "other", MARK)
    young = place / "headrace-young"
    young.mkdir()
    (young / MARK).touch()
    link = place / "headrace-link"
    link.symlink_to(left_by_a_killed_run(place, "elsewhere", MARK))
    remove_abandoned()
    assert all(folder.is_dir() for folder in (checkpoint, session, other, young, link))

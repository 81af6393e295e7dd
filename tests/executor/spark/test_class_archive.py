"""The JVM starts with an archive of its classes, and starts whatever the archive is like."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from headrace.executor.spark.session import class_archive
from headrace.executor.spark.session.class_archive import FastStart, fast_start
from headrace.executor.spark.session.jvm import find_java
from tests.executor.spark.plans import csv_file, random_edges
from tests.executor.spark.running import read_jsonl

QUERY = "Answer(x, z) <- a(x, y), b(y, z). WINDOW 12 SLIDE 3"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the user."""
    monkeypatch.setattr(class_archive, "user_cache_path", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / "headrace" / "spark-classes"


def prepared(folder: Path, settings: Mapping[str, str] | None = None) -> FastStart | None:
    return fast_start(find_java(), settings or {}, folder)


def command_of(start: FastStart) -> list[str]:
    script = (start.home / "bin" / "spark-submit").read_text()
    return shlex.split(script.splitlines()[-1])


def test_the_class_path_names_each_jar_and_no_folder(cache: Path, tmp_path: Path) -> None:
    start = prepared(tmp_path / "session", {"spark.driver.memory": "3g"})
    assert start is not None
    command = command_of(start)
    entries = command[command.index("-cp") + 1].split(os.pathsep)
    assert len(entries) == len(set(entries)) > 200
    assert all(Path(entry).is_file() for entry in entries)
    assert "-Xmx3g" in command
    assert "-Xmx1g" not in command
    assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in command
    start.finish()


def test_the_first_process_records_and_later_ones_use_the_archive(
    cache: Path, tmp_path: Path
) -> None:
    first, second = prepared(tmp_path / "1"), prepared(tmp_path / "2")
    assert first is not None
    assert second is not None
    assert first.recorded is not None
    assert second.recorded is None  # the first has the lock
    first.recorded.write_bytes(b"classes")
    first.finish()
    third = prepared(tmp_path / "3")
    assert third is not None
    assert third.recorded is None
    assert third.archive is not None
    assert third.archive.read_bytes() == b"classes"
    assert f"-XX:SharedArchiveFile={third.archive}" in command_of(third)
    third.archive.write_bytes(b"class")  # cut off by a full disk
    fourth = prepared(tmp_path / "4")
    assert fourth is not None
    assert fourth.archive is None
    assert fourth.recorded is not None
    fourth.finish()


def test_a_service_does_not_record(cache: Path, tmp_path: Path) -> None:
    start = fast_start(find_java(), {}, tmp_path / "session", records=False)
    assert start is not None
    assert start.recorded is None
    assert "-XX:+RecordDynamicDumpInfo" not in command_of(start)


@pytest.mark.parametrize("setting", ["spark.driver.extraClassPath", "HADOOP_CONF_DIR"])
def test_another_class_path_is_left_to_sparks_script(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    if setting.startswith("spark"):
        assert prepared(tmp_path, {setting: "/jars/mine.jar"}) is None
    else:
        monkeypatch.setenv(setting, str(tmp_path))
        assert prepared(tmp_path) is None


def test_a_cache_that_others_can_write_to_is_not_used(cache: Path, tmp_path: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert prepared(tmp_path / "session") is None


def test_only_the_latest_archives_are_kept(cache: Path, tmp_path: Path) -> None:
    for number in range(5):
        old = cache / f"{number:016}"
        old.mkdir(0o700, parents=True)
        os.utime(old, (number, number))
    cache.chmod(0o700)
    start = prepared(tmp_path / "session")
    assert start is not None
    start.finish()
    assert {other.name for other in cache.iterdir()} == {
        f"{3:016}", f"{4:016}", start.folder.name
    }  # fmt: skip


def _run(folder: Path, cache: Path, number: int) -> str:
    """Runs a query in a process of its own; returns the names of the classes from an archive."""
    log = folder / f"classes-{number}"
    done = subprocess.run(
        [
            sys.executable, "-m", "headrace", "run", QUERY, "--input", str(folder / "in.csv"),
            "--output", str(folder / f"out-{number}"),
            "--conf", f"spark.driver.extraJavaOptions=-Xlog:class+load:file={log}",
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return "\n".join(line for line in log.read_text().splitlines() if "shared objects" in line)


@pytest.mark.soak
@pytest.mark.spark
def test_a_second_run_takes_sparks_classes_from_the_archive(tmp_path: Path) -> None:
    csv_file(tmp_path / "in.csv", random_edges(40))
    of_spark = "org.apache.spark.sql.execution.streaming"
    assert of_spark not in _run(tmp_path, tmp_path / "cache", 1)
    (archive,) = (tmp_path / "cache").rglob("classes-*.jsa")
    assert of_spark in _run(tmp_path, tmp_path / "cache", 2)
    # Of the right size, but no archive.
    size = archive.stat().st_size
    archive.unlink()
    archive.write_bytes(b"no archive"[:size].ljust(size, b"x"))
    assert of_spark not in _run(tmp_path, tmp_path / "cache", 3)
    expected, *others = (read_jsonl(tmp_path / f"out-{number}") for number in (1, 2, 3))
    assert expected
    assert all(sorted(other) == sorted(expected) for other in others)

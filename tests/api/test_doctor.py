"""`headrace doctor` names what is wrong on a machine, and what to do."""

from __future__ import annotations

import json
import resource
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.api.doctor import machine, places, software
from headrace.catalog import sample
from headrace.documents.checks import CheckDocument, ChecksDocument
from headrace.executor.kernels import compiling
from tests.api.command import CATALOG, Commands
from tests.executor.spark.test_jvm import java


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@pytest.fixture
def _caches_anew() -> Iterator[None]:
    compiling.code_folder.cache_clear()
    yield
    compiling.code_folder.cache_clear()


def _package(folder: Path, name: str, release: str) -> Path:
    """Installs the metadata of a release, which shadows the installed one."""
    own = folder / f"{name}-{release}.dist-info"
    own.mkdir()
    (own / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
    return folder


def test_this_machine_has_everything_necessary(headrace: Commands, free_port: int) -> None:
    done = headrace("doctor", "--format", "json", "--port", str(free_port), "--catalog", CATALOG)
    document = ChecksDocument.model_validate(json.loads(done.out))
    assert (done.code, document.ok) == (0, True)
    checks = {check.name: check for check in document.checks}
    assert [*checks][:4] == ["Python", "libraries", "Java", "Spark"]
    for name in ("Python", "libraries", "Java", "Spark", "catalog", "port", "limits"):
        assert checks[name].status == "ok", checks[name]
    assert sys.prefix in checks["Python"].found
    assert str(free_port) in checks["port"].found


def test_a_missing_part_ends_the_command_with_exit_code_1(
    headrace: Commands, tmp_path: Path, free_port: int
) -> None:
    file = tmp_path / "file"
    file.touch()
    done = headrace("doctor", "--port", str(free_port), "--output", file / "results")
    assert done.code == 1
    assert f"missing  results          {file} is not a folder\n" in done.out
    assert "→ make it writable, or let --output and --checkpoint name another" in done.out
    assert done.out.endswith("missing, and necessary: results\n")


def test_a_used_port_is_a_warning() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = machine.port(listening.getsockname()[1])
    assert (found.status, found.necessary) == ("warning", False)
    assert "Address already in use" in found.found
    assert "--port 0" in (found.advice or "")


@pytest.mark.parametrize("version", ["1.8.0_412", "nonsense"])
def test_a_java_home_that_spark_cannot_use_is_a_warning(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java(tmp_path / "old", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = software.java()
    assert found.status == "warning"
    assert f"JAVA_HOME={home} has no Java 17 or newer" in found.found


def test_without_any_java_each_place_has_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("headrace.executor.spark.session.jvm.util.find_spec", lambda name: None)
    found = software.java()
    assert (found.status, found.necessary) == ("missing", True)
    assert "java is version 11" in found.found
    assert "PATH: no java" in found.found
    assert "run --engine local" in (found.advice or "")


def test_a_spark_of_another_version_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(_package(tmp_path, "pyspark", "3.5.1"))
    found = software.spark()
    assert (found.status, found.necessary) == ("missing", True)
    assert "PySpark 3.5.1" in found.found
    assert "Headrace needs <4.4,>=4.3" in found.found


def test_a_library_of_another_version_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(_package(tmp_path, "numpy", "1.26.0"))
    found = software.libraries()
    assert found.status == "warning"
    assert found.found == "numpy 1.26.0 (needs >=2.0)"


def test_the_connector_of_kafka_is_found_where_spark_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    absent = software.kafka()
    assert (absent.status, absent.necessary) == ("missing", False)
    assert "--conf spark.jars=FILE" in (absent.advice or "")
    release = absent.found.split()[4]
    jar = tmp_path / ".ivy2.5.2" / "jars"
    jar.mkdir(parents=True)
    (jar / f"org.apache.spark_spark-sql-kafka-0-10_2.13-{release}.jar").touch()
    assert software.kafka().status == "ok"


@pytest.mark.usefixtures("_caches_anew")
def test_a_kernel_cache_that_cannot_be_written_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = tmp_path / "file"
    chosen.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(chosen))
    found = places.kernel_cache()
    assert found.status == "warning"
    assert f"NUMBA_CACHE_DIR={chosen} cannot be written" in found.found


@pytest.mark.usefixtures("_caches_anew")
def test_an_empty_kernel_cache_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = compiling.code_folder()
    for file in folder.iterdir():  # machine code that was copied from beside the sources
        file.unlink()
    found = places.kernel_cache()
    assert (found.status, found.found) == ("warning", f"{folder}, empty")
    assert "headrace warm" in (found.advice or "")


def test_an_archive_that_others_can_write_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert places.class_archive().found.endswith("made by the first run on Spark")
    folder = tmp_path / "headrace" / "spark-classes"
    (folder / "0123").mkdir(parents=True)
    (folder / "0123" / "classes-5.jsa").write_bytes(b"12345")
    folder.chmod(0o700)
    assert places.class_archive().found == f"{folder}, 1 archive, 0 kB"
    folder.chmod(0o777)
    found = places.class_archive()
    assert found.status == "warning"
    assert f"chmod go-w {folder}" in (found.advice or "")


def test_damaged_constants_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert places.constants().status == "ok"
    (tmp_path / "constants.json").write_text("{")
    found = places.constants()
    assert found.status == "missing"
    assert str(tmp_path / "constants.json") in found.found


def test_the_files_beside_a_catalog_are_read(headrace: Commands, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    edges = tmp_path / "edges.csv"
    edges.write_text("src,trg,label,ts\n" + "".join(f"{k},{k + 1},a,{k}\n" for k in range(20)))
    assert headrace("stats", "--input", edges, "--out", catalog).code == 0

    def found() -> dict[str, CheckDocument]:
        return {check.name: check for check in places.beside_catalog(catalog)}

    assert {check.status for check in found().values()} == {"ok"}
    assert found()["measured figures"].found.endswith("of 0 relations")
    with (tmp_path / "catalog.sample.npz").open("ab") as file:
        file.write(b"more")
    sample.read.cache_clear()  # each command is a new process
    (tmp_path / "catalog.measured.sqlite").write_text("no database")
    damaged = found()
    assert damaged["samples"].status == "warning"
    assert "headrace stats --out" in (damaged["samples"].advice or "")
    assert damaged["measured figures"].status == "warning"
    catalog.write_text("streams: [")
    assert [(c.name, c.status) for c in found().values()] == [("catalog", "missing")]


def test_a_low_limit_on_open_files_is_missing() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500, hard))
    try:
        found = machine.limits()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found.status == "missing"
    assert "500 files (ulimit -n)" in found.found


def test_free_space_is_that_of_the_disk(tmp_path: Path) -> None:
    found = places.free_space("results", tmp_path / "later" / "results", "--output")
    free = shutil.disk_usage(tmp_path).free / 1e9
    assert found.found.startswith(f"{tmp_path / 'later' / 'results'}, ")
    assert (found.status == "ok") == (free >= 1)
    assert not (tmp_path / "later").exists()


def test_a_folder_that_cannot_be_written_is_named() -> None:
    found = places.free_space("results", Path("/proc"), "--output")
    assert found.status == "missing"
    assert found.found.startswith("/proc cannot be written: ")

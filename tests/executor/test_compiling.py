"""The cache of machine code: its folder, its version, and one compilation for all processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.executor.kernels import compiling
from headrace.executor.kernels.compiling import code_folder, version

SMALL = """
import sys
sys.path.insert(0, {root!r})
from kernels_copy import compiling, small
assert small.twice(21) == 42
cache = small.twice._cache
print(cache.compiled, cache.loaded, compiling.code_folder())
"""
KERNEL = """
from kernels_copy.compiling import kernel
@kernel
def twice(number: int) -> int:
    return number * 2
"""

COLD_RUN = """
from headrace.executor.kernels.compiling import seconds_compiling
from tests.executor.test_counters import PLANS, ran
run, _ = ran(PLANS["coalesced"], [("x", "y", "a", 1)], 1)
print(sum(work.seconds for work in run.counters.values()), seconds_compiling())
"""


class Copy:
    """The module beside a kernel of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "code"
        self.home = folder / "home"
        self.tmp = folder / "tmp"
        self.package = self.root / "kernels_copy"
        self.beside = self.package / "__pycache__"
        for path in (self.package, self.home, self.tmp):
            path.mkdir(parents=True)
        (self.package / "__init__.py").touch()
        (self.package / "compiling.py").write_bytes(Path(compiling.__file__).read_bytes())
        (self.package / "small.py").write_text(KERNEL)

    def start(self, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-B", "-c", SMALL.format(root=str(self.root))],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "TMPDIR": str(self.tmp),
                **environment,
            },
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, **environment: str) -> tuple[int, int, Path]:
        """How many kernels were compiled and how many loaded, and where they are kept."""
        return told(self.start(**environment))


def told(process: subprocess.Popen[str]) -> tuple[int, int, Path]:
    text, _ = process.communicate()
    assert process.returncode == 0
    compiled, loaded, folder = text.split()
    return int(compiled), int(loaded), Path(folder)


def close(folder: Path) -> None:
    """Has a folder refuse files to every user, root among them."""
    if folder.is_dir():
        folder.rmdir()
    folder.write_text("no folder")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_code_is_cached_in_the_first_writable_folder(copy: Copy, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    assert copy.run(NUMBA_CACHE_DIR=str(chosen))[:2] == (1, 0)
    compiled, loaded, folder = copy.run(NUMBA_CACHE_DIR=str(chosen))
    assert (compiled, loaded) == (0, 1)
    assert folder.is_relative_to(chosen)

    assert copy.run()[2].is_relative_to(copy.beside)
    for path in sorted(copy.beside.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    close(copy.beside)
    assert copy.run()[2].is_relative_to(copy.home)
    assert copy.run()[:2] == (0, 1)

    (tmp_path / "file").touch()
    homeless = {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    compiled, _, folder = copy.run(**homeless)
    assert compiled == 1
    assert folder.is_relative_to(copy.tmp)
    assert not folder.parent.stat().st_mode & 0o022
    assert copy.run(**homeless) == (0, 1, folder)


def test_a_folder_writable_by_others_is_not_read(copy: Copy, tmp_path: Path) -> None:
    close(copy.beside)
    (tmp_path / "file").touch()
    homeless = {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    open_to_all = copy.tmp / f"headrace-kernels-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    folder = copy.run(**homeless)[2]
    assert not folder.is_relative_to(open_to_all)
    assert list(open_to_all.iterdir()) == []


def test_code_built_beside_the_sources_is_copied_to_the_cache(copy: Copy, tmp_path: Path) -> None:
    """As in an image, which is built by root and run by somebody else."""
    built = copy.run()[2]
    assert built.is_relative_to(copy.beside)
    compiled, loaded, folder = copy.run(NUMBA_CACHE_DIR=str(tmp_path / "volume"))
    assert (compiled, loaded) == (0, 1)
    assert folder.is_relative_to(tmp_path / "volume")


def test_code_of_other_sources_is_not_used_and_old_versions_are_removed(copy: Copy) -> None:
    before = copy.run()[2]
    for number in range(4):
        (copy.beside / f"{number:016x}").mkdir()
        os.utime(copy.beside / f"{number:016x}", (number, number))
    (copy.package / "callee.py").write_text("# that a kernel calls\n")
    compiled, loaded, after = copy.run()
    assert (compiled, loaded) == (1, 0)
    kept = {path.name for path in copy.beside.iterdir() if path.is_dir()}
    assert {before.name, after.name} <= kept
    assert len(kept) == 3


def test_concurrent_processes_compile_a_kernel_once(copy: Copy) -> None:
    counts = [told(process)[:2] for process in [copy.start() for _ in range(4)]]
    assert sorted(counts) == [(0, 1), (0, 1), (0, 1), (1, 0)]


def test_the_kernels_of_this_process_have_the_version_of_its_sources() -> None:
    assert code_folder().name == version()


def test_the_time_of_an_operator_is_without_that_of_compiling_its_kernels(tmp_path: Path) -> None:
    printed = subprocess.run(
        [sys.executable, "-c", COLD_RUN],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    of_operators, of_compiling = map(float, printed.stdout.split())
    assert 0 < of_operators < of_compiling

"""A skip is a failure where none is allowed, so that CI cannot pass by skipping."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = """
import pytest

def test_skips_itself():
    pytest.skip("no such server here")

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert False
"""

MODULE_SKIPS = """
import pytest

pytest.importorskip("a_module_that_nobody_has", reason="no such module here")
"""


def _run(folder: Path, source: str, no_skips: str) -> subprocess.CompletedProcess[str]:
    conftest = Path(__file__).parent / "conftest.py"
    (folder / "conftest.py").write_text(conftest.read_text("utf-8"), "utf-8")
    (folder / "test_it.py").write_text(source, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra\n", "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "HEADRACE_NO_SKIPS": no_skips},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [(SKIPS, "no such server here"), (MODULE_SKIPS, "no such module here")],
    ids=["test", "module"],
)
def test_skip_fails_only_where_none_is_allowed(tmp_path: Path, source: str, reason: str) -> None:
    strict = _run(tmp_path, source, "1")
    assert strict.returncode != 0
    assert f"HEADRACE_NO_SKIPS=1 allows no skip: Skipped: {reason}" in strict.stdout
    lenient = _run(tmp_path, source, "0")
    assert "1 skipped" in lenient.stdout
    assert reason in lenient.stdout
    assert "failed" not in lenient.stdout.replace("xfailed", "")

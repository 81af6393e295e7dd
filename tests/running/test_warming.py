"""``headrace warm`` calls every kernel, and compiles each once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.warm import copied, measured


def test_warming_calls_each_kernel() -> None:
    command = [sys.executable, "-m", "tests.running.uncalled"]
    found = subprocess.run(command, capture_output=True, check=True, text=True, timeout=1000)
    assert found.stdout == ""


@pytest.mark.soak
def test_each_kernel_is_compiled_once_by_two_processes_and_then_loaded(tmp_path: Path) -> None:
    sources = copied(str(tmp_path))
    first, second = measured("two at once", sources, 2)
    (again,) = measured("warm", sources)
    assert again.compiled == 0
    assert again.loaded > 20
    kernels = sources / "headrace" / "executor" / "kernels"
    texts = [path.read_text("utf-8") for path in kernels.glob("*.py")]
    indexes = list((kernels / "__pycache__").glob("*/*.nbi"))
    assert len(indexes) == sum(len(re.findall(r"^@kernel$", t, re.MULTILINE)) for t in texts)
    # A constant in a caller makes a variant of a kernel, with code of its own.
    assert first.compiled + second.compiled == len(list((kernels / "__pycache__").glob("*/*.nbc")))

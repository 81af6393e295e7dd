"""Runs the command line in this process or in a separate one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from headrace.api.cli import main
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "mathoverflow"
CATALOG = str(EXAMPLES / "catalog.yaml")
QUERY = "Answer(x, y) <- x (a/b)+ y  WINDOW 30d SLIDE 1d"


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The only error message; checks that there is no traceback."""
        assert "Traceback" not in self.err
        assert self.err.count("error:") == 1, self.err
        return self.err


class Commands:
    """Runs ``headrace ...`` in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str | Path) -> Outcome:
        self._capture.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        return Outcome(code, out, err)


def command_line(*arguments: str | Path) -> list[str]:
    """The command that starts ``headrace ...`` as a process."""
    return [sys.executable, "-m", "headrace", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """The environment of such a process."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def process(*arguments: str | Path, cwd: Path | None = None, timeout: float = PATIENCE) -> Outcome:
    """Runs ``headrace ...`` in a separate process."""
    done = subprocess.run(
        command_line(*arguments),
        cwd=cwd or ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)

"""Shells complete commands, options and their values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def _headrace(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "headrace", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("headrace ex", ["explain"]),
        ("headrace explain --wi", ["--window"]),
        ("headrace explain --stage ", ["query", "logical", "memo", "physical", "plan"]),
    ],
)
def test_bash_gets_commands_options_and_values(line: str, completions: list[str]) -> None:
    words = line.split(" ")
    completed = _headrace(
        _HEADRACE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert completed.split() == completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_calls_headrace(shell: str) -> None:
    script = _headrace(_HEADRACE_COMPLETE=f"source_{shell}")
    assert f"_HEADRACE_COMPLETE=complete_{shell}" in script


def test_the_help_names_the_options_for_completion() -> None:
    text = _headrace("--help")
    assert "--install-completion" in text
    assert "--show-completion" in text

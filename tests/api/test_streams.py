"""Commands whose terminal, pipe or disk is closed, full or missing."""

from __future__ import annotations

import array
import fcntl
import signal
import subprocess
import termios
import time
from pathlib import Path
from typing import IO

from tests.api.command import ROOT, command_line, environment

QUERY = "Answer(x, y) <- a(x, y) WINDOW 10"


def ran(
    *arguments: str, redirection: str = "", out: IO[str] | None = None, err: IO[str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a separate process with an empty standard input."""
    return subprocess.run(
        in_shell(redirection, *arguments),
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if out is None else out,
        stderr=subprocess.PIPE if err is None else err,
        text=True,
        check=False,
    )


def in_shell(redirection: str, *arguments: str) -> list[str]:
    """A command with a redirection such as ``>&-``."""
    return ["sh", "-c", f'exec "$@" {redirection}', "sh", *command_line(*arguments)]


def test_failing_stdout_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = ran("optimize", QUERY, out=full)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: No space left on device.\n  Free")
    assert "Exception ignored" not in done.stderr
    done = ran("optimize", QUERY, redirection=">&-")
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: Bad file descriptor.\n  Let it be open")
    assert "Exception ignored" not in done.stderr


def test_messages_without_stderr_are_dropped(tmp_path: Path) -> None:
    """Messages go neither to the results nor to the next file that is opened."""
    shown = ran("optimize", QUERY)
    deaf = ran("optimize", QUERY, redirection="2>&-")
    assert (deaf.returncode, deaf.stdout) == (0, shown.stdout)
    out = tmp_path / "plan.json"
    wrong = ran("optimize", QUERY, "--nope", "--out", str(out), redirection="2>&-")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert not out.exists()
    with Path("/dev/full").open("w") as full:
        assert ran("optimize", QUERY, "--nope", err=full).returncode == 2


def test_a_closed_standard_input_is_an_empty_one() -> None:
    done = ran("optimize", "-", redirection="<&-")
    assert done.returncode == 2
    assert "standard input is empty" in done.stderr


def test_a_terminal_that_hangs_up_stops_a_command() -> None:
    with waiting() as running:
        running.send_signal(signal.SIGHUP)
        _, said = running.communicate(timeout=120)
    assert (running.returncode, said) == (129, "interrupted\n")


def test_a_command_under_nohup_goes_on() -> None:
    with waiting('trap "" HUP; ') as running:
        running.send_signal(signal.SIGHUP)
        plan, said = running.communicate(timeout=120)
    assert (running.returncode, said) == (0, "")
    assert plan.startswith("{")


def waiting(before: str = "") -> subprocess.Popen[str]:
    """A command that waits for the rest of its query on standard input."""
    running = subprocess.Popen(
        ["sh", "-c", f'{before}exec "$@"', "sh", *command_line("optimize", "-")],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdin is not None
    running.stdin.write(QUERY)
    running.stdin.flush()
    waits = array.array("i", [1])
    while waits[0]:  # until it has read that, and waits for more
        assert running.poll() is None
        time.sleep(0.05)
        fcntl.ioctl(running.stdin, termios.FIONREAD, waits)
    return running

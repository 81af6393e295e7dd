"""``headrace`` as a process: pipes, signals, imports, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.api.command import (
    CATALOG,
    EXAMPLES,
    QUERY,
    ROOT,
    command_line,
    environment,
    process,
)
from tests.waiting import PATIENCE, until

HEAVY = ("pyspark", "numba", "pandas", "pyarrow", "fastapi", "uvicorn", "rich.progress")


def imported_by(*arguments: str) -> set[str]:
    """The modules of a process at the end of a command."""
    code = (
        "import sys; from headrace.api.cli import main; code = main(sys.argv[1:]);"
        "print('\\nMODULES', *sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", QUERY),
        ("explain", QUERY, "-f", "html"),
        ("plans", QUERY),
        ("optimize", str(EXAMPLES / "q5.rq"), "--catalog", CATALOG),
    ],
    ids=lambda a: " ".join(a)[:30],
)
def test_planning_imports_no_heavy_module(arguments: tuple[str, ...]) -> None:
    modules = imported_by(*arguments)
    assert "headrace.optimizer.optimizer" in modules
    assert [name for name in HEAVY if name in modules] == []


def test_help_imports_no_optimizer() -> None:
    modules = imported_by("--help")
    assert [name for name in (*HEAVY, "optimizer", "lark", "sqlglot") if name in modules] == []


def test_help_lists_the_commands() -> None:
    done = process("--help")
    assert done.code == 0
    for command in (
        "explain",
        "optimize",
        "plans",
        "run",
        "stats",
        "demo",
        "serve",
        "warm",
        "doctor",
    ):
        assert re.search(rf"\b{command}\b", done.out)
        own = process(command, "--help")
        assert (own.code, own.err) == (0, "")
        assert f"headrace {command}" in own.out


def test_version() -> None:
    done = process("--version")
    assert done.code == 0
    assert done.out.startswith("headrace ")


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    plans = command_line("plans", str(EXAMPLES / "q5.rq"), "--catalog", CATALOG, "-n", "2000")
    with subprocess.Popen(
        plans, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().endswith(b" plans\n")
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(PATIENCE) == 0


def test_names_survive_a_terminal_without_their_letters() -> None:
    done = subprocess.run(
        command_line("explain", QUERY, "-f", "json"),
        cwd=ROOT,
        env=environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout.decode("ascii"))
    assert "(a·b)+" in document["canonical"]


def test_colours_only_on_a_terminal() -> None:
    assert "\x1b[" not in process("explain", QUERY).out
    assert "\x1b[" in on_terminal("explain", QUERY)
    assert "\x1b[" not in on_terminal("explain", QUERY, NO_COLOR="1")


def on_terminal(*arguments: str, **more: str) -> str:
    """The output of a command to a terminal."""
    inner, outer = pty.openpty()
    with subprocess.Popen(
        command_line(*arguments),
        cwd=ROOT,
        env=environment(TERM="xterm-256color", **more),
        stdin=outer,
        stdout=outer,
        stderr=outer,
    ) as running:
        os.close(outer)
        seen = b""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([inner], [], [], 0.2)[0]:
                try:
                    seen += os.read(inner, 65_536)
                except OSError:  # the other end is closed
                    break
            elif running.poll() is not None:
                break
        running.wait(PATIENCE)
    os.close(inner)
    return seen.decode()


def test_serve_answers_until_it_is_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen(
        command_line("serve", "--port", "0", "--catalog", CATALOG, "--home", tmp_path),
        cwd=ROOT,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)", running.stderr.readline())
            assert found is not None
            address = found.group()
            query = (EXAMPLES / "chains.rq").read_text("utf-8")
            with httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client:
                until(lambda: answers(client))
                answer = client.post("/optimize", json={"query": query})
            assert answer.json()["cost"] > 0
            running.send_signal(signal.SIGINT)
            assert running.wait(PATIENCE) == 0
            assert "Traceback" not in running.stderr.read()
        finally:
            running.kill()


def answers(client: httpx.Client) -> bool:
    """Whether a service listens."""
    try:
        return client.get("/healthz").status_code == 200
    except httpx.ConnectError:
        return False


def test_serve_says_that_a_port_is_taken() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = process("serve", "--port", port)
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in done.error
    assert "--port takes another" in done.err

"""Runs the commands of the Dockerfile without a container."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.api.command import QUERY, ROOT
from tests.waiting import PATIENCE, until

KEPT = "/var/lib/headrace"
PORT = "8080"


def last_stage() -> dict[str, str]:
    """The last occurrence of each instruction in the Dockerfile's last stage."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    start = max(number for number, line in enumerate(lines) if line.startswith("FROM"))
    words = (line.partition(" ") for line in lines[start:] if line and not line.startswith("#"))
    return {name: said.strip() for name, _, said in words}


STAGE = last_stage()
ENVIRONMENT = dict(word.split("=", 1) for word in STAGE["ENV"].split())
COMMAND: list[str] = [*json.loads(STAGE["ENTRYPOINT"]), *json.loads(STAGE["CMD"])]
HEALTH: list[str] = json.loads(STAGE["HEALTHCHECK"].partition("CMD")[2])


def test_the_parts_of_the_image_fit_together() -> None:
    assert int(STAGE["USER"]) > 0
    assert STAGE["EXPOSE"] == COMMAND[COMMAND.index("--port") + 1] == PORT
    assert f":{PORT}/healthz" in HEALTH[-1]
    assert STAGE["VOLUME"] == STAGE["WORKDIR"] == ENVIRONMENT["HEADRACE_HOME"] == KEPT
    assert ENVIRONMENT["NUMBA_CACHE_DIR"].startswith(f"{KEPT}/")


def test_the_image_is_built_with_compiled_kernels() -> None:
    """Beside the sources, which the last stage takes with it, and by the installed command."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace(" \\\n    ", " ")
    assert "constraints.txt . && /opt/headrace/bin/headrace warm\n" in text
    assert "COPY --from=build /opt/headrace /opt/headrace\n" in text


@pytest.mark.long
def test_the_image_serves_is_healthy_and_ends(tmp_path: Path) -> None:
    kept, home = tmp_path / "kept", tmp_path / "home"
    kept.mkdir()
    home.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def here(word: str) -> str:
        return word.replace(KEPT, str(kept)).replace(PORT, port)

    environment = {
        **{name: here(value) for name, value in ENVIRONMENT.items()},
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert COMMAND[0] == "headrace"
    command = [sys.executable, "-m", "headrace", *map(here, COMMAND[1:])]
    health = [sys.executable, *map(here, HEALTH[1:])]

    def healthy() -> bool:
        return not subprocess.run(health, check=False, stderr=subprocess.DEVNULL).returncode

    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, cwd=kept, env=environment, stderr=log) as process,
    ):
        try:
            until(healthy)
            address = f"http://127.0.0.1:{port}"
            asked = httpx.post(f"{address}/optimize", json={"query": QUERY}, timeout=PATIENCE)
            assert asked.json()["stop_reason"] == "complete"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) in (0, -signal.SIGTERM, 143)
        finally:
            process.kill()
    assert not healthy()
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")
    assert (kept / "headrace.db").exists()
    assert list(home.iterdir()) == []

"""Starts a service in a thread of this process or in a separate process."""

from __future__ import annotations

import itertools
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from headrace.api.service import Settings
from headrace.api.service.serving import server_of
from headrace.api.service.store import sqlite_url
from tests.api.command import ROOT, command_line, environment
from tests.waiting import PATIENCE, until

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ROWS = """
streams:
  rows:
    source: {format: csv, path: rows.csv}
    labels:
      a: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
      b: {rate: 1.0, distinct_src: 24, distinct_trg: 24}
"""
"""A catalog with a stream that is the file ``rows.csv`` beside it."""


def settings(home: Path, **others: Any) -> Settings:
    """A service with its data in a folder, unless a ``database`` is given."""
    return Settings(**{"database": sqlite_url(home), "home": home, **others})


@contextmanager
def served(app: FastAPI) -> Iterator[httpx.Client]:
    """A client of the service, which listens on a free local port."""
    server = server_of(app)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@dataclass(frozen=True)
class Running:
    """A service in a separate process; ``log`` is the file of its output."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False)


@contextmanager
def running(home: Path, *options: str | Path) -> Iterator[Running]:
    """Runs ``headrace serve``; stops it at the end and checks its exit code."""
    log = home.with_name(f"{home.name}.log")
    with (
        log.open("ab") as writing,
        subprocess.Popen(
            command_line("serve", "--port", "0", "--home", home, *options),
            cwd=ROOT,
            env=environment(),
            stderr=writing,
        ) as process,
    ):
        try:
            start = writing.tell()
            found = until(
                lambda: re.findall(
                    r"listens on (http://127\.0\.0\.1:\d+)", log.read_text("utf-8")[start:]
                )
            )
            yield Running(process, found[0], log)
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) in (0, -signal.SIGTERM, 143)
        finally:
            process.kill()


def metric(client: httpx.Client, name: str) -> float:
    """The value of a counter; 0 if it is absent."""
    lines = client.get("/metrics").text.splitlines()
    values = [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]
    return float(values[0]) if values else 0.0


def clique(vertices: int, window: str = "1d") -> str:
    """A clique. The search for a large one ends when more expressions bring no cheaper plan."""
    pairs = itertools.combinations(range(vertices), 2)
    atoms = ", ".join(f"a{i}{j}(x{i}, x{j})" for i, j in pairs)
    return f"Answer(x0, x1) <- {atoms} WINDOW {window}"


def long_query(window: str = "1d") -> str:
    """A star of nine edges and a path, whose search is complete only after most of a minute.

    The search for a star of edges alone ends when more expressions bring no cheaper plan.
    """
    atoms = ", ".join(f"a{i}{'' if i else '+'}(x, y{i})" for i in range(10))
    return f"Answer(x, y0) <- {atoms} WINDOW {window}"


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer; checks the fields that RFC 9457 requires."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["title"] == HTTPStatus(status).phrase
    assert document["type"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document

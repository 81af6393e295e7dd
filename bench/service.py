"""A service in a process of its own, and a client that costs little beside it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.measuring import ROOT

EXAMPLES = ROOT / "examples" / "mathoverflow"
START_SECONDS = 120

QUERIES = (
    "Answer(x, y) <- x (a2q/c2a)+ y",
    "Answer(x, y) <- a2q(x, m), c2a(m, y), c2q(x, y)",
    "Answer(x, z) <- a2q(x, y), c2a(y, w), a2q(w, v), c2q(v, z)",
    "Answer(x, y) <- x (a2q|c2q)+ m, c2a(m, y)",
)
"""Each takes some milliseconds to search."""


@dataclass(frozen=True, slots=True)
class Service:
    """``headrace serve``; ``log`` is the file of what it says."""

    process: psutil.Process
    port: int
    log: Path

    def processes(self) -> list[psutil.Process]:
        """The service and all that it has started."""
        return [self.process, *self.process.children(recursive=True)]

    def cpu_seconds(self) -> float:
        """The processor time of them all until now."""
        times = [process.cpu_times() for process in self.processes()]
        return sum(t.user + t.system + t.children_user + t.children_system for t in times)


@contextmanager
def serving(home: Path, *options: str | Path) -> Iterator[Service]:
    """A service that is ready; it has to end well."""
    log = home / "log"
    command = [sys.executable, "-m", "api.cli", "serve", "--port", "0"]
    given = ["--home", home / "kept", "--catalog", EXAMPLES / "catalog.yaml", *options]
    with (
        log.open("wb") as writing,
        subprocess.Popen(
            [*command, *map(str, given)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            stderr=writing,
        ) as process,
    ):
        try:
            port = _port(log, process)
            asyncio.run(_ready(port))
            yield Service(psutil.Process(process.pid), port, log)
            process.send_signal(signal.SIGTERM)
            process.wait(120)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered, and how long that took."""

    status: int
    headers: dict[str, str]
    body: bytes
    ms: float


class Connection:
    """One connection that is kept, for one request after the other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, document: Any = None) -> Answer:
        """The answer to a request.

        Raises:
            OSError, EOFError: if the service does not take or answer it.
        """
        started = time.perf_counter()
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = b"" if document is None else json.dumps(document).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        found = await self._reader.readexactly(int(headers.get("content-length", 0)))
        ms = (time.perf_counter() - started) * 1000
        return Answer(int(first.split()[1]), headers, found, ms)

    def close(self) -> None:
        """Hangs up."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def question(number: int) -> dict[str, Any]:
    """A request for a plan; another one for each number."""
    query = QUERIES[number % len(QUERIES)]
    return {"query": f"{query} WINDOW {100_000 + number // len(QUERIES)}s"}


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        said = log.read_text("utf-8")
        found = re.search(r"listens on http://127\.0\.0\.1:(\d+)", said)
        if found:
            return int(found[1])
        if process.poll() is not None:
            raise RuntimeError(f"the service did not start: {said}")
        time.sleep(0.1)
    raise RuntimeError("the service did not start in time")


async def _ready(port: int) -> None:
    connection = Connection(port)
    while (await connection.ask("GET", "/readyz")).status != 200:
        await asyncio.sleep(0.1)
    connection.close()

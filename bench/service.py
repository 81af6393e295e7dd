"""Starts a service in its own process, and a light-weight HTTP client for it."""

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
from random import Random
from typing import Any

import psutil
import yaml

from bench.measuring import ROOT

EXAMPLES = ROOT / "examples" / "mathoverflow"
START_SECONDS = 120
IDLE_SECONDS = 4.0
"""The longest idle time of a connection before the client reconnects."""

QUERIES = (
    "Answer(x, y) <- x (a2q/c2a)+ y",
    "Answer(x, y) <- a2q(x, m), c2a(m, y), c2q(x, y)",
    "Answer(x, z) <- a2q(x, y), c2a(y, w), a2q(w, v), c2q(v, z)",
    "Answer(x, y) <- x (a2q|c2q)+ m, c2a(m, y)",
)
"""Each takes some milliseconds to search."""

RUNNING = (
    "Answer(x, y) <- x (a/b)+ y WINDOW 10s SLIDE 1s",
    "Answer(x, z) <- a(x, y), b(y, z) WINDOW 10s SLIDE 1s",
)
"""Queries over the generated stream, to run during a benchmark."""

EDGES_PER_SECOND = 100
_VERTICES = 500


@dataclass(frozen=True, slots=True)
class Service:
    """A running ``headrace serve``; ``log`` is the file of its standard error."""

    process: psutil.Process
    port: int
    log: Path

    def processes(self) -> list[psutil.Process]:
        """The process of the service and all its children."""
        return [self.process, *self.process.children(recursive=True)]

    def cpu_seconds(self) -> float:
        """The processor time of all processes so far."""
        times = [process.cpu_times() for process in self.processes()]
        return sum(t.user + t.system + t.children_user + t.children_system for t in times)


@contextmanager
def serving(home: Path, *options: str, seconds: float = 0.0) -> Iterator[Service]:
    """Starts a service over the bundled streams and a generated one, and stops it afterwards.

    ``seconds`` is the length of the generated stream, as application time.
    """
    log = home / "log"
    command = [sys.executable, "-m", "headrace", "serve", "--port", "0"]
    arguments = ["--home", home / "kept", "--catalog", _catalog(home, seconds), *options]
    with (
        log.open("wb") as writing,
        subprocess.Popen(
            [*command, *map(str, arguments)],
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
    """An HTTP answer, and its time in milliseconds."""

    status: int
    headers: dict[str, str]
    body: bytes
    ms: float


class Connection:
    """A persistent connection, for one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._good_until = 0.0

    async def ask(self, method: str, path: str, document: Any = None) -> Answer:
        """Sends a request and returns its answer.

        Raises:
            OSError, EOFError: if the service does not accept or answer the request.
        """
        started = time.perf_counter()
        if started > self._good_until:
            self.close()
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
        content = await self._reader.readexactly(int(headers.get("content-length", 0)))
        ended = time.perf_counter()
        ms, self._good_until = (ended - started) * 1000, ended + IDLE_SECONDS
        return Answer(int(first.split()[1]), headers, content, ms)

    def close(self) -> None:
        """Closes the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def run_beside(service: Service, number: int) -> list[str]:
    """Starts a number of queries and waits for the first batch of each. Returns their ids."""
    connection, ids = Connection(service.port), []
    for query in (RUNNING * number)[:number]:
        body = {"query": query, "interval": "1 second", "largest_batch": EDGES_PER_SECOND}
        while (answer := await connection.ask("POST", "/queries", body)).status != 201:
            if answer.status not in (429, 503):
                raise RuntimeError(f"the service refused to run a query: {answer.body.decode()}")
            await asyncio.sleep(1.0)
        ids.append(json.loads(answer.body)["id"])
    for id_ in ids:
        while True:
            query = json.loads((await connection.ask("GET", f"/queries/{id_}")).body)
            if query["state"] in ("failed", "finished", "stopped"):
                raise RuntimeError(f"a query is {query['state']}: {query['error']}")
            if query["progress"] is not None and query["progress"]["edges"]:
                break
            await asyncio.sleep(0.5)
    connection.close()
    return ids


def question(number: int) -> dict[str, Any]:
    """A request for a plan, different for each number."""
    query = QUERIES[number % len(QUERIES)]
    return {"query": f"{query} WINDOW {100_000 + number // len(QUERIES)}s"}


def _catalog(folder: Path, seconds: float) -> Path:
    document = yaml.safe_load((EXAMPLES / "catalog.yaml").read_text("utf-8"))
    paths = document["streams"]["mathoverflow"]["source"]["path"]
    paths.update({label: str(EXAMPLES / name) for label, name in paths.items()})
    random, rows = Random(5), ["src,trg,label,ts"]
    for number in range(int(seconds * EDGES_PER_SECOND) + 1):
        source, target = random.randrange(_VERTICES), random.randrange(_VERTICES)
        # Each minute has new vertices, as in an unbounded stream.
        of = number // (60 * EDGES_PER_SECOND)
        when = number // EDGES_PER_SECOND
        rows.append(f"{of}.{source},{of}.{target},{random.choice('ab')},{when}")
    (folder / "made.csv").write_text("\n".join(rows) + "\n", "ascii")
    label = {"rate": EDGES_PER_SECOND / 2, "distinct_src": _VERTICES, "distinct_trg": _VERTICES}
    document["streams"]["made"] = {
        "source": {"format": "csv", "path": str(folder / "made.csv")},
        "labels": {"a": label, "b": dict(label)},
    }
    file = folder / "catalog.yaml"
    file.write_text(yaml.safe_dump(document), "utf-8")
    return file


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        text = log.read_text("utf-8")
        listening = re.search(r"listens on http://127\.0\.0\.1:(\d+)", text)
        if listening:
            return int(listening[1])
        if process.poll() is not None:
            raise RuntimeError(f"the service did not start: {text}")
        time.sleep(0.1)
    raise RuntimeError("the service did not start in time")


async def _ready(port: int) -> None:
    connection = Connection(port)
    while (await connection.ask("GET", "/readyz")).status != 200:
        await asyncio.sleep(0.1)
    connection.close()

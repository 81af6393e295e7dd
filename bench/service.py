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
from random import Random
from typing import Any

import psutil
import yaml

from bench.measuring import ROOT

EXAMPLES = ROOT / "examples" / "mathoverflow"
START_SECONDS = 120
IDLE_SECONDS = 4.0
"""After more the service may be about to close a connection."""

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
"""Over the stream that is made, to be run beside."""

EDGES_PER_SECOND = 100
_VERTICES = 500


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
def serving(home: Path, *options: str, seconds: float = 0.0) -> Iterator[Service]:
    """A service that is ready, over the bundled streams and one that is made; it has to end well.

    ``seconds`` says how long queries over the one that is made shall have something to read.
    """
    log = home / "log"
    command = [sys.executable, "-m", "headrace", "serve", "--port", "0"]
    given = ["--home", home / "kept", "--catalog", _catalog(home, seconds), *options]
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
        self._good_until = 0.0

    async def ask(self, method: str, path: str, document: Any = None) -> Answer:
        """The answer to a request.

        Raises:
            OSError, EOFError: if the service does not take or answer it.
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
        found = await self._reader.readexactly(int(headers.get("content-length", 0)))
        ended = time.perf_counter()
        ms, self._good_until = (ended - started) * 1000, ended + IDLE_SECONDS
        return Answer(int(first.split()[1]), headers, found, ms)

    def close(self) -> None:
        """Hangs up."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def run_beside(service: Service, number: int) -> list[str]:
    """Has so many queries run, and waits until each has had its first batch; their ids."""
    connection, ids = Connection(service.port), []
    for query in (RUNNING * number)[:number]:
        body = {"query": query, "interval": "1 second", "largest_batch": EDGES_PER_SECOND}
        while (made := await connection.ask("POST", "/queries", body)).status != 201:
            if made.status not in (429, 503):
                raise RuntimeError(f"no query can be run: {made.body.decode()}")
            await asyncio.sleep(1.0)
        ids.append(json.loads(made.body)["id"])
    for id_ in ids:
        while True:
            found = json.loads((await connection.ask("GET", f"/queries/{id_}")).body)
            if found["state"] in ("failed", "finished", "stopped"):
                raise RuntimeError(f"a query is {found['state']}: {found['error']}")
            if found["progress"] is not None and found["progress"]["edges"]:
                break
            await asyncio.sleep(0.5)
    connection.close()
    return ids


def question(number: int) -> dict[str, Any]:
    """A request for a plan; another one for each number."""
    query = QUERIES[number % len(QUERIES)]
    return {"query": f"{query} WINDOW {100_000 + number // len(QUERIES)}s"}


def _catalog(folder: Path, seconds: float) -> Path:
    document = yaml.safe_load((EXAMPLES / "catalog.yaml").read_text("utf-8"))
    paths = document["streams"]["mathoverflow"]["source"]["path"]
    paths.update({label: str(EXAMPLES / name) for label, name in paths.items()})
    random, rows = Random(5), ["src,trg,label,ts"]
    for number in range(int(seconds * EDGES_PER_SECOND) + 1):
        source, target = random.randrange(_VERTICES), random.randrange(_VERTICES)
        # Vertices come and go, as in a stream without end.
        of = number // (60 * EDGES_PER_SECOND)
        when = number // EDGES_PER_SECOND
        rows.append(f"{of}.{source},{of}.{target},{random.choice('ab')},{when}")
    (folder / "made.csv").write_text("\n".join(rows) + "\n", "ascii")
    known = {"rate": EDGES_PER_SECOND / 2, "distinct_src": _VERTICES, "distinct_trg": _VERTICES}
    document["streams"]["made"] = {
        "source": {"format": "csv", "path": str(folder / "made.csv")},
        "labels": {"a": known, "b": dict(known)},
    }
    file = folder / "catalog.yaml"
    file.write_text(yaml.safe_dump(document), "utf-8")
    return file


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

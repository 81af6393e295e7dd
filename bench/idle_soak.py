"""Idle soak of a service: memory over minutes of requests: ``python -m bench.idle_soak``.

For some minutes clients request new and cached plans, memos and alternatives. They send wrong
requests, hang up, put and delete streams, follow the results of running queries, and start and
delete queries. The benchmark samples the memory of all processes. A linear regression over the
samples after the warm-up gives the rise per hour, which should be zero.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from itertools import count
from math import isnan, nan
from pathlib import Path
from random import Random
from statistics import linear_regression
from tempfile import TemporaryDirectory
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import headline, machine, save
from bench.service import RUNNING, Connection, Service, question, run_beside, serving

SAMPLE_SECONDS = 5.0
_LONG = "Answer(x0, x1) <- " + ", ".join(
    f"a2q(x{i}, x{j})" for i in range(8) for j in range(i + 1, 8)
)
_WRONG = (
    ("POST", "/optimize", {"query": "Answer(x, y) <- a2q(x y)"}),
    ("POST", "/optimize", {"query": "Answer(x, y) <- none(x, y) WINDOW 1d"}),
    ("POST", "/optimize", {"nothing": 1}),
    ("GET", "/plans/00", None),
    ("GET", "/nowhere", None),
    ("PUT", "/streams/wrong", {"labels": 1}),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """The resources of a service at one time.

    Attributes:
        minute: the time since the start.
        service: resident memory of the service, in MB.
        searches: resident memory of the search processes, in MB.
        engine: resident memory of the engine process and its workers, in MB.
        jvm: resident memory of the JVM, in MB.
        heap: the JVM's live heap after a garbage collection, in MB; NaN if it was not measured.
        database: the size of the database on disk, in MB.
        plans: the number of plans made.
        files: open files of the service.
        engine_files: open files of the engine and the JVM.
        threads: threads of the service.
        processes: the number of processes.
    """

    minute: float
    service: float
    searches: float
    engine: float
    jvm: float
    heap: float
    database: float
    plans: int
    files: int
    engine_files: int
    threads: int
    processes: int


NAMES = tuple(f.name for f in fields(Sample) if f.name != "minute")


def sample(service: Service, home: Path, minute: float, plans: int, *, collect: bool) -> Sample:
    """Measures the resources of a service; with ``collect`` after a collection by its JVM."""
    sizes: Counter[str] = Counter()
    files: Counter[str] = Counter()
    threads = processes = 0
    heap = nan
    for process in service.processes():
        with contextlib.suppress(psutil.Error):
            kind = _kind(process, service)
            if kind == "jvm" and collect:
                heap = _heap(process)
            sizes[kind] += process.memory_info().rss
            files[kind] += process.num_fds()
            processes += 1
            if process == service.process:
                threads = process.num_threads()
    database = sum(file.stat().st_size for file in home.glob("headrace.db*"))
    service_mb, searches, engine, jvm = (
        sizes[kind] / 1e6 for kind in ("service", "searches", "engine", "jvm")
    )
    return Sample(
        minute, service_mb, searches, engine, jvm, heap, database / 1e6, plans,
        files["service"], files["engine"] + files["jvm"], threads, processes,
    )  # fmt: skip


def per_hour(samples: list[Sample], name: str, after: float) -> float:
    """The rise per hour of a field, from minute ``after`` on; 0 with less than two samples."""
    late = [(one.minute, float(getattr(one, name))) for one in samples if one.minute >= after]
    late = [(minute, value) for minute, value in late if not isnan(value)]
    if len(late) < 2:
        return 0.0
    return linear_regression(*zip(*late, strict=True)).slope * 60


class Clients:
    """The clients of the service, and the statuses of their answers."""

    def __init__(self, service: Service, running: list[str]) -> None:
        self._service = service
        self._running = running
        self._random = Random(11)
        self._numbers = count(1_000)
        self.statuses: Counter[str] = Counter()

    async def fill(self) -> None:
        """Sends requests until the cache of answers, of 64 MB, is full."""
        atoms = ", ".join(f"a2q(x0, x{i})" for i in range(1, 8))
        read = 0
        with self._connected() as connection:
            while read < 80e6:
                query = f"Answer(x0, x1) <- {atoms} WINDOW {next(self._numbers)}s"
                answer = await connection.ask("POST", "/optimize", {"query": query})
                place = f"/plans/{json.loads(answer.body)['id']}/alternatives?limit=400"
                read += len((await connection.ask("GET", place)).body)

    async def use(self, seconds: float) -> None:
        """Sends requests of all kinds for a time."""
        until = time.monotonic() + seconds
        kinds = [self._new, self._new, self._cached, self._cached, self._looking, self._wrong,
                 self._hanging_up, self._streams]  # fmt: skip
        if self._running:
            kinds += [self._following, self._following, self._living]
        async with asyncio.TaskGroup() as using:
            for kind in kinds:
                using.create_task(self._again_and_again(kind, until))

    async def states(self) -> list[str]:
        """The states of the running queries."""
        states = []
        with self._connected() as connection:
            for id_ in self._running:
                query = json.loads((await connection.ask("GET", f"/queries/{id_}")).body)
                problem = (query["error"] or {}).get("detail", "")
                states.append(f"is {query['state']}, after {query['restarts']} restarts {problem}")
        return states

    async def _again_and_again(
        self, kind: Callable[[Connection], Awaitable[None]], until: float
    ) -> None:
        while time.monotonic() < until:
            with self._connected() as connection:
                for _ in range(20):
                    if time.monotonic() < until:
                        await kind(connection)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        connection = Connection(self._service.port)
        try:
            yield connection
        finally:
            connection.close()

    async def _ask(
        self, connection: Connection, method: str, path: str, document: object = None
    ) -> bytes:
        answer = await connection.ask(method, path, document)
        self.statuses[str(answer.status)] += 1
        return answer.body

    async def _new(self, connection: Connection) -> None:
        await self._ask(connection, "POST", "/optimize", question(next(self._numbers)))
        await asyncio.sleep(0.1)

    async def _cached(self, connection: Connection) -> None:
        await self._ask(connection, "POST", "/optimize", question(self._random.randrange(100)))
        await asyncio.sleep(0.1)

    async def _looking(self, connection: Connection) -> None:
        request = question(self._random.randrange(1_000))
        id_ = json.loads(await self._ask(connection, "POST", "/optimize", request)).get("id")
        about = self._random.choice(("memo", "trace", "alternatives?limit=50"))
        await self._ask(connection, "GET", f"/plans/{id_}/{about}")
        for form in ("html", "mermaid"):
            await self._ask(connection, "POST", "/explain", {**request, "format": form})
        await asyncio.sleep(0.1)

    async def _wrong(self, connection: Connection) -> None:
        await self._ask(connection, *self._random.choice(_WRONG))
        await asyncio.sleep(0.2)

    async def _hanging_up(self, _: Connection) -> None:
        body = {"query": f"{_LONG} WINDOW {next(self._numbers)}s"}
        with self._connected() as own, contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._random.uniform(0.01, 0.5)):
                await own.ask("POST", "/optimize", body)
        self.statuses["hung up"] += 1
        await asyncio.sleep(3)

    async def _streams(self, connection: Connection) -> None:
        place = f"/streams/stream{self._random.randrange(10)}"
        label = f"l{self._random.randrange(100)}"
        stream = {"labels": {label: {"rate": 5, "distinct_src": 9, "distinct_trg": 9}}}
        await self._ask(connection, "PUT", place, stream)
        await self._ask(connection, "GET", "/streams")
        await self._ask(connection, "DELETE", place)
        await asyncio.sleep(5)

    async def _following(self, _: Connection) -> None:
        path = f"/queries/{self._random.choice(self._running)}/results?tail=10"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._service.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._random.uniform(0.5, 10)):
                while line := await reader.readline():
                    if line.startswith(b"event: result"):
                        self.statuses["results"] += 1
        writer.close()

    async def _living(self, connection: Connection) -> None:
        body = {"query": RUNNING[0], "interval": "1 second", "largest_batch": 50}
        query = json.loads(await self._ask(connection, "POST", "/queries", body))
        if "id" in query:
            place = f"/queries/{query['id']}"
            await asyncio.sleep(8)
            await self._ask(connection, "POST", f"{place}/pause")
            await self._ask(connection, "POST", f"{place}/resume")
            await asyncio.sleep(4)
            await self._ask(connection, "DELETE", place)
        await asyncio.sleep(15)


async def idle_soak(
    service: Service, home: Path, minutes: float, running: int, *, fill: bool, collect: bool
) -> tuple[list[Sample], Counter[str]]:
    """Samples a service in use; returns the samples and the counts of answers by status."""
    clients = Clients(service, await run_beside(service, running))
    if fill:
        await clients.fill()
    samples: list[Sample] = []
    started = time.monotonic()

    async def look() -> None:
        connection = Connection(service.port)
        while True:
            metrics = (await connection.ask("GET", "/metrics")).body.decode()
            plans = metrics.partition('headrace_plans_total{stop_reason="complete"} ')[2]
            passed = round((time.monotonic() - started) / 60, 2)
            due = collect and (not samples or int(passed) > int(samples[-1].minute))
            planned = int(float(plans.split("\n")[0] or 0))
            samples.append(
                await asyncio.to_thread(sample, service, home, passed, planned, collect=due)
            )
            await asyncio.sleep(SAMPLE_SECONDS)

    looking = asyncio.create_task(look())
    await clients.use(minutes * 60)
    if looking.done():
        looking.result()
    looking.cancel()
    for state in await clients.states():
        clients.statuses[f"a query that {state}"] += 1
    return samples, clients.statuses


def main(
    *,
    minutes: Annotated[float, typer.Option(min=0.01)] = 10.0,
    warm: Annotated[float, typer.Option(help="Minutes until caches are full.")] = 3.0,
    running: Annotated[int, typer.Option(min=0, help="Queries that run beside.")] = 2,
    fill: Annotated[bool, typer.Option(help="Fill the cache of answers first.")] = True,
    collect: Annotated[
        bool, typer.Option(help="Measure the JVM's live heap each minute, after a collection.")
    ] = True,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Samples the memory of a service that clients use for minutes."""
    console = Console(width=max(150, Console().width))
    console.print(headline(machine()))
    with TemporaryDirectory(prefix="headrace-soak-") as folder:
        home = Path(folder)
        seconds = minutes * 60 + 120 if running else 0.0
        with serving(home, seconds=seconds) as service:
            samples, statuses = asyncio.run(
                idle_soak(service, home / "kept", minutes, running, fill=fill, collect=collect)
            )
        log = (home / "log").read_text("utf-8")
    if out is not None:
        out.with_suffix(".log").write_text(log, "utf-8")
    faults = log.count('"fault"')
    table = Table("minute", *NAMES)
    shown: set[int] = set()
    for one in samples:
        if int(one.minute) not in shown:
            shown.add(int(one.minute))
            table.add_row(f"{one.minute:.1f}", *(_text(getattr(one, name)) for name in NAMES))
    slopes = {name: per_hour(samples, name, warm) for name in NAMES}
    table.add_row("each hour", *(f"{slope:+,.1f}" for slope in slopes.values()))
    console.print(table)
    console.print(f"answers: {dict(statuses)}; faults in the log: {faults}")
    options = {"minutes": minutes, "warm": warm, "running": running, "statuses": dict(statuses),
               "faults": faults, "per_hour": slopes}  # fmt: skip
    save(out, "idle_soak", options, [asdict(one) for one in samples])


def _heap(jvm: psutil.Process) -> float:
    """The live heap of a JVM after a collection, in MB."""
    ask = [str(Path(jvm.exe()).with_name("jcmd")), str(jvm.pid), "GC.class_histogram"]
    try:
        histogram = subprocess.run(ask, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return nan  # a Java without its tools, or one that has just ended
    return int(histogram.stdout.split()[-1]) / 1e6


def _text(value: float) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _kind(process: psutil.Process, service: Service) -> str:
    if process == service.process:
        return "service"
    if process.name() == "java":
        return "jvm"
    below = {child.name() for child in process.children()}
    parent = process.parent()
    return "engine" if "java" in below or parent != service.process else "searches"


if __name__ == "__main__":
    typer.run(main)

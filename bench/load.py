"""The throughput of planning over HTTP, and its behaviour under overload: ``python -m bench.load``.

The service is a separate process; this process sends requests over loopback. First a closed loop:
each connection sends a request after the answer to the previous one. Then an open loop at ten times
that rate. The service must answer every request, with a plan or with 429 and Retry-After, and
``/healthz`` must answer throughout.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save
from bench.service import Answer, Connection, Service, question, run_beside, serving

MOST_OPEN = 900
"""The largest number of open connections; further requests wait for one of them."""


@dataclass(slots=True)
class Seen:
    """The answers of one round.

    Attributes:
        seconds: the length of the round.
        cpu_seconds: the processor time of the service.
        statuses: the number of answers by status.
        times: the times of answers with a plan, in ms.
        health: the times of ``/healthz``, in ms.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        name = str(answer.status)
        if answer.status == 429 and not answer.headers.get("retry-after", "").isdigit():
            name = "429 without Retry-After"
        self.statuses[name] += 1
        if answer.status == 200:
            self.times.append(answer.ms)

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds


@dataclass(frozen=True, slots=True)
class Row:
    """Some rounds of one kind; times in ms, of requests that got a plan."""

    name: str
    beside: int
    asked_per_second: Spread
    per_second: Spread
    p50: Spread
    p99: Spread
    health_p99: Spread
    cpu_ms: Spread
    statuses: dict[str, int]


def row(name: str, beside: int, rounds: list[Seen]) -> Row:
    statuses = sum((seen.statuses for seen in rounds), Counter[str]())
    return Row(
        name,
        beside,
        Spread.of([seen.statuses.total() / seen.seconds for seen in rounds]),
        Spread.of([seen.per_second for seen in rounds]),
        Spread.of([_quantile(seen.times, 0.5) for seen in rounds]),
        Spread.of([_quantile(seen.times, 0.99) for seen in rounds]),
        Spread.of([_quantile(seen.health, 0.99) for seen in rounds]),
        Spread.of([seen.cpu_seconds / seen.statuses.total() * 1000 for seen in rounds]),
        dict(statuses),
    )


Ask = Callable[[Connection], Awaitable[Answer]]


async def as_much_as_it_takes(service: Service, ask: Ask, connections: int, seconds: float) -> Seen:
    """A closed loop: each connection sends a request after the answer to the previous one."""

    async def one(seen: Seen, until: float) -> None:
        connection = Connection(service.port)
        while time.perf_counter() < until:
            seen.add(await ask(connection))
        connection.close()

    return await _beside_health(
        service,
        lambda seen: asyncio.gather(
            *(one(seen, time.perf_counter() + seconds) for _ in range(connections))
        ),
    )


async def whatever_it_takes(service: Service, ask: Ask, rate: float, seconds: float) -> Seen:
    """An open loop: sends ``rate`` requests per second without waiting for earlier answers."""
    idle = [Connection(service.port) for _ in range(MOST_OPEN)]
    free = asyncio.Semaphore(MOST_OPEN)

    async def one(seen: Seen) -> None:
        async with free:
            connection = idle.pop()
            try:
                seen.add(await ask(connection))
            except (OSError, EOFError) as error:
                seen.statuses[type(error).__name__] += 1
                connection.close()
            idle.append(connection)

    async def all_of_them(seen: Seen) -> None:
        async with asyncio.TaskGroup() as asking:
            started = time.perf_counter()
            for number in range(round(rate * seconds)):
                await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
                asking.create_task(one(seen))

    try:
        return await _beside_health(service, all_of_them)
    finally:
        for connection in idle:
            connection.close()


async def _beside_health(service: Service, load: Callable[[Seen], Awaitable[object]]) -> Seen:
    seen = Seen()

    async def look() -> None:
        connection = Connection(service.port)
        while True:
            answer = await connection.ask("GET", "/healthz")
            assert answer.status == 200, answer
            seen.health.append(answer.ms)
            await asyncio.sleep(0.05)

    looking = asyncio.create_task(look())
    started, cpu = time.perf_counter(), service.cpu_seconds()
    await load(seen)
    seen.seconds = time.perf_counter() - started
    seen.cpu_seconds = service.cpu_seconds() - cpu
    if looking.done():
        looking.result()
    looking.cancel()
    return seen


def measured(
    service: Service, beside: int, *, connections: int, seconds: float, rounds: int
) -> list[Row]:
    """Measures cached and uncached requests, each in a closed loop and in an open loop."""
    numbers = count(1_000_000 * beside)
    known = 50

    async def new(connection: Connection) -> Answer:
        return await connection.ask("POST", "/optimize", question(next(numbers)))

    async def old(connection: Connection) -> Answer:
        return await connection.ask("POST", "/optimize", question(next(numbers) % known))

    async def health(connection: Connection) -> Answer:
        return await connection.ask("GET", "/healthz")

    async def fill() -> None:
        connection = Connection(service.port)
        for number in range(known):
            await connection.ask("POST", "/optimize", question(number))
        connection.close()

    asyncio.run(fill())
    rows = []
    for name, ask in (("no plan: /healthz", health), ("cached", old), ("uncached", new)):
        found = [
            asyncio.run(as_much_as_it_takes(service, ask, connections, seconds))
            for _ in range(rounds)
        ]
        rows.append(row(name, beside, found))
    for sustained, ask in zip(rows[1:], (old, new), strict=True):
        rate = 10 * sustained.per_second.median
        found = [asyncio.run(whatever_it_takes(service, ask, rate, seconds)) for _ in range(rounds)]
        rows.append(row(f"{sustained.name}, 10 times that", beside, found))
    return rows


def main(
    *,
    seconds: Annotated[float, typer.Option(min=0.1, help="Of each round.")] = 10.0,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
    connections: Annotated[int, typer.Option(min=1, help="That ask at once.")] = 8,
    searches: Annotated[int, typer.Option(min=1, help="As --searches of the service.")] = 2,
    beside: Annotated[int, typer.Option(min=0, help="Queries that run, in a second part.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the throughput of planning over HTTP, and its behaviour under overload."""
    console = Console(width=max(120, Console().width))
    console.print(headline(machine()))
    options = {"seconds": seconds, "rounds": rounds, "connections": connections,
               "searches": searches, "beside": beside}  # fmt: skip
    table = Table(
        "", "queries beside", "asked/s", "plans/s", "p50 ms", "p99 ms", "/healthz p99 ms",
        "cpu ms", "answers",
    )  # fmt: skip
    rows: list[Row] = []
    for running in sorted({0, beside}):
        long = 10 * rounds * seconds + 60 if running else 0.0
        with (
            TemporaryDirectory(prefix="headrace-load-") as folder,
            serving(Path(folder), "--searches", str(searches), seconds=long) as service,
        ):
            asyncio.run(run_beside(service, running))
            rows += measured(
                service, running, connections=connections, seconds=seconds, rounds=rounds
            )
    for one in rows:
        table.add_row(
            one.name, str(one.beside), one.asked_per_second.text(0), one.per_second.text(0),
            one.p50.text(), one.p99.text(), one.health_p99.text(), one.cpu_ms.text(2),
            json.dumps(one.statuses).strip("{}").replace('"', ""),
        )  # fmt: skip
    console.print(table)
    save(out, "load", options, [asdict(one) for one in rows])


def _quantile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


if __name__ == "__main__":
    typer.run(main)

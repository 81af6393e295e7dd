"""Messages between the service and its engine: reports of ended runs and engines are ignored."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from headrace.api.service import create_app
from headrace.api.service.engine import Engine
from headrace.api.service.engine_keeper import EngineKeeper
from headrace.api.service.engine_messages import (
    Began,
    Ended,
    EngineOptions,
    Gone,
    Progressed,
    Quit,
    Ready,
    Report,
    Start,
)
from headrace.api.service.problems import problem_document
from headrace.api.service.queries import Queries
from tests.api.kept import HELD, kept
from tests.api.serving import settings
from tests.waiting import until

FAILED = problem_document(500, "of the run before")


@pytest.fixture
def queries(tmp_path: Path) -> Queries:
    """The queries of a data directory with a paused one; no engine is started."""
    made = settings(tmp_path, most_running=0)
    kept(made, HELD)
    found: Queries = create_app(made).state.service.queries
    return found


def test_reports_of_an_ended_run_are_ignored(queries: Queries) -> None:
    async def story() -> None:
        assert await queries._keeper.acquire(logged=False)
        query = queries.get(HELD.id)
        assert query is not None
        before = query.kept
        late: list[Report] = [
            Began(HELD.id, 1),
            Progressed(HELD.id, 1, {"phase": "running"}, []),
            Ended(HELD.id, 1, "failed", FAILED),
            Ended("f" * 16, 1, "finished"),  # of a query that was deleted
        ]
        for report in late:
            await queries._reports.handle(report)  # no engine runs the query
        query.at_engine, query.run = True, 2
        for report in late:
            await queries._reports.handle(report)
        assert query.kept == before
        assert query.at_engine
        await queries._reports.handle(Progressed(HELD.id, 2, {"phase": "running"}, []))
        await queries._reports.handle(Ended(HELD.id, 2, "failed", FAILED))
        assert query.kept.state == "failed"
        assert query.progress == {"phase": "running"}

    asyncio.run(story())


def test_reports_of_an_ended_engine_are_ignored(tmp_path: Path) -> None:
    async def story() -> None:
        heard: list[Report] = []
        engines = EngineKeeper(tmp_path, EngineOptions(), heard.append)
        before, now = (Engine(tmp_path, EngineOptions(), heard.append) for _ in range(2))
        engines._engine = now
        for report in (Ready(), Ended("a", 1, "failed", FAILED), Gone()):
            engines._on_report(before, report)
        assert heard == []
        engines._on_report(now, Ready())
        assert heard == [Ready()]

    asyncio.run(story())


def test_messages_that_are_sent_at_once_arrive_as_they_are(tmp_path: Path) -> None:
    ours, theirs = Pipe()
    # Much more than a pipe takes in one write.
    plans = [{"number": n, "filling": str(n % 10) * 500_000} for n in range(40)]

    async def story() -> list[Any]:
        engine = Engine(tmp_path, EngineOptions(), lambda _: None)
        engine._connection = ours
        with ThreadPoolExecutor(1) as reading:
            arriving = reading.submit(lambda: [theirs.recv() for _ in plans])
            sent = (engine.send(Start("q", 1, plan, {}, tmp_path)) for plan in plans)
            await asyncio.gather(*sent)
            return await asyncio.wrap_future(arriving)

    arrived = asyncio.run(story())
    assert sorted(start.plan["number"] for start in arrived) == list(range(len(plans)))
    assert {len(set(start.plan["filling"])) for start in arrived} == {1}


def test_an_engine_that_cannot_be_understood_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.api.service.engine._work", _babble)
    heard: list[Report] = []

    async def story() -> int | None:
        engine = Engine(tmp_path, EngineOptions(), heard.append)
        await engine.start()
        await asyncio.to_thread(until, lambda: heard)
        await engine.close()
        return engine.exit_code

    assert asyncio.run(story()) == -9
    assert heard == [Gone()]


def _babble(connection: Connection[Any, Any], _: Path, __: EngineOptions) -> None:
    connection.send_bytes(json.dumps({"no": "message"}).encode())
    connection.recv_bytes()


@pytest.mark.parametrize("records", [False, True])
def test_an_engine_that_records_classes_has_more_time_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: bool
) -> None:
    monkeypatch.setattr("headrace.api.service.engine._work", _end_slowly)
    monkeypatch.setattr("headrace.api.service.engine.GOODBYE_SECONDS", 0.5)
    heard: list[Report] = []

    async def story() -> None:
        engine = Engine(tmp_path, EngineOptions(records_classes=records), heard.append)
        await engine.start()
        await asyncio.to_thread(until, lambda: heard)
        engine.ready = True
        await engine.close()

    asyncio.run(story())
    assert (tmp_path / "ended").exists() is records


def _end_slowly(connection: Connection[Any, Any], home: Path, options: EngineOptions) -> None:
    connection.send(Ready())
    assert connection.recv() == Quit()
    time.sleep(2 if options.records_classes else 60)
    (home / "ended").touch()

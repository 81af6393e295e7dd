"""The service retries a query whose start timed out in the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from headrace.api.service.engine_messages import (
    Began,
    Delayed,
    Ended,
    EngineOptions,
    Progressed,
    Report,
    Start,
)
from headrace.api.service.engine_process import _Run
from headrace.api.service.kept_queries import KeptQuery
from headrace.api.service.queries import Queries
from headrace.api.service.query import Query
from headrace.api.service.query_reports import MOST_DEATHS
from headrace.api.service.results import Kept
from headrace.api.service.store import Store, sqlite_url
from headrace.executor.spark.report import Progress
from headrace.planning.errors import UsageError
from tests.executor.spark.plans import reach

WHY = {"detail": "Spark gave up waiting for one of its own processes", "status": 500}
RUNNING = {"phase": "running", "edges": 1}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(sqlite_url(tmp_path), 1)
    yield opened
    opened.close()


def queries_of(home: Path, store: Store) -> Queries:
    """Queries without sources and outputs."""

    def output(name: str) -> NoReturn:
        raise UsageError(f"no output {name}")

    return Queries(
        home, store.queries, lambda plan: {}, EngineOptions(),
        outputs=output, most_running=1, most_kept=1, results=Kept(),
    )  # fmt: skip


async def kept_query(queries: Queries, home: Path) -> Query:
    """A query that the engine runs."""
    (home / "queries").mkdir()
    assert await queries._keeper.acquire(logged=False)
    kept = KeptQuery("q", queries._keeper.directory.id, {"plan_id": "p"}, {}, 0, state="running")
    query = await queries._keeper.add(kept)
    query.at_engine = True
    return query


def test_delays_are_shown_and_not_counted_as_failures(store: Store, tmp_path: Path) -> None:
    async def course() -> None:
        queries = queries_of(tmp_path, store)
        query = await kept_query(queries, tmp_path)
        for _ in range(4 * MOST_DEATHS):
            await queries._reports.handle(Delayed("q", query.run, WHY))
            assert (query.kept.state, query.kept.error) == ("starting", WHY)
        assert (query.deaths, query.kept.restarts) == (0, 0)
        assert query.runs
        assert query.at_engine, "the engine starts it again"
        (saved,) = store.queries.of_home(queries._keeper.directory.id)
        assert (saved.state, saved.error) == ("starting", WHY)
        await queries._reports.handle(Began("q", query.run))
        assert (query.kept.state, query.kept.error) == ("running", None)
        await queries._reports.handle(Progressed("q", query.run, RUNNING, []))
        # A pause that was requested meanwhile takes effect.
        await queries._keeper.want(query, "pausing", "paused")
        await queries._reports.handle(Delayed("q", query.run, WHY))
        assert query.kept.wanted == "paused"
        await queries._reports.handle(Ended("q", query.run, "stopped"))
        (saved,) = store.queries.of_home(queries._keeper.directory.id)
        assert saved.state == "paused"
        queries._keeper.directory.release()

    asyncio.run(course())


def test_the_reason_of_a_failure_stays_until_a_batch_succeeds(store: Store, tmp_path: Path) -> None:
    async def course() -> None:
        queries = queries_of(tmp_path, store)
        query = await kept_query(queries, tmp_path)
        for failures in range(1, MOST_DEATHS):
            query.at_engine = True
            await queries._reports.handle(Began("q", query.run))
            await queries._reports.handle(Ended("q", query.run, "interrupted", WHY))
            assert (query.kept.state, query.deaths) == ("starting", failures)
        query.at_engine = True
        await queries._reports.handle(Began("q", query.run))
        assert (query.kept.state, query.kept.error) == ("running", WHY)
        await queries._reports.handle(Progressed("q", query.run, RUNNING, []))
        (saved,) = store.queries.of_home(queries._keeper.directory.id)
        assert (saved.state, saved.error, query.deaths) == ("running", None, 0)
        queries._keeper.directory.release()

    asyncio.run(course())


def test_a_query_whose_sink_is_gone_fails_and_names_it(store: Store, tmp_path: Path) -> None:
    async def course() -> None:
        queries = queries_of(tmp_path, store)
        query = await kept_query(queries, tmp_path)
        query.kept = replace(query.kept, request={**query.kept.request, "output": "sink:lost"})
        assert await queries._launches.catalog(query) is None
        assert query.kept.state == "failed"
        assert query.kept.error is not None
        assert "sink:lost" in query.kept.error["detail"]
        queries._keeper.directory.release()

    asyncio.run(course())


def test_engine_reports_a_delay_and_its_end(tmp_path: Path) -> None:
    sent: list[Report] = []
    command = Start("q", 1, reach().to_document(), {}, tmp_path)
    run = _Run(command, None, sent.append)  # type: ignore[arg-type]
    run._on_progress(Progress("waiting", None, reason="The machine is busy."))
    (delayed,) = sent
    assert isinstance(delayed, Delayed)
    assert delayed.error["detail"] == "The machine is busy."
    run._on_progress(Progress("waiting", None, reason="It still is."))
    run._on_progress(Progress("running", None))
    run._on_progress(Progress("running", None))
    others = [type(report) for report in sent[1:] if not isinstance(report, Progressed)]
    assert others == [Delayed, Began]
    assert {report.run for report in sent if isinstance(report, Delayed | Began)} == {1}

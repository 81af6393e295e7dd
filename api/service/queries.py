"""Adds, pauses, resumes, stops and deletes queries, and supervises their runs in the engine.

All changes run in the event loop, one at a time. The service stores each wanted state before it
acts on it. After a crash the next service therefore continues with the same wanted states.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from ...executor.spark.results.sinks import WrittenBySpark
from . import query_launches
from .engine_keeper import EngineKeeper
from .engine_messages import (
    EngineOptions,
    Report,
)
from .kept_queries import KeptQuery, QueryStore, State, Wanted, now_us
from .problems import RefusedError, problem
from .query import Query
from .query_keeper import QueryKeeper
from .query_launches import Launches
from .query_reports import Reports
from .results import Kept

LOG = logging.getLogger("headrace.service")

DELETE_SECONDS = 20.0
"""The longest wait of ``DELETE`` for the end of a run, in seconds; the run ends in any case."""
STUCK_SECONDS = 60.0
"""The time for a run to stop, in seconds.

After this time the service kills the engine and restarts the engine's other runs."""
_AGAIN_SECONDS = 1.0


class Queries:
    """The queries of a data directory, and the engine that runs them."""

    def __init__(
        self,
        home: Path,
        store: QueryStore,
        sources: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        engine: EngineOptions,
        *,
        outputs: Callable[[str], WrittenBySpark],
        most_running: int,
        most_kept: int,
        results: Kept,
        figures: Path | None = None,
    ) -> None:
        """Creates the queries of a data directory, without starting them.

        Args:
            home: the data directory.
            store: the table of queries.
            sources: returns the catalog of the streams of a plan; raises HeadraceError.
            engine: the options of the engine.
            outputs: returns the topic or sink that a name stands for; raises HeadraceError.
            most_running: the maximum number of queries that run at once.
            most_kept: the maximum number of queries.
            results: the bounds on the results of each query.
            figures: the file of the figures that queries measure; None to keep none.
        """
        self._keeper = QueryKeeper(home / "queries", store, results)
        self._queries = self._keeper.queries
        self._sources = sources
        self._most_running = most_running
        self._most_kept = most_kept
        self._lock = asyncio.Lock()
        self._inbox: asyncio.Queue[Report] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._engines = EngineKeeper(home / "queries", engine, self._inbox.put_nowait)
        self.ready = False
        self.closing = asyncio.Event()
        self._launches = Launches(
            self._keeper,
            self._engines,
            sources=sources,
            outputs=outputs,
            conf=engine.conf,
            figures=figures,
            closing=self.closing,
            task=self._task,
        )
        self._reports = Reports(self._keeper, self._engines, self._launches, self.closing)

    def start(self) -> None:
        """Restarts the queries as soon as no other service holds the data directory."""
        self._task(self._supervise())

    def all(self) -> list[Query]:
        """Returns the queries, the oldest first."""
        return [q for q in list(self._queries.values()) if q.kept.wanted != "deleted"]

    def get(self, id_: str) -> Query | None:
        """Returns the query with an id, or None."""
        query = self._queries.get(id_)
        return None if query is None or query.kept.wanted == "deleted" else query

    @property
    def engine_up(self) -> bool:
        """Whether there is an engine whose Spark has started."""
        return self._engines.up

    @property
    def engine_starts(self) -> int:
        """The number of engines started so far."""
        return self._engines.starts

    async def add(self, request: Mapping[str, Any], plan: Mapping[str, Any]) -> Query:
        """Stores a query and starts it.

        Raises:
            RefusedError: if too many queries exist or run.
            UsageError: if a stream has no source.
        """
        await asyncio.to_thread(self._sources, plan)
        async with self._lock:
            self._check_running()
            if len(self._queries) >= self._most_kept:
                detail = f"there are {len(self._queries):,} queries already: delete a query first"
                raise RefusedError(problem(409, detail, code="E-SIZE"))
            id_ = secrets.token_hex(8)
            kept = KeptQuery(id_, self._keeper.directory.id, request, plan, now_us())
            query = await self._keeper.add(kept)
            LOG.info("query added", extra={"query_id": id_, "plan_id": request["plan_id"]})
            await self._launches.launch_due()
            return query

    async def pause(self, query: Query) -> None:
        """Stops a run so that it can be resumed.

        Raises:
            RefusedError: if the query has ended.
        """
        await self._request_end(query, "paused", {"starting", "running"}, {"pausing", "paused"})

    async def resume(self, query: Query) -> None:
        """Resumes a run that was paused or has failed.

        Raises:
            RefusedError: if the query has ended, or too many others run.
        """
        async with self._lock:
            state = query.kept.state
            if state in ("stopping", "stopped", "finished"):
                raise RefusedError(
                    problem(409, f"the query cannot be resumed: it is {state}", code="E-STATE")
                )
            if query.runs:
                return
            self._check_running()
            query.deaths, query.due = 0, 0.0
            if query.at_engine:  # the end of the current run starts the next one
                await self._keeper.want(query, state, "running")
                return
            await self._keeper.want(query, "starting", "running", error=None, ended=None)
            await self._launches.launch_due()

    async def stop(self, query: Query) -> None:
        """Stops a run for good; its results stay.

        Raises:
            RefusedError: if the query has finished.
        """
        allowed: set[State] = {"starting", "running", "pausing", "paused", "failed"}
        await self._request_end(query, "stopped", allowed, {"stopping", "stopped"})

    async def delete(self, query: Query) -> None:
        """Deletes a query and its files once its run has stopped."""
        async with self._lock:
            await self._keeper.want(query, query.kept.state, "deleted")
            await self._halt(query)
        until = time.monotonic() + DELETE_SECONDS
        while query.kept.id in self._queries and time.monotonic() < until:
            changed = query.changed
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), until - time.monotonic())

    def close_soon(self) -> None:
        """Ends the streams of results to clients; call this method in the event loop."""
        self.closing.set()
        for query in self._queries.values():
            query.notify()

    async def close(self) -> None:
        """Ends the engine; the next start of the service restarts the queries."""
        self.close_soon()
        async with self._lock:
            pass  # wait for an engine that is being started; `closing` prevents further ones
        await self._engines.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._keeper.directory.release()

    # The methods below run in the task of _supervise, or with the lock.

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _supervise(self) -> None:
        logged = False
        while not await self._keeper.acquire(logged):
            logged = True
            await asyncio.sleep(_AGAIN_SECONDS)
        async with self._lock:
            for query in list(self._queries.values()):
                await self._reports.settle(query, restarted=True)
            await self._launches.launch_due()
        self.ready = True
        while True:
            report: Report | None = None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    report = await self._inbox.get()
            try:
                async with self._lock:
                    if report is not None:
                        await self._reports.handle(report)
                    await self._check_due()
            except Exception:
                LOG.exception("handling a report of the engine, or starting due queries, failed")

    @property
    def _pause(self) -> float:
        """The seconds until the next check, if the engine reports nothing."""
        is_due = self._launches.waiting or self._keeper.unsaved
        return _AGAIN_SECONDS if is_due else query_launches.LOOK_SECONDS

    async def _check_due(self) -> None:
        """Saves and starts due queries, and retires an idle engine."""
        for query in self._keeper.unsaved:
            if time.monotonic() - query.saved_at >= _AGAIN_SECONDS:
                await self._keeper.save(query)
        await self._launches.launch_due()
        self._engines.used(any(query.runs or query.at_engine for query in self._queries.values()))
        if self._engines.idle:
            self._task(self._engines.retire("nothing runs"))

    async def _request_end(
        self, query: Query, wanted: Wanted, allowed: set[State], already: set[State]
    ) -> None:
        async with self._lock:
            state = query.kept.state
            if state in already and query.kept.wanted == wanted:
                return
            if state not in allowed | already:
                raise RefusedError(
                    problem(409, f"the query cannot become {wanted}: it is {state}", code="E-STATE")
                )
            becoming: State = "pausing" if wanted == "paused" else "stopping"
            await self._keeper.want(query, becoming, wanted)
            await self._halt(query)

    async def _halt(self, query: Query) -> None:
        """Stops the run of a query, or moves a query without a run to its wanted state."""
        if not query.at_engine:
            await self._reports.settle(query)
            return
        end = await self._engines.stop(query.kept.id, query.run)
        self._task(self._watch_stop(query, end))

    async def _watch_stop(self, query: Query, end: Callable[[], None]) -> None:
        await asyncio.sleep(STUCK_SECONDS)
        async with self._lock:
            if query.at_engine and not query.runs:
                end()

    def _check_running(self) -> None:
        running = sum(query.runs for query in self._queries.values())
        if running >= self._most_running:
            detail = f"{running} queries run already: pause, stop or delete a query first"
            raise RefusedError(problem(429, detail, code="E-BUSY"))

"""The life of running queries: what is wanted of each, what has become of it, and its engine.

All of it runs in the event loop, one change after the other. What somebody wants is kept before it
is acted on, so that a service that is started after any end of the one before goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from api.service.engine import GOODBYE_SECONDS, Engine
from api.service.engine_messages import (
    Began,
    Ended,
    EngineOptions,
    Gone,
    NotStarted,
    Progressed,
    Ready,
    Report,
    Start,
    Stop,
)
from api.service.homes import Home
from api.service.kept_queries import KeptQuery, QueryStore, State, Wanted, now_us
from api.service.problems import document_of, problem_document
from api.service.query_folder import QueryFolder
from api.service.results import Kept, Results
from headrace.errors import HeadraceError

LOG = logging.getLogger("headrace.service")

ENDED: frozenset[State] = frozenset({"finished", "failed", "stopped"})
RUN_OPTIONS = ("speed", "interval", "largest_batch", "strict")
"""What is said of how to run a query."""
MOST_DEATHS = 5
"""How often the engine may die while a query runs that makes no progress."""
LONGEST_BACKOFF_SECONDS = 60.0
SAVED_SECONDS = 2.0
"""Progress is written to the database at most so often."""
DELETE_SECONDS = 20.0
"""How long ``DELETE`` waits for the end of a run; it ends in any case."""
STUCK_SECONDS = 60.0
"""A run that has not stopped in so much time takes its engine with it; the others go on."""
_AGAIN_SECONDS = 1.0


class RefusedError(Exception):
    """What cannot be done to a query now; ``status`` is that of the answer."""

    def __init__(self, status: int, detail: str, code: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code


class Query:
    """A query of this service, as it is now."""

    def __init__(self, kept: KeptQuery, folder: QueryFolder, limit: Kept) -> None:
        self.kept = kept
        self.folder = folder
        self.results = Results(folder.results, folder.pruned, limit)
        self.changed = asyncio.Event()
        self.at_engine = False
        self.deaths = 0
        self.saved_at = 0.0
        self.unsaved = False

    @property
    def runs(self) -> bool:
        """Whether it is one of those that run, or are to."""
        return self.kept.wanted == "running" and self.kept.state not in ENDED

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """Its last progress."""
        return None if self.kept.account is None else self.kept.account["progress"]

    def notify(self) -> None:
        """Wakes all who wait for something new of it."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class Queries:
    """The queries of a home, and the engine that runs them."""

    def __init__(
        self,
        home: Path,
        store: QueryStore,
        sources: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        engine: EngineOptions,
        *,
        most_running: int,
        most_kept: int,
        results: Kept,
    ) -> None:
        """``sources`` gives the catalog of the streams of a plan; it raises HeadraceError."""
        self._home = Home(home / "queries")
        self._store = store
        self._sources = sources
        self._options = engine
        self._most_running = most_running
        self._most_kept = most_kept
        self._limit = results
        self._known: dict[str, Query] = {}
        self._lock = asyncio.Lock()
        self._inbox: asyncio.Queue[Report] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._engine: Engine | None = None
        self._engine_left = asyncio.Event()
        self._failures = 0
        self.engine_starts = 0
        self.ready = False
        self.closing = asyncio.Event()

    def start(self) -> None:
        """Takes the home, and up what is to run there, as soon as no other service has it."""
        self._task(self._live())

    def all(self) -> list[Query]:
        """The queries, the oldest first."""
        return [q for q in list(self._known.values()) if q.kept.wanted != "deleted"]

    def get(self, id_: str) -> Query | None:
        """A query of this home."""
        query = self._known.get(id_)
        return None if query is None or query.kept.wanted == "deleted" else query

    @property
    def engine_up(self) -> bool:
        """Whether there is an engine, and it has Spark."""
        return self._engine is not None and self._engine.ready

    async def add(self, asked: Mapping[str, Any], plan: Mapping[str, Any]) -> Query:
        """Keeps a query and has it run.

        Raises:
            RefusedError: if there are too many.
            UsageError: if a stream has no source.
        """
        await asyncio.to_thread(self._sources, plan)
        async with self._lock:
            self._check_running()
            if len(self._known) >= self._most_kept:
                detail = f"there are {len(self._known):,} queries already: delete one"
                raise RefusedError(409, detail, "E-SIZE")
            id_ = secrets.token_hex(8)
            kept = KeptQuery(id_, self._home.id, asked, plan, now_us())
            await asyncio.to_thread(self._store.add, kept)
            query = self._known[id_] = self._query(kept)
            LOG.info("query added", extra={"query_id": id_, "plan_id": asked["plan_id"]})
            await self._launch(query)
            return query

    async def pause(self, query: Query) -> None:
        """Has a run stop where it can go on.

        Raises:
            RefusedError: if it has come to an end.
        """
        await self._ask(query, "paused", {"starting", "running"}, {"pausing", "paused"})

    async def resume(self, query: Query) -> None:
        """Has a run go on that was paused or has failed.

        Raises:
            RefusedError: if it cannot go on, or too many others run.
        """
        async with self._lock:
            state = query.kept.state
            if state in ("stopping", "stopped", "finished"):
                raise RefusedError(409, f"the query cannot go on: it is {state}", "E-STATE")
            if query.runs:
                return
            self._check_running()
            query.deaths = 0
            if query.at_engine:  # when it has been stopped, it is started again
                await self._want(query, state, "running")
                return
            await self._want(query, "starting", "running", error=None, ended=None)
            await self._launch(query)

    async def stop(self, query: Query) -> None:
        """Ends a run for good; its results stay.

        Raises:
            RefusedError: if it has ended otherwise.
        """
        may: set[State] = {"starting", "running", "pausing", "paused", "failed"}
        await self._ask(query, "stopped", may, {"stopping", "stopped"})

    async def delete(self, query: Query) -> None:
        """Forgets a query and its files, when its run has been stopped."""
        async with self._lock:
            await self._want(query, query.kept.state, "deleted")
            await self._halt(query)
        until = time.monotonic() + DELETE_SECONDS
        while query.kept.id in self._known and time.monotonic() < until:
            changed = query.changed
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), until - time.monotonic())

    def close_soon(self) -> None:
        """Tells those who follow results to go. Called in the event loop."""
        self.closing.set()
        for query in self._known.values():
            query.notify()

    async def close(self) -> None:
        """Ends the engine; what runs is to go on with the next start."""
        self.close_soon()
        async with self._lock:
            engine = self._engine
        if engine is not None:
            await engine.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._engine_left.wait(), GOODBYE_SECONDS)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._home.leave()

    # What follows runs in the task of _live, or with the lock.

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _live(self) -> None:
        told = False
        while not await self._taken(told):
            told = True
            await asyncio.sleep(_AGAIN_SECONDS)
        while True:
            waits = any(query.unsaved for query in self._known.values())
            try:
                async with asyncio.timeout(_AGAIN_SECONDS if waits else None):
                    report = await self._inbox.get()
            except TimeoutError:
                await self._save_again()
                continue
            try:
                async with self._lock:
                    await self._heard(report)
            except Exception:
                LOG.exception("a report of the engine could not be taken in")

    async def _taken(self, told: bool) -> bool:
        """Takes the home, and what is to run there; False if that cannot be done now, of which
        the log is told once."""
        try:
            if not await asyncio.to_thread(self._home.taken):
                if not told:
                    LOG.warning("another service runs the queries of this home")
                return False
            found = await asyncio.to_thread(self._store.of_home, self._home.id)
        except (OSError, SQLAlchemyError):
            if not told:
                LOG.exception("the queries cannot be taken up now")
            return False
        async with self._lock:
            self._known.update((kept.id, self._query(kept)) for kept in found)
            for query in list(self._known.values()):
                await self._settle(query, restarted=True)
        self.ready = True
        return True

    async def _save_again(self) -> None:
        async with self._lock:
            for query in self._known.values():
                if query.unsaved:
                    await self._save(query)

    async def _heard(self, report: Report) -> None:
        match report:
            case Ready():
                assert self._engine is not None
                self._engine.ready = True
                LOG.info("engine ready", extra={"engine": self._engine.pid})
                for query in list(self._known.values()):
                    if query.runs and not query.at_engine:
                        await self._launch(query)
            case NotStarted(error):
                LOG.error("engine not started", extra={"reason": error["detail"]})
                for query in self.all():
                    if query.runs:
                        query.kept = replace(query.kept, error=error)
            case Gone():
                await self._engine_gone()
            case Began(id_) | Progressed(id_) | Ended(id_):
                query = self._known[id_]
                await self._heard_of(query, report)
                query.notify()

    async def _heard_of(self, query: Query, report: Began | Progressed | Ended) -> None:
        match report:
            case Began():
                if query.kept.state == "starting":
                    started = query.kept.started or now_us()
                    await self._become(query, "running", error=None, started=started)
            case Progressed(progress=progress, operators=operators):
                self._failures = query.deaths = 0
                account = {"progress": progress, "operators": operators}
                query.kept = replace(query.kept, account=account)
                if time.monotonic() - query.saved_at >= SAVED_SECONDS:
                    await self._save(query)
                    await asyncio.to_thread(query.results.prune)
            case Ended(outcome=outcome, error=error, fault=fault):
                query.at_engine = False
                if fault:
                    LOG.error("fault", extra={"query_id": query.kept.id, "fault": fault})
                if query.kept.wanted != "deleted" and outcome != "stopped":
                    await self._become(query, outcome, error=error, ended=now_us())
                    await asyncio.to_thread(query.results.prune)
                    await self._tidy(query)
                else:
                    await self._settle(query)

    async def _engine_gone(self) -> None:
        code = None if self._engine is None else self._engine.exit_code
        self._engine = None
        self._engine_left.set()
        if not self.closing.is_set():
            LOG.error("engine gone", extra={"exit_code": code})
        for query in list(self._known.values()):
            if not query.at_engine:
                continue
            query.at_engine = False
            if self.closing.is_set():
                await self._save(query)
                continue
            query.deaths += 1
            if query.runs and query.deaths >= MOST_DEATHS:
                detail = f"the engine ended {query.deaths} times before the query came further"
                problem = problem_document(500, detail, code="E-ENGINE")
                await self._become(query, "failed", error=problem, ended=now_us())
            else:
                await self._settle(query, restarted=True)
            query.notify()
        if not self.closing.is_set() and any(query.runs for query in self._known.values()):
            seconds = min(LONGEST_BACKOFF_SECONDS, 2.0**self._failures)
            self._failures += 1
            self._task(self._engine_again(seconds))

    async def _engine_again(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        async with self._lock:
            await self._need_engine()

    async def _need_engine(self) -> None:
        if self._engine is None and not self.closing.is_set():
            self._engine = Engine(self._home.path, self._options, self._inbox.put_nowait)
            self._engine_left.clear()
            self.engine_starts += 1
            try:
                await self._engine.start()
            except OSError:  # the system has no room for it now
                LOG.exception("engine not started")
                self._inbox.put_nowait(Gone())

    async def _settle(self, query: Query, *, restarted: bool = False) -> None:
        """Has a query that is not at the engine become what is wanted of it."""
        match query.kept.wanted:
            case "deleted":
                await self._remove(query)
            case _ if query.kept.state in ENDED:
                return
            case "stopped":
                await self._become(query, "stopped", ended=now_us())
                await self._tidy(query)
            case "paused":
                await self._become(query, "paused")
            case "running" if not self.closing.is_set():
                await self._become(query, "starting", restarts=query.kept.restarts + int(restarted))
                await self._launch(query)

    async def _launch(self, query: Query) -> None:
        """Tells the engine to run a query; if there is none, it is told when there is."""
        if self._engine is None or not self._engine.ready:
            await self._need_engine()
            return
        kept = query.kept
        try:
            catalog = await asyncio.to_thread(self._sources, kept.plan)
        except HeadraceError as error:
            await self._become(query, "failed", error=document_of(error), ended=now_us())
            return
        query.at_engine = True
        given = {name: kept.asked[name] for name in RUN_OPTIONS}
        await self._engine.send(Start(kept.id, kept.plan, catalog, query.folder.path, **given))

    async def _ask(
        self, query: Query, wanted: Wanted, may: set[State], already: set[State]
    ) -> None:
        async with self._lock:
            state = query.kept.state
            if state in already and query.kept.wanted == wanted:
                return
            if state not in may | already:
                raise RefusedError(409, f"that cannot be: the query is {state}", "E-STATE")
            becoming: State = "pausing" if wanted == "paused" else "stopping"
            await self._want(query, becoming, wanted)
            await self._halt(query)

    async def _halt(self, query: Query) -> None:
        """Has a query become what is wanted of it, if that is not to run."""
        engine = self._engine
        if not query.at_engine or engine is None:
            await self._settle(query)
            return
        await engine.send(Stop(query.kept.id))
        self._task(self._watch_stop(query, engine))

    async def _watch_stop(self, query: Query, engine: Engine) -> None:
        await asyncio.sleep(STUCK_SECONDS)
        async with self._lock:
            if query.at_engine and not query.runs and self._engine is engine:
                LOG.error("query does not stop", extra={"query_id": query.kept.id})
                engine.kill()

    async def _want(self, query: Query, state: State, wanted: Wanted, **values: Any) -> None:
        """Keeps what is wanted; if that fails, nothing has changed."""
        kept = replace(query.kept, state=state, wanted=wanted, **values)
        await asyncio.to_thread(self._store.save, kept)
        query.kept = kept
        LOG.info("query", extra={"query_id": kept.id, "state": state, "wanted": wanted})
        query.notify()

    async def _become(self, query: Query, state: State, **values: Any) -> None:
        """What has become of a query is so, also if it cannot be kept now."""
        query.kept = replace(query.kept, state=state, **values)
        await self._save(query)
        LOG.info("query", extra={"query_id": query.kept.id, "state": state})
        query.notify()

    async def _save(self, query: Query) -> None:
        query.saved_at = time.monotonic()
        try:
            await asyncio.to_thread(self._store.save, query.kept)
            query.unsaved = False
        except SQLAlchemyError:
            query.unsaved = True
            LOG.exception("a query could not be saved", extra={"query_id": query.kept.id})

    async def _remove(self, query: Query) -> None:
        await asyncio.to_thread(shutil.rmtree, query.folder.path, ignore_errors=True)
        with contextlib.suppress(SQLAlchemyError):  # the next start removes it
            await asyncio.to_thread(self._store.remove, query.kept.id)
        del self._known[query.kept.id]
        query.kept = replace(query.kept, state="stopped")
        LOG.info("query deleted", extra={"query_id": query.kept.id})
        query.notify()

    async def _tidy(self, query: Query) -> None:
        """Removes what only a run that goes on would need."""
        if query.kept.state in ("finished", "stopped"):
            for path in query.folder.ballast:
                await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

    def _check_running(self) -> None:
        running = sum(query.runs for query in self._known.values())
        if running >= self._most_running:
            detail = f"{running} queries run already: pause, stop or delete one"
            raise RefusedError(429, detail, "E-BUSY")

    def _query(self, kept: KeptQuery) -> Query:
        return Query(kept, QueryFolder(self._home.path / kept.id), self._limit)

"""Handles the reports of the engine: a query has begun, progressed, ended or failed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .engine_keeper import LONGEST_BACKOFF_SECONDS, EngineKeeper
from .engine_messages import Began, Delayed, Ended, Gone, NotStarted, Progressed, Ready, Report
from .kept_queries import now_us
from .problems import problem_document
from .query import ENDED, Query
from .query_keeper import QueryKeeper
from .query_launches import Launches

LOG = logging.getLogger("headrace.service")

MOST_DEATHS = 5
"""The maximum number of failures of the engine or of Spark without progress of a query."""
SAVED_SECONDS = 2.0
"""The least time between two writes of progress to the database, in seconds."""


class Reports:
    """Changes queries as the engine reports; callers hold the lock of `Queries`."""

    def __init__(
        self,
        keeper: QueryKeeper,
        engines: EngineKeeper,
        launches: Launches,
        closing: asyncio.Event,
    ) -> None:
        """Creates the handler; ``closing`` is set when the service ends."""
        self._keeper = keeper
        self._engines = engines
        self._launches = launches
        self._closing = closing

    async def handle(self, report: Report) -> None:
        """Changes queries and engine as a report says."""
        match report:
            case Ready():
                self._engines.ready()
            case NotStarted(error, for_packages):
                LOG.error("engine not started", extra={"reason": error["detail"]})
                for query in self._launches.waiting:
                    catalog = await self._launches.catalog(query) if for_packages else None
                    if catalog is not None and self._launches.packages(query, catalog):
                        # Fail queries that need them, so that an engine can start for the others.
                        await self._keeper.become(query, "failed", error=error, ended=now_us())
                    elif query.runs:
                        query.kept = replace(query.kept, error=error)
            case Gone():
                await self._engine_gone()
            case Began(id_, run) | Delayed(id_, run) | Progressed(id_, run) | Ended(id_, run):
                reported = self._keeper.queries.get(id_)
                if reported is None or not reported.at_engine or reported.run != run:
                    extra = {"query_id": id_, "report": type(report).__name__}
                    LOG.warning("dropped a report of an earlier run", extra=extra)
                    return
                await self._handle_run_report(reported, report)
                reported.notify()

    async def _handle_run_report(
        self, query: Query, report: Began | Delayed | Progressed | Ended
    ) -> None:
        match report:
            case Began():
                if query.kept.state == "starting":
                    started = query.kept.started or now_us()
                    # After a failure the reason stays until a micro-batch succeeds.
                    error = query.kept.error if query.deaths else None
                    await self._keeper.become(query, "running", error=error, started=started)
            case Delayed(error=error):
                if query.kept.state in ("starting", "running"):
                    LOG.warning("query delayed", extra={"query_id": query.kept.id})
                    await self._keeper.become(query, "starting", error=error)
            case Progressed(progress=progress, operators=operators):
                if (
                    progress["phase"] == "running"
                ):  # a micro-batch succeeded: forget earlier failures
                    self._engines.worked()
                    query.deaths = 0
                    if query.kept.error is not None:
                        await self._keeper.become(query, query.kept.state, error=None)
                account = {"progress": progress, "operators": operators}
                query.kept = replace(query.kept, account=account)
                if time.monotonic() - query.saved_at >= SAVED_SECONDS:
                    await self._keeper.save(query)
                    await asyncio.to_thread(query.results.prune)
            case Ended(outcome=outcome, error=error, fault=fault):
                query.at_engine = False
                if fault:
                    LOG.error("fault", extra={"query_id": query.kept.id, "fault": fault})
                if error is not None:
                    why = {"code": error.get("code"), "reason": error["detail"]}
                    LOG.warning(f"query {outcome}", extra={"query_id": query.kept.id, **why})
                if query.kept.wanted == "deleted" or outcome == "stopped":
                    await self.settle(query)
                elif outcome == "interrupted":
                    await self._interrupted(query, error)
                else:
                    await self._keeper.become(query, outcome, error=error, ended=now_us())
                    await asyncio.to_thread(query.results.prune)
                    await self._keeper.tidy(query)

    async def _interrupted(self, query: Query, error: Mapping[str, Any] | None) -> None:
        """Restarts a query after a transient failure, unless restarts did not help before."""
        query.deaths += 1
        if not query.runs or self._closing.is_set():
            await self.settle(query)
        elif query.deaths >= MOST_DEATHS:
            await self._keeper.become(query, "failed", error=error, ended=now_us())
        else:
            restarts = query.kept.restarts + 1
            await self._keeper.become(query, "starting", error=error, restarts=restarts)
            query.due = time.monotonic() + min(LONGEST_BACKOFF_SECONDS, 2.0**query.deaths)

    async def _engine_gone(self) -> None:
        meant = self._engines.gone()
        for query in list(self._keeper.queries.values()):
            if not query.at_engine:
                continue
            query.at_engine = False
            if self._closing.is_set():
                await self._keeper.save(query)
                continue
            query.deaths += int(not meant)
            if query.runs and query.deaths >= MOST_DEATHS:
                detail = f"the engine ended {query.deaths} times without progress of the query"
                problem = problem_document(500, detail, code="E-ENGINE")
                await self._keeper.become(query, "failed", error=problem, ended=now_us())
            else:
                await self.settle(query, restarted=True)
            query.notify()

    async def settle(self, query: Query, *, restarted: bool = False) -> None:
        """Moves a query that is not in the engine to its wanted state."""
        match query.kept.wanted:
            case "deleted":
                await self._keeper.remove(query)
            case _ if query.kept.state in ENDED:
                return
            case "stopped":
                await self._keeper.become(query, "stopped", ended=now_us())
                await self._keeper.tidy(query)
            case "paused":
                await self._keeper.become(query, "paused")
            case "running" if not self._closing.is_set():
                restarts = query.kept.restarts + int(restarted)
                await self._keeper.become(query, "starting", restarts=restarts)

"""Starts due queries in the engine."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ...executor.spark.results.sinks import WrittenBySpark
from ...planning.errors import HeadraceError
from .engine_keeper import EngineKeeper
from .engine_messages import Start
from .kept_queries import now_us
from .packages import packages_of_query
from .problems import document_of
from .query import RUN_OPTIONS, Query, output_of
from .query_keeper import QueryKeeper

LOG = logging.getLogger("headrace.service")

LOOK_SECONDS = 10.0
"""The time until another attempt to read the streams of a query, in seconds."""


class Launches:
    """Starts due queries, with the sources and outputs of the catalog; callers hold the lock of
    `Queries`."""

    def __init__(
        self,
        keeper: QueryKeeper,
        engines: EngineKeeper,
        *,
        sources: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        outputs: Callable[[str], WrittenBySpark],
        conf: Mapping[str, str],
        figures: Path | None,
        closing: asyncio.Event,
        task: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """Creates the launches of a data directory.

        Args:
            keeper: holds the queries.
            engines: holds the engine.
            sources: returns the catalog of the streams of a plan; raises HeadraceError.
            outputs: returns the topic or sink that a name stands for; raises HeadraceError.
            conf: Spark's settings.
            figures: the file of the figures that queries measure; None to keep none.
            closing: set when the service ends; nothing is started from then on.
            task: runs a coroutine in the background.
        """
        self._keeper = keeper
        self._engines = engines
        self._sources = sources
        self._outputs = outputs
        self._conf = conf
        self._figures = figures
        self._closing = closing
        self._task = task

    @property
    def waiting(self) -> list[Query]:
        """The queries to be started in the engine."""
        return [q for q in self._keeper.queries.values() if q.runs and not q.at_engine]

    async def launch_due(self) -> None:
        """Starts due queries in the engine; starts an engine first if needed."""
        if self._closing.is_set():
            return
        due = [query for query in self.waiting if query.due <= time.monotonic()]
        if due and self._engines.wanting:
            catalogs = [await self.catalog(query) for query in due]
            if any(catalogs):
                packages = [
                    package
                    for query, one in zip(due, catalogs, strict=True)
                    if one is not None
                    for package in self.packages(query, one)
                ]
                await self._engines.need(dict.fromkeys(packages))
        for query in due:
            if self._engines.up:
                await self._launch(query)

    async def _launch(self, query: Query) -> None:
        catalog = await self.catalog(query)
        if catalog is None:
            return
        worn = self._engines.worn(self.packages(query, catalog))
        if worn is not None:
            self._task(self._engines.retire(worn))
            return
        kept, query.at_engine, query.run = query.kept, True, query.run + 1
        run_options = {name: kept.request[name] for name in RUN_OPTIONS}
        figures = self._figures if kept.request["options"].get("feedback") else None
        start = Start(
            kept.id,
            query.run,
            kept.plan,
            catalog,
            query.folder.path,
            figures=figures,
            output=self._output(query),
            **run_options,
        )
        await self._engines.run(start)

    def _output(self, query: Query) -> WrittenBySpark | None:
        """Returns the topic or sink that gets the results of a query too.

        Raises:
            HeadraceError: if the catalog has no such sink now.
        """
        named = output_of(query.kept)
        return None if named is None else self._outputs(named)

    def packages(self, query: Query, catalog: Mapping[str, Any]) -> tuple[str, ...]:
        """Returns the packages that Spark needs for a query with this catalog and its output."""
        return packages_of_query(catalog, self._output(query), self._conf)

    async def catalog(self, query: Query) -> Mapping[str, Any] | None:
        """Returns the catalog with the sources of a query; None if it cannot be read now."""
        try:
            self._output(query)
            return await asyncio.to_thread(self._sources, query.kept.plan)
        except HeadraceError as error:
            await self._keeper.become(query, "failed", error=document_of(error), ended=now_us())
        except SQLAlchemyError as error:
            why = {"query_id": query.kept.id, "reason": type(error).__name__}
            LOG.warning("the streams of a query cannot be read now", extra=why)
            query.due = time.monotonic() + LOOK_SECONDS
        return None

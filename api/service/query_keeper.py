"""The queries of a home, in memory and in the database, and how each changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ...planning.errors import UsageError
from .data_directory import Home
from .kept_queries import KeptQuery, QueryStore, State, Wanted
from .query import Query
from .query_folder import QueryFolder
from .results import Kept

LOG = logging.getLogger("headrace.service")


class QueryKeeper:
    """Whoever changes a query has the lock of all."""

    def __init__(self, home: Path, store: QueryStore, limit: Kept) -> None:
        self.home = Home(home)
        self.known: dict[str, Query] = {}
        self._store = store
        self._limit = limit

    async def taken(self, told: bool) -> bool:
        """Takes the home, and what is to run there; False if that cannot be done now, of which
        the log is told once."""
        try:
            if not await asyncio.to_thread(self.home.taken):
                if not told:
                    LOG.warning("another service runs the queries of this home")
                return False
            found = await asyncio.to_thread(self._store.of_home, self.home.id)
        except (OSError, UsageError, SQLAlchemyError):
            if not told:
                LOG.exception("the queries cannot be taken up now")
            return False
        self.known.update((kept.id, self._query(kept)) for kept in found)
        return True

    async def add(self, kept: KeptQuery) -> Query:
        """Keeps a new query."""
        await asyncio.to_thread(self._store.add, kept)
        query = self.known[kept.id] = self._query(kept)
        return query

    async def want(self, query: Query, state: State, wanted: Wanted, **values: Any) -> None:
        """Keeps what is wanted; if that fails, nothing has changed."""
        kept = replace(query.kept, state=state, wanted=wanted, **values)
        await asyncio.to_thread(self._store.save, kept)
        query.kept = kept
        LOG.info("query", extra={"query_id": kept.id, "state": state, "wanted": wanted})
        query.notify()

    async def become(self, query: Query, state: State, **values: Any) -> None:
        """What has become of a query is so, also if it cannot be kept now."""
        query.kept = replace(query.kept, state=state, **values)
        await self.save(query)
        LOG.info("query", extra={"query_id": query.kept.id, "state": state})
        query.notify()

    async def save(self, query: Query) -> None:
        """Keeps what has become of a query; if that fails, it is ``unsaved``."""
        query.saved_at = time.monotonic()
        try:
            await asyncio.to_thread(self._store.save, query.kept)
            query.unsaved = False
        except SQLAlchemyError as error:
            if not query.unsaved:  # it is tried again each second: the log is told once
                why = {"reason": type(error).__name__}
                LOG.error("a query could not be saved", extra={"query_id": query.kept.id, **why})
            query.unsaved = True

    async def remove(self, query: Query) -> None:
        """Forgets a query, and its files."""
        await asyncio.to_thread(shutil.rmtree, query.folder.path, ignore_errors=True)
        with contextlib.suppress(SQLAlchemyError):  # the next start removes it
            await asyncio.to_thread(self._store.remove, query.kept.id)
        del self.known[query.kept.id]
        query.kept = replace(query.kept, state="stopped")
        LOG.info("query deleted", extra={"query_id": query.kept.id})
        query.notify()

    async def tidy(self, query: Query) -> None:
        """Removes what only a run that goes on would need."""
        if query.kept.state in ("finished", "stopped"):
            for path in query.folder.ballast:
                await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

    @property
    def unsaved(self) -> list[Query]:
        """The queries that the database could not keep as they are."""
        return [query for query in self.known.values() if query.unsaved]

    def _query(self, kept: KeptQuery) -> Query:
        return Query(kept, QueryFolder(self.home.path / kept.id), self._limit)

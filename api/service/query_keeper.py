"""The queries of a data directory, in memory and in the database, and their changes."""

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
from .data_directory import DataDirectory
from .kept_queries import KeptQuery, QueryStore, State, Wanted
from .query import Query
from .query_folder import QueryFolder
from .results import Kept

LOG = logging.getLogger("headrace.service")


class QueryKeeper:
    """Changes queries in memory and in the database; callers hold the lock of `Queries`."""

    def __init__(self, home: Path, store: QueryStore, limit: Kept) -> None:
        self.directory = DataDirectory(home)
        self.queries: dict[str, Query] = {}
        self._store = store
        self._limit = limit

    async def acquire(self, logged: bool) -> bool:
        """Locks the data directory and loads its queries; returns whether both succeeded.

        Logs the reason of a failure, unless ``logged`` says that the log has it already.
        """
        try:
            if not await asyncio.to_thread(self.directory.acquire):
                if not logged:
                    LOG.warning("another service has the data directory")
                return False
            stored = await asyncio.to_thread(self._store.of_home, self.directory.id)
        except (OSError, UsageError, SQLAlchemyError):
            if not logged:
                LOG.exception("the queries cannot be loaded now")
            return False
        self.queries.update((kept.id, self._query(kept)) for kept in stored)
        return True

    async def add(self, kept: KeptQuery) -> Query:
        """Stores a new query."""
        await asyncio.to_thread(self._store.add, kept)
        query = self.queries[kept.id] = self._query(kept)
        return query

    async def want(self, query: Query, state: State, wanted: Wanted, **values: Any) -> None:
        """Stores the wanted state; a failure leaves the query unchanged."""
        kept = replace(query.kept, state=state, wanted=wanted, **values)
        await asyncio.to_thread(self._store.save, kept)
        query.kept = kept
        LOG.info("query", extra={"query_id": kept.id, "state": state, "wanted": wanted})
        query.notify()

    async def become(self, query: Query, state: State, **values: Any) -> None:
        """Sets the state of a query, even if the database does not answer now."""
        query.kept = replace(query.kept, state=state, **values)
        await self.save(query)
        LOG.info("query", extra={"query_id": query.kept.id, "state": state})
        query.notify()

    async def save(self, query: Query) -> None:
        """Stores the state of a query; a failure marks the query as ``unsaved``."""
        query.saved_at = time.monotonic()
        try:
            await asyncio.to_thread(self._store.save, query.kept)
            query.unsaved = False
        except SQLAlchemyError as error:
            if not query.unsaved:  # each second repeats the attempt: log only the first failure
                why = {"reason": type(error).__name__}
                LOG.error("a query could not be saved", extra={"query_id": query.kept.id, **why})
            query.unsaved = True

    async def remove(self, query: Query) -> None:
        """Deletes a query and its files."""
        await asyncio.to_thread(shutil.rmtree, query.folder.path, ignore_errors=True)
        with contextlib.suppress(SQLAlchemyError):  # the next start removes it
            await asyncio.to_thread(self._store.remove, query.kept.id)
        del self.queries[query.kept.id]
        query.kept = replace(query.kept, state="stopped")
        LOG.info("query deleted", extra={"query_id": query.kept.id})
        query.notify()

    async def tidy(self, query: Query) -> None:
        """Removes files that only a resumed run would need."""
        if query.kept.state in ("finished", "stopped"):
            for path in query.folder.ballast:
                await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

    @property
    def unsaved(self) -> list[Query]:
        """The queries whose state is not in the database yet."""
        return [query for query in self.queries.values() if query.unsaved]

    def _query(self, kept: KeptQuery) -> Query:
        return Query(kept, QueryFolder(self.directory.path / kept.id), self._limit)

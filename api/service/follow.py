"""Results of a query as server-sent events, to many clients at once.

A client has a chunk of results in memory and no more: the next is read when it has taken that one.
Files are read in few threads of their own, so that no client holds up a search or a request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from .queries import Queries
from .query import ENDED, Query
from .results import Lines, Reader

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
RETRY_MS = 1_000
"""How long a browser waits before it connects again."""
_THREADS = 2


class Followers:
    """The clients that follow results."""

    def __init__(self, queries: Queries, most: int) -> None:
        self._queries = queries
        self._most = most
        self._threads = ThreadPoolExecutor(_THREADS, "headrace-results")
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether no further client may follow."""
        return self.count >= self._most

    async def events(
        self, query: Query, after: int, tail: int | None, heartbeat: float = HEARTBEAT_SECONDS
    ) -> AsyncIterator[bytes]:
        """The events of a query: its state whenever it changes, and its results from a place on.

        Ends after the query, with the event ``end``; and when the service does, without.
        """
        self.count += 1
        try:
            reader = Reader(query.results, after, tail)
            told = None
            yield b"retry: %d\n\n" % RETRY_MS
            while not self._queries.closing.is_set():
                changed, state = query.changed, query.kept.state
                if state != told:
                    yield _event("state", {"state": state})
                    told = state
                loop = asyncio.get_running_loop()
                found = await loop.run_in_executor(self._threads, reader.read)
                if found.lost:
                    yield _event("gap", {"lost": found.lost}, found.first - 1)
                if found.lines:
                    yield _results(found)
                elif state in ENDED:
                    yield _event("end", {"state": state})
                    return
                elif not found.lost and not await _happened(changed, heartbeat):
                    yield b":\n\n"
        finally:
            self.count -= 1

    def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown()


async def _happened(changed: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return False
    return True


def _event(name: str, data: object, number: int | None = None) -> bytes:
    id_ = "" if number is None else f"id: {number}\n"
    return f"{id_}event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _results(found: Lines) -> bytes:
    return b"".join(
        b"id: %d\nevent: result\ndata: %b\n\n" % (number, line)
        for number, line in enumerate(found.lines, start=found.first)
    )

"""Results of a query as server-sent events, to many clients at once.

Each client has at most one chunk of results in memory: the service reads the next chunk after the
client has received the last one. A few separate threads read the files, so that clients never delay
searches or other requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from ...algebra.plan import PhysicalPlan
from .queries import Queries
from .query import ENDED, Query
from .result_files import FileFormat, file_pieces
from .results import Lines, Reader

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
RETRY_MS = 1_000
"""The wait of a browser before it connects again, in milliseconds."""
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
        """Yields the events of a query: changes of its state, and its results after a number.

        The stream ends with the event ``end`` of the query, or without it when the service ends.
        """
        self.count += 1
        try:
            reader = Reader(query.results, after, tail)
            sent_state = None
            yield b"retry: %d\n\n" % RETRY_MS
            while not self._queries.closing.is_set():
                changed, state = query.changed, query.kept.state
                if state != sent_state:
                    yield _event("state", {"state": state})
                    sent_state = state
                loop = asyncio.get_running_loop()
                chunk = await loop.run_in_executor(self._threads, reader.read)
                if chunk.lost:
                    yield _event("gap", {"lost": chunk.lost}, chunk.first - 1)
                if chunk.lines:
                    yield _results(chunk)
                elif state in ENDED:
                    yield _event("end", {"state": state})
                    return
                elif not chunk.lost and not await _happened(changed, heartbeat):
                    yield b":\n\n"
        finally:
            self.count -= 1

    async def file(self, query: Query, file_format: FileFormat) -> AsyncIterator[bytes]:
        """Yields the results of a query that are kept now, as the bytes of a file."""
        self.count += 1
        try:
            plan = PhysicalPlan.from_document(query.kept.plan)
            pieces = file_pieces(Reader(query.results), plan, file_format)
            loop = asyncio.get_running_loop()
            while not self._queries.closing.is_set():
                piece = await loop.run_in_executor(self._threads, next, pieces, None)
                if piece is None:
                    return
                yield piece
        finally:
            self.count -= 1

    def close(self) -> None:
        """Ends the threads that read files."""
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


def _results(chunk: Lines) -> bytes:
    return b"".join(
        b"id: %d\nevent: result\ndata: %b\n\n" % (number, line)
        for number, line in enumerate(chunk.lines, start=chunk.first)
    )

"""Connections with time limits for slow clients.

uvicorn closes a connection that is idle after an answer. But uvicorn waits without limit for a slow
request, and for a client that does not read its answer.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 1_000
"""The maximum number of connections; each is an open file."""
REQUEST_SECONDS = 30.0
"""The time limit for a client to send a request with its body, in seconds."""
READING_SECONDS = 60.0
"""The time limit for a client that reads nothing of its answer, in seconds."""

_OTHER_FILES = 1_000


class Connection(H11Protocol):
    """A connection that is closed if its client is slow, or if there are too many."""

    _request: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accepts a client, or closes the connection if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timers."""
        super().connection_lost(exc)
        _end(self._request)
        self._request = None
        _end(self._reading)
        self._reading = None

    def data_received(self, data: bytes) -> None:
        """Handles a part of a request."""
        super().data_received(data)
        self._watch()

    def pause_writing(self) -> None:
        """Starts the timer of an answer that the client does not read."""
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stops the timer of the answer."""
        super().resume_writing()
        _end(self._reading)
        self._reading = None

    def _watch(self) -> None:
        cycle: Any = self.cycle  # None until there is a first request
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            _end(self._request)
            self._request = None
        elif self._request is None:
            self._request = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)


def allow_files() -> None:
    """Raises the limit of open files to the most connections and some more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _end(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()

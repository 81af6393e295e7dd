"""The service in a server: how it ends."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

from api.service.connections import Connection
from api.service.service import Service

LONGEST_GOODBYE_SECONDS = 20


class _Server(uvicorn.Server):
    """Ends searches and followers first: who waits is told so, and no client holds it up."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Called in the event loop, once a signal has come."""
        self._service.close_soon()
        await super().shutdown(sockets)


def server_of(app: FastAPI) -> uvicorn.Server:
    """A server of the service, which logs as the process does."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=LONGEST_GOODBYE_SECONDS,
    )
    return _Server(config, app.state.service)

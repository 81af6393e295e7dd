"""The HTTP server of the service: listening, serving, shutting down."""

from __future__ import annotations

import gc
import os
import socket

import uvicorn
from fastapi import FastAPI

from ...planning.errors import UsageError
from .connections import Connection, allow_files
from .service import Service

LONGEST_GOODBYE_SECONDS = 20


class _Server(uvicorn.Server):
    """A server that ends searches and streams of results first, so that no client delays it."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shuts down; uvicorn calls this method in the event loop after a signal."""
        self._service.close_soon()
        await super().shutdown(sockets)


def server_of(app: FastAPI) -> uvicorn.Server:
    """Returns a server of the application, with the logging of the process."""
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


def serve_at(listening: socket.socket, server: uvicorn.Server) -> None:
    """Serves until a signal ends it."""
    allow_files()
    # Exclude all current objects from garbage collection: scanning them would delay answers.
    gc.collect()
    gc.freeze()
    server.run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """Listens on an address; port 0 takes any free one.

    Raises:
        UsageError: if the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}",
            hint="--port takes another, 0 any free one",
        ) from error
    # Connections inherit TCP_NODELAY from this socket. asyncio sets it only on sockets with the
    # protocol TCP, which this one lacks: each answer would wait 40 ms for an acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening

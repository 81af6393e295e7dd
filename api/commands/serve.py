"""``headrace serve``: the REST service."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Annotated

import typer

from api import options as opt
from api.console import say
from headrace.errors import UsageError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    *,
    host: Annotated[
        str, typer.Option(help="Listen here; by default for this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8080,
    catalog: opt.CatalogFile = None,
    debug: opt.Debug = False,
) -> None:
    """Serve POST /optimize and POST /explain; the API is described at /docs."""
    import uvicorn

    from api.request import read_catalog
    from api.service import create_app

    # Behind loopback no page of another site may call it by a name of its own.
    hosts = ("127.0.0.1", "localhost", "[::1]") if host in _LOOPBACK else ()
    app = create_app(read_catalog(catalog), hosts)
    listening = _bound(host, port)
    name = f"[{host}]" if ":" in host else host
    say(f"Headrace listens on http://{name}:{listening.getsockname()[1]} (API at /docs)")
    server = uvicorn.Server(uvicorn.Config(app, log_level="debug" if debug else "warning"))
    with listening, contextlib.suppress(KeyboardInterrupt):  # that is how it is meant to end
        server.run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}",
            hint="--port takes another, 0 any free one",
        ) from error

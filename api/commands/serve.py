"""``headrace serve``: the REST service."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from .. import options as opt
from ..console import say, say_warning

RUNNING = "Running queries"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    *,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; by default reachable from this machine alone."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any free one.")
    ] = 8080,
    catalog: opt.CatalogFile = None,
    constants: opt.ConstantsFile = None,
    feedback: Annotated[
        bool,
        typer.Option(
            "--feedback/--no-feedback",
            help="Whether queries keep the figures that they measure, in the data directory, and "
            "plans use them.",
        ),
    ] = True,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample/--no-sample",
            help="Whether plans use the samples of the catalog's streams; without, requests cannot "
            "switch them on.",
        ),
    ] = True,
    home: Annotated[
        Path | None,
        typer.Option(
            envvar="HEADRACE_HOME",
            help="The data directory; by default the one for a user's data on this system.",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="HEADRACE_DATABASE",
            metavar="URL",
            help="Keep plans and queries in this database, as postgresql+psycopg://...; by default "
            "in a file of the data directory.",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            envvar="HEADRACE_TOKENS",
            metavar="FILE",
            help="Require a bearer token of this file: on each line scopes (read,plan,run), token.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="Let pages of this origin use the service from a browser. Repeatable."),
    ] = None,
    searches: Annotated[
        int, typer.Option(min=1, max=64, help="The number of searches at once, each in a process.")
    ] = 2,
    allow_sources: Annotated[
        bool,
        typer.Option(
            "--allow-sources",
            help="Let clients say where a stream is read, and to which topics results go: any file "
            "or server this machine reaches.",
        ),
    ] = False,
    most_running: Annotated[
        int,
        typer.Option(
            min=0, max=1000, help="The most queries that run at once.", rich_help_panel=RUNNING
        ),
    ] = 8,
    keep_results: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="BYTES",
            help="The most bytes of results kept for each query; the oldest are removed.",
            rich_help_panel=RUNNING,
        ),
    ] = 1_000_000_000,
    master: Annotated[
        str | None,
        typer.Option(
            help="The Spark master; by default all cores of this machine.", rich_help_panel=RUNNING
        ),
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="A Spark setting. Repeatable.", rich_help_panel=RUNNING
        ),
    ] = None,
    debug: opt.Debug = False,
) -> None:
    """Serve plans and run queries over HTTP; the API is described at /docs."""
    from ...planning.calibration import chosen_calibration
    from ..request import read_catalog, spark_settings
    from ..service import Settings, create_app
    from ..service.engine_messages import EngineOptions
    from ..service.logs import to_stderr
    from ..service.results import Kept
    from ..service.serving import listen, serve_at, server_of
    from ..service.settings import default_home
    from ..service.store import sqlite_url
    from ..service.tokens import read_tokens

    local = host in _LOOPBACK
    place = (home or default_home()).absolute()
    accepted = read_tokens(tokens) if tokens is not None else ()
    if not (local or accepted):
        say_warning(
            f"every client that reaches {host} may use this service: --tokens requires a token"
        )
    calibration = chosen_calibration(constants)
    settings = Settings(
        database=database or sqlite_url(place),
        catalog=read_catalog(catalog, sample=sample),
        constants=None if calibration is None else calibration.values,
        # Behind loopback, refuse other host names: pages of other sites could use them.
        hosts=("127.0.0.1", "localhost", "[::1]") if local else (),
        origins=tuple(allow_origin or ()),
        tokens=accepted,
        searches_at_once=searches,
        home=place,
        allow_sources=allow_sources,
        most_running=most_running,
        results=Kept(bytes=keep_results),
        feedback=feedback,
        engine=EngineOptions(master, conf=spark_settings(conf or ()), debug=debug),
    )
    listening = listen(host, port)
    with listening, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the normal end
        app = create_app(settings)
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        say(f"Headrace listens on {address} (a page to look at; its API is described at /docs)")
        to_stderr(debug=debug)
        serve_at(listening, server_of(app))

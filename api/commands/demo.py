"""``headrace demo``: runs an example query on real data, with the page of the service."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
import webbrowser
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .. import options as opt
from ..console import styled, watched

if TYPE_CHECKING:
    import socket

    import uvicorn

    from ...planning.planner import Planned

_LARGEST_BATCH = 2_500
"""The maximum number of edges in a micro-batch: small, for early results."""
_SPEED = "1d"
"""The replay rate on a terminal, in application time per second."""
_LOOK_SECONDS = 0.3
_ENDED = ("finished", "failed", "stopped")


def demo(
    query: Annotated[
        Literal["chains", "triangle", "q5", "q6", "q7"],
        typer.Argument(help="Which of the bundled queries."),
    ] = "chains",
    *,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=f"Replay this much of the data's time per second: {_SPEED} on a terminal; "
            "elsewhere as fast as possible.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="The port of the page; by default 8080 or a free one.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Keep the results here; by default they are removed when the demo ends.",
            show_default=False,
        ),
    ] = None,
    debug: opt.Debug = False,
) -> None:
    """Run a query on sixty days of real data, bundled with Headrace, and show every step, here and
    on a page. On a terminal the page stays until Ctrl-C; else all ends when the query has."""
    from ...catalog import load
    from ...executor.spark.host.folders import own_folder
    from ...planning.planner import optimize
    from ...planning.query_text import read_text
    from ...planning.requests import PlanRequest
    from ..request import per_second
    from ..service import Settings, create_app
    from ..service.engine_messages import EngineOptions
    from ..service.serving import serve_at, server_of
    from ..service.store import sqlite_url

    stays = sys.stdin.isatty() and sys.stdout.isatty()
    if speed is None and stays:
        speed = _SPEED
    _check_empty(output)
    with (
        resources.as_file(resources.files("headrace.examples") / "mathoverflow") as folder,
        own_folder() as (home, _),
    ):
        text = read_text(folder / f"{query}.rq")
        catalog = load(folder / "catalog.yaml")
        body: dict[str, Any] = {
            "query": text,
            "name": query,
            "largest_batch": _LARGEST_BATCH,
            "speed": None if speed is None else per_second(speed, catalog.time_unit),
        }
        _say("The query", text.strip())
        planned = optimize(PlanRequest(text, f"{query}.rq", catalog=catalog))
        _show_plans(planned)
        app = create_app(
            Settings(
                database=sqlite_url(home),
                catalog=catalog,
                hosts=("127.0.0.1", "localhost"),
                home=home,
                engine=EngineOptions(debug=debug, records_classes=True),
            )
        )
        listening = _listening(port)
        server = server_of(app)
        guide = _Guide(
            planned,
            body,
            server=server,
            address=f"http://127.0.0.1:{listening.getsockname()[1]}",
            home=home,
            output=output,
            stays=stays,
        )
        with listening, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the normal end
            guide.start()
            serve_at(listening, server)
        if guide.error is not None:
            raise guide.error


class _Guide(threading.Thread):
    """Runs the query as a client of the service, and shows the results on stdout."""

    def __init__(
        self,
        planned: Planned,
        body: dict[str, Any],
        *,
        server: uvicorn.Server,
        address: str,
        home: Path,
        output: Path | None,
        stays: bool,
    ) -> None:
        super().__init__(name="headrace-demo", daemon=True)
        self.error: Exception | None = None
        self._planned = planned
        self._body = body
        self._server = server
        self._address = address
        self._home = home
        self._output = output
        self._stays = stays

    def run(self) -> None:
        """Runs the demo, and stops the server at its end."""
        try:
            self._lead()
        except Exception as error:
            self.error = error
        if self.error is not None or not self._stays:
            self._server.should_exit = True

    def _lead(self) -> None:
        from ..client import Client

        while not self._server.started:
            time.sleep(_LOOK_SECONDS / 10)
        client = Client(self._address)
        started = client.post("/queries", self._body)
        page = f"{self._address}/#/live/{started['id']}"
        _say("The page", f"{page}\nshows the plan, the search for it, and the query as it runs.")
        if self._stays:
            _open(page)
        results = self._home / "queries" / started["id"] / "results"
        last = self._follow(client, started["id"], results)
        if self._output is not None:
            shutil.copytree(results, self._output, ignore=_NOTES, dirs_exist_ok=True)
        _say("Done", _account(last, self._output))
        if self._stays:
            print("The page stays until you end this with Ctrl-C.", flush=True)

    def _follow(self, client: Any, id_: str, results: Path) -> dict[str, Any]:
        """Shows results until the query has ended, and returns its document."""
        from ...planning.errors import RunError
        from ..showing import shown_results

        plan = self._planned.plan
        edges = ", ".join(label for stream in plan.streams for label in stream.labels)
        _heading(f"Results on sixty days of MathOverflow ({edges}), as Spark finds them")
        with shown_results(plan, results) as show:
            shown, now = None, client.get(f"/queries/{id_}")
            while now["state"] not in _ENDED:
                if now["progress"] != shown:
                    shown = now["progress"]
                    show(_progress(shown))
                time.sleep(_LOOK_SECONDS)
                now = client.get(f"/queries/{id_}")
            show(_progress(now["progress"]))
        if now["state"] == "failed":
            raise RunError(now["error"]["detail"])
        return dict(now)


_NOTES = shutil.ignore_patterns("_headrace")


def _progress(progress: dict[str, Any] | None) -> Any:
    from ...executor.spark.report import Progress

    if progress is None:
        return Progress("starting", 0.0)
    names = ("phase", "fraction", "batch", "edges", "results", "now", "seconds")
    return Progress(**{name: progress[name] for name in names})


def _account(document: dict[str, Any], output: Path | None) -> str:
    done = document["progress"]
    if done is None:
        return "The query was stopped before it began."
    lines = [
        f"read      {done['edges']:,} edges, {done['rejected']:,} rows rejected",
        f"found     {done['results']:,} results",
        f"took      {done['seconds']:.1f} s",
    ]
    return "\n".join(lines + ([] if output is None else [f"results   {output}/part-*.jsonl"]))


def _check_empty(output: Path | None) -> None:
    from ...planning.errors import UsageError

    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} is not an empty folder", code="E-OUTPUT")


def _listening(port: int | None) -> socket.socket:
    from ...planning.errors import UsageError
    from ..service.serving import listen

    if port is not None:
        return listen("127.0.0.1", port)
    try:
        return listen("127.0.0.1", 8080)
    except UsageError:
        return listen("127.0.0.1", 0)


def _open(page: str) -> None:
    """Opens the page if there is a screen; a text browser would take over the terminal."""
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page)


def _show_plans(planned: Planned) -> None:
    from ...documents.explained import physical_document
    from ...documents.picture import picture_of_plan
    from ..explanation import summary
    from ..render import text

    colour = watched(sys.stdout)
    result = planned.optimization
    written, chosen = picture_of_plan(result.canonical_plan), physical_document(planned)
    _say(
        "The query as it is written, run operator by operator", text.render(written, colour=colour)
    )
    _say("The plan chosen", text.render(chosen.picture, colour=colour))
    _say("", summary(chosen))


def _heading(text: str) -> None:
    if text:
        print(styled(f"── {text} ", "1;36", sys.stdout), flush=True)


def _say(heading: str, text: str) -> None:
    _heading(heading)
    print(text.rstrip("\n"), end="\n\n", flush=True)

"""The load time, blocking time and size of the page: ``python -m bench.page``.

Chromium opens the page of a local service, each time with an empty profile. Times are from the
navigation until the query can be typed, until it can be planned, and until the plan of the first
example is drawn. Then it opens the start page, and each view of a plan by its address, and measures
how long tasks block the main thread (:mod:`bench.blocking`).
"""

from __future__ import annotations

import gzip
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

from bench.blocking import SLOWDOWN, Blocking, traced
from bench.measuring import Spread, headline, machine, save
from bench.service import serving
from headrace.api.service.page import FOLDER

SEEN = {
    "the query can be typed": ".cm-content",
    "it can be planned": "button.run:not([disabled])",
    "the first plan is drawn": "[data-box]",
}

VIEWS = {
    "start": ("", "/explanation", "[data-box]"),
    "plan": ("#/plan/{plan}", "/explanation", "[data-box]"),
    "memo": ("#/memo/{plan}", "/memo", ".memo [data-box]"),
    "search": ("#/search/{plan}", "/memo", ".growth rect"),
}
"""The address of each view, the last document that it fetches, and a selector that it matches once
it is drawn. The start page shows the plan of the first example."""


@dataclass(frozen=True, slots=True)
class Row:
    """The milliseconds until one of :data:`SEEN` appears."""

    name: str
    ms: Spread


@dataclass(frozen=True, slots=True)
class ViewRow:
    """The fields of :class:`Blocking` for a view, in milliseconds."""

    view: str
    blocking: Spread
    longest: Spread
    busy: Spread


def size() -> int:
    """The bytes of all files of the page, each compressed."""
    files = [path for path in (FOLDER / "assets").iterdir() if path.is_file()]
    return sum(len(gzip.compress(path.read_bytes())) for path in (FOLDER / "index.html", *files))


def opened(browser: Browser, address: str) -> list[float]:
    """The milliseconds until each of :data:`SEEN` appears."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    times = []
    for selector in SEEN.values():
        page.wait_for_selector(selector)
        times.append(1000 * (time.perf_counter() - start))
    context.close()
    return times


def plan_of(browser: Browser, address: str, example: str) -> str:
    """The id of the plan of an example, which the service keeps with its memo and search."""
    context = browser.new_context()
    listed = context.request.get(f"{address}examples").json()
    chosen = next(one for one in listed if one["name"] == example)
    asked = {"query": chosen["query"], "catalog": chosen["catalog"]}
    planned: str = context.request.post(f"{address}optimize", data=asked).json()["id"]
    for document in ("memo", "trace"):
        context.request.get(f"{address}plans/{planned}/{document}")
    context.close()
    return planned


def blocked(browser: Browser, address: str, plan: str, repeats: int) -> list[ViewRow]:
    """How long each view blocks the main thread when its address is opened.

    The views take turns, so that the load of the machine is the same for all.
    """
    found: dict[str, list[Blocking]] = {view: [] for view in VIEWS}
    for _ in range(repeats):
        for view, (place, answer, seen) in VIEWS.items():
            opens = address + place.format(plan=plan)
            found[view].append(traced(browser, opens, answer, seen))
    return [
        ViewRow(
            view,
            Spread.of([one.blocking_ms for one in runs]),
            Spread.of([one.longest_ms for one in runs]),
            Spread.of([one.busy_ms for one in runs]),
        )
        for view, runs in found.items()
    ]


def main(
    repeats: Annotated[int, typer.Option(help="How often each address is opened.")] = 9,
    example: Annotated[
        str, typer.Option(help="The query whose views are opened.")
    ] = "amlsim/cycle.rq",
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the load time, blocking time and size of the page."""
    console = Console()
    described = machine()
    console.print(headline(described))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with (
        TemporaryDirectory() as folder,
        serving(Path(folder)) as service,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        address = f"http://127.0.0.1:{service.port}/"
        opened(browser, address)  # warm-up: the service caches the plan
        times = [opened(browser, address) for _ in range(repeats)]
        views = blocked(browser, address, plan_of(browser, address, example), repeats)
        browser.close()
    rows = [
        Row(name, Spread.of(list(column)))
        for name, column in zip(SEEN, zip(*times, strict=True), strict=True)
    ]
    table = Table("", "ms")
    for row in rows:
        table.add_row(row.name, row.ms.text(0))
    console.print(table)
    console.print(table_of(views, example))
    console.print(f"{size():,} bytes, each file compressed")
    options = {"repeats": repeats, "example": example, "slowdown": SLOWDOWN, "bytes": size()}
    save(out, "page", options, [*rows, *views])


def table_of(views: list[ViewRow], example: str) -> Table:
    """The blocking time of the views as a table."""
    table = Table(
        f"view of {example}, {SLOWDOWN} times slower",
        "blocking, ms",
        "longest task, ms",
        "main thread, ms",
    )
    for row in views:
        table.add_row(row.view, row.blocking.text(0), row.longest.text(0), row.busy.text(0))
    return table


if __name__ == "__main__":
    typer.run(main)

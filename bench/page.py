"""The load time and size of the page: ``python -m bench.page``.

Chromium opens the page of a local service, each time with an empty profile. Times are from the
navigation until the query can be typed, until it can be planned, and until the plan of the first
example is drawn.
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

from bench.measuring import Spread, headline, machine, save
from bench.service import serving
from headrace.api.service.page import FOLDER

SEEN = {
    "the query can be typed": ".cm-content",
    "it can be planned": "button.run:not([disabled])",
    "the first plan is drawn": "[data-box]",
}


@dataclass(frozen=True, slots=True)
class Row:
    """The milliseconds until one of :data:`SEEN` appears."""

    name: str
    ms: Spread


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


def main(
    repeats: Annotated[int, typer.Option(help="How often the page is opened.")] = 9,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the load time and size of the page."""
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
        browser.close()
    rows = [
        Row(name, Spread.of(list(column)))
        for name, column in zip(SEEN, zip(*times, strict=True), strict=True)
    ]
    table = Table("", "ms")
    for row in rows:
        table.add_row(row.name, row.ms.text(0))
    console.print(table)
    console.print(f"{size():,} bytes, each file compressed")
    save(out, "page", {"repeats": repeats, "bytes": size()}, rows)


if __name__ == "__main__":
    typer.run(main)

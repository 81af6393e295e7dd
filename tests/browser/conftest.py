"""The Chromium of the distribution, driven by Playwright, and a service with the page.

Both end with each module: while Playwright runs, no other test can start an event loop.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

from headrace.api.service import create_app
from headrace.catalog import load
from tests.api.command import CATALOG
from tests.api.serving import LOOPBACK, served, settings
from tests.waiting import PATIENCE

SHOTS = Path(__file__).parent / "shots"
"""The last screenshot of each test; not committed."""

PATIENCE_MS = 1000 * PATIENCE
"""The limit of each wait for the page, in milliseconds; only a page that hangs reaches it."""

expect.set_options(timeout=PATIENCE_MS)

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """An installed browser without a window."""
    executable = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip("there is no Chromium on PATH: apt-get install chromium")
    with sync_playwright() as playwright:
        # Only Headrace's pages are opened; containers have no sandbox and little shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that ends each search early."""
    service_settings = settings(
        tmp_path_factory.mktemp("home"),
        catalog=load(CATALOG),
        hosts=LOOPBACK,
        longest_search_ms=1500.0,
    )
    with served(create_app(service_settings)) as client:
        yield str(client.base_url)


@pytest.fixture
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of the service, which may contact no other host and log no error."""
    page = browser.new_page(base_url=address, viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.extend(_fault(message)))
    page.on("request", lambda sent: faults.extend(_abroad(sent, address)))
    page.on("dialog", lambda dialog: faults.extend(_dismissed(dialog)))
    try:
        yield page
    finally:
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"{request.node.name}.png")
        page.close()
    assert faults == []


def _fault(message: ConsoleMessage) -> list[str]:
    # The browser itself logs each failed request.
    if message.type != "error" or message.text.startswith("Failed to load resource"):
        return []
    return [message.text]


def _dismissed(dialog: Dialog) -> list[str]:
    dialog.dismiss()
    return [dialog.message]


def _abroad(sent: Request, address: str) -> list[str]:
    own = urlsplit(address).hostname
    url = urlsplit(sent.url)
    return [sent.url] if url.scheme not in ("blob", "data") and url.hostname != own else []

"""Takes pictures of the page for the docs: ``python -m tests.browser.pictures``.

They show the plan and the alternatives of bundled queries, and can be taken again after any change.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from headrace.api.service import create_app
from headrace.catalog import load
from tests.api.command import CATALOG, EXAMPLES, ROOT
from tests.api.serving import LOOPBACK, served, settings
from tests.browser.test_page import TRIANGLE, opened, optimize
from tests.waiting import PATIENCE

DOCS = ROOT / "docs"
WIDE = (1440, 900)


def main() -> None:
    """Takes all pictures."""
    expect.set_options(timeout=1000 * PATIENCE)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        service = settings(
            Path(home),
            catalog=load(CATALOG),
            hosts=LOOPBACK,
            longest_search_ms=1000 * PATIENCE,
        )
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        with served(create_app(service)) as client:
            address = str(client.base_url)
            _plan(_page(browser, address, WIDE))
            _alternatives(_page(browser, address, WIDE, dark=True))
        browser.close()


def _page(browser: Browser, address: str, size: tuple[int, int], *, dark: bool = False) -> Page:
    width, height = size
    page = browser.new_page(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
    )
    page.set_default_timeout(1000 * PATIENCE)
    return page


def _take(page: Page, name: str) -> None:
    page.wait_for_timeout(1000)  # for transitions, which a picture would catch half-way
    page.screenshot(path=DOCS / f"page-{name}.png")
    page.close()


def _plan(page: Page) -> None:
    opened(page)
    optimize(page, (EXAMPLES / "chains.rq").read_text("utf-8"))
    page.get_by_role("button", name=re.compile("^S_PATH ")).first.click()
    _take(page, "plan")


def _alternatives(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    page.get_by_role("button", name="Alternatives").click()
    rows = page.locator(".alternatives li")
    expect(rows.nth(1)).to_be_visible()
    rows.nth(1).click()
    _take(page, "alternatives")


if __name__ == "__main__":
    main()

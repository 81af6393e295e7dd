"""Every view of the page looks as in its reference picture, at three sizes, light and dark.

``pytest -m long --update-golden tests/browser/test_pictures.py`` takes the references anew; look at
them. A test that fails leaves the screenshot and a picture of the difference in ``shots/``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from headrace.api.service import create_app
from headrace.catalog import load
from tests.api.command import CATALOG
from tests.api.serving import LOOPBACK, served, settings
from tests.browser.comparing import Difference, difference, reduced, save
from tests.browser.conftest import PATIENCE_MS, SHOTS
from tests.browser.frozen import MOMENTS, freeze
from tests.browser.test_page import TRIANGLE, settled
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.long, pytest.mark.spark]

REFERENCES = Path(__file__).parent / "references"
LARGEST_REFERENCE = 15_000
"""Bytes; references are kept in the repository for good."""

SIZES = {"wide": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
Scheme = Literal["light", "dark"]
SCHEMES: Sequence[Scheme] = ("light", "dark")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that never cuts a search, so that a plan is always the same."""
    home = tmp_path_factory.mktemp("home")
    service_settings = settings(
        home, catalog=load(CATALOG), hosts=LOOPBACK, longest_search_ms=1000 * PATIENCE
    )
    with served(create_app(service_settings)) as client:
        yield str(client.base_url)


@pytest.fixture(scope="module")
def plan(address: str) -> str:
    """The id of the plan of a query that has run to its end."""
    with httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as client:
        id_: str = client.post("/optimize", json={"query": TRIANGLE}).json()["id"]
        run = client.post("/queries", json={"plan": id_}).json()["id"]
        until(lambda: client.get(f"/queries/{run}").json()["state"] == "finished")
    return id_


def _plan(page: Page, plan: str) -> None:
    page.goto(f"/#/plan/{plan}")
    settled(page)


def _details(page: Page, plan: str) -> None:
    _plan(page, plan)
    steady(page)  # what is drawn beside the graph in later tasks makes it smaller
    page.get_by_role("button", name=re.compile("^HASH_JOIN ")).first.press("Enter")
    expect(page.get_by_role("article")).to_be_visible()


def _compare(page: Page, plan: str) -> None:
    _plan(page, plan)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("As written", exact=True)).to_be_visible()


def _alternatives(page: Page, plan: str) -> None:
    _plan(page, plan)
    page.get_by_role("button", name="Alternatives").click()
    expect(page.locator(".alternatives li").nth(1)).to_be_visible()


def _memo(page: Page, plan: str) -> None:
    page.goto(f"/#/memo/{plan}")
    expect(page.locator(".memo [data-box]").first).to_be_visible()


def _search(page: Page, plan: str) -> None:
    page.goto(f"/#/search/{plan}")
    expect(page.locator("article.step")).to_be_visible()


def _live(page: Page, _plan: str) -> None:
    """The last run. Its rates and times differ from run to run, so the estimates are shown."""
    page.goto("/#/live")
    page.locator(".queries li button").first.click()
    expect(
        page.get_by_role("list", name="Newest results").get_by_role("button").first
    ).to_be_visible()
    page.get_by_role("button", name="Estimated").click()
    page.add_style_tag(content=".tiles { visibility: hidden }")


def _running(page: Page, _plan: str) -> None:
    """The same run at a moment at which it had not ended."""
    freeze(page)
    page.goto("/#/live")
    page.locator(".queries li button").first.click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", str(MOMENTS[-1]))
    expect(page.get_by_role("list", name="Newest results").get_by_role("button")).not_to_have_count(
        0
    )


VIEWS: dict[str, Callable[[Page, str], None]] = {
    "plan": _plan,
    "details": _details,
    "compare": _compare,
    "alternatives": _alternatives,
    "memo": _memo,
    "search": _search,
    "live": _live,
    "running": _running,
}
"""Each view of the page by name, and how to get there. A new view is added here."""


def steady(page: Page) -> Image.Image:
    """The reduced screenshot of the whole page, once it no longer changes."""
    last = b""
    for _ in range(20):
        page.wait_for_timeout(100)
        shot = page.screenshot(animations="disabled", caret="hide", full_page=True)
        if shot == last:
            break
        last = shot
    return reduced(shot)


def pictures(browser: Browser, address: str, plan: str, size: str) -> Iterator[tuple[str, Page]]:
    """Shows each view in each scheme, and yields the name of its picture."""
    width, height = SIZES[size]
    page = browser.new_page(
        base_url=address,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
    )
    page.set_default_timeout(PATIENCE_MS)
    try:
        for view, show in VIEWS.items():
            _release(page)
            page.goto("about:blank")  # each view begins as on a new page
            page.emulate_media(color_scheme=SCHEMES[0])
            show(page, plan)
            if size != "phone":  # there the query is folded
                expect(page.locator(".cm-content")).to_be_visible()
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                expect(page.locator("html")).to_have_attribute("data-theme", scheme)
                yield f"{view}-{size}-{scheme}", page
    finally:
        _release(page)
        page.close()


def _release(page: Page) -> None:
    """Ends the routes of a view, of which one may be waiting for an answer: the page asks again."""
    page.unroute_all(behavior="ignoreErrors")


def compared(name: str, shot: Image.Image) -> Difference:
    """Compares with the reference; a difference is written to ``shots/``."""
    with Image.open(REFERENCES / f"{name}.png") as reference:
        found = difference(shot, reference)
    if not found.tolerable:
        SHOTS.mkdir(exist_ok=True)
        shot.save(SHOTS / f"{name}.png")
        found.picture.save(SHOTS / f"{name}-difference.png")
    return found


@pytest.mark.parametrize("size", SIZES)
def test_views_look_as_in_their_references(
    browser: Browser, address: str, plan: str, size: str, request: pytest.FixtureRequest
) -> None:
    differing = []
    for name, page in pictures(browser, address, plan, size):
        shot = steady(page)
        if request.config.getoption("--update-golden"):
            save(shot, REFERENCES / f"{name}.png")
        found = compared(name, shot)
        if not found.tolerable:
            differing.append(f"{name}: {found}; see {SHOTS / name}-difference.png")
    assert differing == []


def test_references_are_small_and_all_in_use() -> None:
    names = {f"{v}-{s}-{c}.png" for v in VIEWS for s in SIZES for c in SCHEMES}
    sizes = {path.name: path.stat().st_size for path in REFERENCES.iterdir()}
    assert sizes.keys() == names
    assert {name: size for name, size in sizes.items() if size > LARGEST_REFERENCE} == {}


FLAWS = {
    "empty": "[role=tabpanel] > * { visibility: hidden !important }",
    "moved": "[role=tabpanel] > * { transform: translate(48px, 24px) }",
    "hidden header": "header { visibility: hidden }",
    "no contrast": "[role=tabpanel] * { color: rgb(127 127 127 / 8%) !important }"
    "[role=tabpanel] text { fill-opacity: 8% !important }",
    "wrong scheme": "html { filter: invert(1) }",
}
"""Styles that break the page."""


@pytest.fixture(scope="module")
def shown(browser: Browser, address: str, plan: str) -> Iterator[Page]:
    """The alternatives on a wide page."""
    for name, page in pictures(browser, address, plan, "wide"):
        if name == "alternatives-wide-light":
            yield page
            return


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_found(shown: Page, flaw: str) -> None:
    with Image.open(REFERENCES / "alternatives-wide-light.png") as reference:
        assert difference(steady(shown), reference).tolerable
        style = shown.add_style_tag(content=FLAWS[flaw])
        found = difference(steady(shown), reference)
        style.evaluate("style => style.remove()")
    assert not found.tolerable, f"{flaw}: {found}"


def test_a_pixel_is_tolerated(shown: Page) -> None:
    """As letters of another rendering, and lines that are rounded another way."""
    with Image.open(REFERENCES / "alternatives-wide-light.png") as reference:
        style = shown.add_style_tag(content="body { transform: translate(1px, 1px) }")
        found = difference(steady(shown), reference)
        style.evaluate("style => style.remove()")
    assert found.tolerable, str(found)

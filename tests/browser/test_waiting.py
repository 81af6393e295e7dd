"""The page while it waits: progress, cancelling, stale plans, one search for all views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from headrace.api.service import create_app
from tests.api.serving import long_query, served, settings
from tests.browser.test_page import opened, optimize, settled, write

SMALL = "Answer(x, z) <- a(x, y), b(y, z)\nWINDOW 1d"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with one process, whose searches take long."""
    made = settings(
        tmp_path_factory.mktemp("home"), searches_at_once=1, longest_search_ms=300_000.0
    )
    with served(create_app(made)) as client:
        yield str(client.base_url)


def begun(page: Page) -> None:
    """The page over the streams of the service, which are assumed."""
    opened(page)
    with page.expect_response(re.compile("/explanation$")):
        page.get_by_label("Streams", exact=True).select_option("")
    settled(page)


def test_a_long_search_shows_its_progress_and_can_be_cancelled(page: Page) -> None:
    begun(page)
    write(page, long_query())
    page.keyboard.press("Control+Enter")
    panel = page.get_by_role("region", name="Query")
    expect(panel).to_contain_text(re.compile(r"Planning ….*[1-9]\d* groups, .* expressions", re.S))
    # The plan is that of the text before, and says so.
    expect(page.locator(".content.stale [data-box]").first).to_be_visible()
    expect(page.get_by_text("The new text is being planned")).to_be_visible()
    shot(page, "planning")
    page.get_by_role("button", name="Cancel").click()
    settled(page)
    expect(page.locator(".summary")).to_contain_text("cancelled")
    expect(page.locator(".content.stale")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_on_a_phone_progress_and_errors_are_in_sight(page: Page) -> None:
    """There, the page scrolls from the query to the plan."""
    begun(page)
    page.set_viewport_size({"width": 390, "height": 844})
    write(page, long_query("3d"))
    page.keyboard.press("Control+Enter")
    note = page.locator(".stale[role=status]")
    expect(note).to_contain_text(re.compile(r"Planning ….*[1-9]\d* groups, .* expressions", re.S))
    cancel = note.get_by_role("button", name="Cancel")
    expect(cancel).to_be_in_viewport()
    shot(page, "planning-phone")
    cancel.click()
    settled(page)
    expect(page.locator(".summary")).to_contain_text("cancelled")
    write(page, "Answer(x, y) <- a(x y)")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(page.get_by_role("alert")).to_contain_text("E-SYNTAX")


def test_one_search_serves_all_views(page: Page) -> None:
    """The memo and the steps are those of the search that was cancelled, not of another one."""
    begun(page)
    write(page, long_query("2d"))
    page.keyboard.press("Control+Enter")
    page.get_by_role("region", name="Query").get_by_role("button", name="Cancel").click()
    settled(page)
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - Playwright wraps it
    page.get_by_role("tab", name="Memo").click()
    expect(page.locator(".memo [data-box]").first).to_be_visible()
    page.get_by_role("tab", name="Search").click()
    expect(page.locator("article.step")).to_be_visible()
    for request in asked:
        answer = request.response()
        if answer is not None and re.search(r"/(memo|trace)", request.url):
            assert answer.json()["stop_reason"] == "cancelled"
    # The list of a search that was cut is of the plans that it has.
    page.get_by_role("tab", name="Plan").click()
    page.get_by_role("button", name="Alternatives").click()
    expect(page.locator(".alternatives li").first).to_be_visible()


def test_a_long_ranking_can_be_cancelled(page: Page) -> None:
    begun(page)
    optimize(page, SMALL)
    # A ranking that the service is busy with.
    page.route(re.compile("/alternatives"), lambda route: None)
    page.get_by_role("button", name="Alternatives").click()
    aside = page.get_by_label("Alternatives", exact=True)
    expect(aside).to_contain_text("Ranking all plans")
    aside.get_by_role("button", name="Cancel").click()
    expect(aside).to_contain_text("Cancelled.")
    page.unroute(re.compile("/alternatives"))
    aside.get_by_role("button", name="Try again").click()
    expect(page.locator(".alternatives li").filter(has_text="chosen")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_plan_of_an_earlier_text_says_so(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    begun(page)
    optimize(page, SMALL)
    note = page.get_by_text("The query was edited since")
    expect(note).to_have_count(0)
    write(page, SMALL.replace("b(", "c("))
    expect(note).to_be_visible()
    shot(page, f"stale-{scheme}")
    page.get_by_role("button", name="Restore the text").click()
    expect(note).to_have_count(0)
    expect(page.locator(".cm-content")).to_contain_text("b(y, z)")
    write(page, SMALL.replace("b(", "c("))
    page.get_by_role("button", name="Plan it now").click()
    expect(page.get_by_role("button", name=re.compile("^WSCAN .*c window"))).to_be_visible()
    expect(note).to_have_count(0)
    page.get_by_role("button", name="Alternatives").click()
    expect(page.locator(".alternatives li").nth(1)).to_be_visible()
    shot(page, f"alternatives-{scheme}")


def shot(page: Page, name: str) -> None:
    folder = Path(__file__).parent / "shots"
    folder.mkdir(exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")

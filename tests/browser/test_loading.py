"""Parts of the page that are fetched later: the editor, and the views other than the plan."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import QUESTION, TRIANGLE, boxes, opened, settled

pytestmark = pytest.mark.long


def test_a_query_can_be_typed_before_the_editor_is_there(page: Page) -> None:
    editor = re.compile(r"/assets/Editor-[^/]*\.js$")
    page.route(editor, lambda route: route.abort())
    opened(page)
    plain = page.get_by_role("textbox", name="Query")
    plain.fill(TRIANGLE)
    with page.expect_response(QUESTION):
        plain.press("Control+Enter")
    settled(page)
    expect(boxes(page, "COALESCE")).to_have_count(1)
    page.unroute(editor)
    page.get_by_role("button", name="Hide the query").click()
    page.get_by_role("button", name="Edit the query").click()
    expect(page.locator(".cm-content")).to_contain_text("c2q(z, x)")


def test_a_view_that_cannot_be_fetched_says_so(page: Page) -> None:
    views = re.compile(r"/assets/MemoView-[^/]*\.js$")
    page.route(views, lambda route: route.abort())
    opened(page)
    page.get_by_role("tab", name="Memo").click()
    expect(page.get_by_text("did not answer with this view")).to_be_visible()
    page.unroute(views)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".memo [data-box]").first).to_be_visible()

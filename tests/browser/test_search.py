"""The search in a real browser, step by step."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.api.command import EXAMPLES
from tests.waiting import PATIENCE

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def plan(address: str) -> str:
    """The id of the plan of an example to which many rules apply."""
    return planned(address, "chains.rq")


def planned(address: str, example: str) -> str:
    """The id of the plan of an example."""
    body = {"query": Path(EXAMPLES / example).read_text("utf-8")}
    answer = httpx.post(f"{address}/optimize", json=body, timeout=PATIENCE, trust_env=False)
    id_: str = answer.json()["id"]
    return id_


@pytest.fixture
def search(page: Page, plan: str) -> Page:
    """The page at the first step of the search, with all kinds of steps."""
    return opened(page, plan)


def opened(page: Page, plan: str) -> Page:
    """The page at the first step of the search for a plan, with all kinds of steps."""
    page.goto(f"/#/search/{plan}")
    expect(page.locator("article.step")).to_be_visible()
    for kind in ("Duplicate", "Pruned"):
        page.get_by_role("button", name=kind).click()
    return page


def test_a_link_to_the_search_fetches_plan_and_steps_side_by_side(page: Page, plan: str) -> None:
    held: list[Route] = []
    page.route(re.compile("/explanation$"), lambda route: held.append(route))  # noqa: PLW0108
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    with page.expect_response(re.compile(r"/trace\?")):
        page.goto(f"/#/search/{plan}")
    # Steps are not shown before the plan: their costs are in its unit.
    expect(page.get_by_text("Fetching the steps of the search")).to_be_visible()
    expect(page.locator("article.step")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".growth rect").first).to_be_visible()
    for document in ("explanation", "trace", "memo"):
        assert asked.count(f"/plans/{plan}/{document}") == 1


def state(page: Page) -> tuple[str, str]:
    """The texts of the step and of the memo after it."""
    memo = page.get_by_role("region", name="The memo after this step")
    return page.locator("article.step").inner_text(), memo.inner_text()


def test_steps_give_the_same_state_forwards_and_backwards(search: Page) -> None:
    line = search.get_by_role("slider", name="Step of the search")
    line.focus()
    count = int(line.get_attribute("aria-valuemax") or 0)
    assert count > 15
    seen = [state(search)]
    for at in range(2, count + 1):
        line.press("ArrowRight")
        expect(line).to_have_attribute("aria-valuenow", str(at))
        seen.append(state(search))
    assert len(set(seen)) == count
    for at in range(count - 1, 0, -1):
        line.press("ArrowLeft")
        expect(line).to_have_attribute("aria-valuenow", str(at))
        assert state(search) == seen[at - 1]
    line.press("End")
    expect(line).to_have_attribute("aria-valuenow", str(count))
    assert state(search) == seen[-1]


def test_an_operator_of_the_plan_leads_to_the_step_that_created_it(
    page: Page, address: str
) -> None:
    search = opened(page, planned(address, "triangle.rq"))
    origins = search.get_by_role("group", name="Where the operators of the plan came from")
    origins.get_by_role("button", name="HASH_JOIN").first.click()
    step = search.locator("article.step")
    expect(step.get_by_text("matched", exact=True)).to_be_visible()
    expect(step.get_by_role("img")).to_have_count(2)
    memo = search.get_by_role("region", name="The memo after this step")
    expect(memo.locator(".fresh").first).to_be_visible()
    # The table of rules leads to the steps of one rule.
    rule = step.get_by_role("heading").inner_text()
    search.get_by_role("button", name="Rules", exact=True).last.click()
    row = search.get_by_role("row").filter(has_text=rule)
    expect(row).to_contain_text("→")
    row.get_by_role("button", name=rule).click()
    steps = search.get_by_role("listbox", name="Steps").get_by_role("option")
    expect(steps.first).to_contain_text(rule)
    assert set(steps.locator(".head").all_inner_texts()) == {rule}


def test_arrow_keys_step_through_the_search_after_a_click_on_its_tab(page: Page, plan: str) -> None:
    page.goto(f"/#/plan/{plan}")
    tab = page.get_by_role("tab", name="Search")
    tab.click()
    line = page.get_by_role("slider", name="Step of the search")
    expect(line).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("ArrowRight")
    expect(line).to_have_attribute("aria-valuenow", "2")
    expect(tab).to_have_attribute("aria-selected", "true")


def test_a_search_plays_to_its_end(search: Page) -> None:
    search.get_by_label("Steps per second").select_option("64")
    search.get_by_role("button", name="Play").click()
    line = search.get_by_role("slider", name="Step of the search")
    expect(line).to_have_attribute("aria-valuenow", line.get_attribute("aria-valuemax") or "")
    expect(search.get_by_role("button", name="Play")).to_be_visible()

"""The memo in a real browser: a large one, its chosen plan, its search and its lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from headrace.api.service import create_app
from tests.api.serving import LOOPBACK, served, settings
from tests.waiting import PATIENCE

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that never cuts a search, so that the memo is always the same."""
    home = tmp_path_factory.mktemp("home")
    service_settings = settings(home, hosts=LOOPBACK, longest_search_ms=1000 * PATIENCE)
    with served(create_app(service_settings)) as client:
        yield str(client.base_url)


VARIABLES = ", ".join(f"x{i}" for i in range(13))
ATOMS = ", ".join(f"a{i}(x{i}, x{i + 1})" for i in range(12))


@pytest.fixture(scope="module")
def chain(address: str) -> str:
    """The id of the plan of a query of 12 atoms, all of whose variables are returned.

    So no path replaces the joins.
    """
    return planned(address, f"Answer({VARIABLES}) <- {ATOMS} WINDOW 1d")


@pytest.fixture(scope="module")
def ends(address: str) -> str:
    """The id of the plan of a query of 12 atoms for its first and last variable."""
    return planned(address, f"Answer(x0, x12) <- {ATOMS} WINDOW 1d")


def planned(address: str, query: str) -> str:
    """The id of the plan of a query over the labels a0 to a11."""
    labels = {
        f"a{i}": {"rate": 0.001 * (3 + 7 * i % 11), "distinct_src": 100, "distinct_trg": 90}
        for i in range(12)
    }
    body = {"query": query, "streams": {"s": {"labels": labels}}}
    answer = httpx.post(f"{address}/optimize", json=body, timeout=PATIENCE, trust_env=False)
    id_: str = answer.json()["id"]
    return id_


def test_the_memo_of_twelve_atoms_is_drawn(page: Page, chain: str) -> None:
    page.goto(f"/#/memo/{chain}")
    memo = page.locator(".memo")
    boxes = memo.locator("[data-box]")
    groups = page.get_by_role("listbox", name="Groups")
    # The view begins with the plan: twelve scans and eleven joins.
    expect(boxes).to_have_count(23)
    expect(memo.get_by_role("status")).to_contain_text("78 groups")
    query = boxes.filter(has_text="the query")
    expect(query.locator(".run")).to_have_count(1)
    page.get_by_role("button", name="All", exact=True).click()
    expect(boxes).to_have_count(78)
    # Keys go along the list, and the details show the group.
    groups.focus()
    for key in ("Home", "ArrowDown", "End"):
        groups.press(key)
    details = page.get_by_role("region", name=re.compile(r"Group \d+"))
    expect(details).to_contain_text("Cheapest plans")
    # The list keeps the groups that were found; one that is picked is drawn.
    page.get_by_role("button", name="Plan", exact=True).last.click()
    expect(boxes).to_have_count(23)
    page.get_by_label("Find groups and expressions").fill("PatternCommute a3")
    expect(groups.get_by_role("option")).not_to_have_count(78)
    groups.get_by_role("option").first.click()
    expect(details).to_contain_text("by PatternCommute")
    details.get_by_role("button", name="Focus").click()
    chosen = re.sub(r"\D", "", details.get_attribute("aria-label") or "")
    focused = memo.locator(f'[data-box="{chosen}"]')
    expect(focused).to_have_attribute("aria-label", re.compile("open$"))
    # The group and those around it are drawn: neither the plan with it, nor all groups.
    expect(boxes).not_to_have_count(23)
    expect(boxes).not_to_have_count(24)
    assert 2 < boxes.count() < 78


def test_the_winner_comes_first_among_alternatives(page: Page, ends: str) -> None:
    page.goto(f"/#/memo/{ends}")
    memo = page.locator(".memo")
    memo.locator("[data-box]").filter(has_text="the query").press("Enter")
    details = page.get_by_role("region", name=re.compile(r"Group \d+"))
    details.get_by_role("button", name="coalesced").click()
    alternatives = details.get_by_role("listbox", name="Alternatives of group")
    expect(alternatives.get_by_role("option").first).to_contain_text("winner")
    expect(alternatives.get_by_role("option").nth(1)).not_to_contain_text("winner")
    # From an expression to the step of the search that created it.
    details.get_by_role("button", name="expressions").click()
    members = details.get_by_role("listbox", name="Expressions of group")
    created = members.get_by_role("option").filter(has_text="by Pattern").first
    rule = re.search(r"by (\w+)", created.inner_text())
    assert rule
    created.get_by_text("created").click()
    expect(page.get_by_role("tab", name="Search")).to_have_attribute("aria-selected", "true")
    step = page.locator("article.step")
    expect(step.get_by_role("heading")).to_have_text(rule[1])
    # The memo marks the expressions that the step added, with the one that was clicked among them.
    expect(page.locator(".fresh").first).to_be_visible()

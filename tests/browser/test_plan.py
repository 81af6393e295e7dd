"""The plan's graph in a real browser: figures, folded operators, the text plan, linked plans."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from headrace.api.explanation import explained
from headrace.catalog import load
from headrace.documents.numbers import number
from headrace.planning.planner import optimize as planned
from headrace.planning.requests import PlanRequest
from headrace.running.analysis import analyze
from headrace.running.runs import files_alone, inputs_of_plan
from tests.api.command import CATALOG
from tests.browser.test_page import TRIANGLE, opened, optimize

pytestmark = pytest.mark.long

SMALL = "Answer(x, z) <- a2q(x, y), c2a(y, z)\nWINDOW 1d"


def boxes(page: Page, operator: str) -> Locator:
    """The boxes of an operator; the lines of the text plan are buttons too."""
    return page.locator(f'[data-box][aria-label^="{operator} "]')


def test_measured_figures_of_a_file_are_shown(page: Page, tmp_path: Path) -> None:
    """The file is that of ``headrace explain --analyze --format json``."""
    catalog = load(CATALOG)
    chosen = planned(PlanRequest(SMALL, catalog=catalog))
    analysis = analyze(chosen.plan, files_alone(inputs_of_plan(chosen.plan, catalog, [])))
    file = tmp_path / "analysis.json"
    file.write_text(explained(chosen, "physical", "json", analysis=analysis), "utf-8")
    opened(page)
    optimize(page, TRIANGLE)
    figures = page.get_by_role("group", name="Figures")
    measured = figures.get_by_role("button", name="Measured")
    expect(measured).to_be_disabled()
    expect(page.get_by_text("No run has measured this plan")).to_be_visible()

    def choose(path: Path) -> None:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Open figures").click()
        chooser.value.set_files(path)

    choose(file)  # it is of another plan
    expect(page.get_by_role("alert")).to_contain_text(chosen.plan.digest)
    optimize(page, SMALL)
    choose(file)
    measured.click()
    counters = next(node.counters for node in analysis.nodes.values() if node.op == "HASH_JOIN")
    box = boxes(page, "HASH_JOIN")
    expect(box).to_have_attribute("aria-label", re.compile("of the measured time"))
    box.click()
    tiles = page.get_by_role("region", name="Measured")
    expect(tiles).to_contain_text(re.compile(rf"rows in\s*{number(counters.rows_in)}"))
    expect(tiles).to_contain_text(re.compile(rf"rows out\s*{number(counters.rows_out)}"))
    figures.get_by_role("button", name="How far off").click()
    expect(box).to_have_attribute("aria-label", re.compile("times off|as estimated"))
    figures.get_by_role("button", name="Estimated").click()
    expect(box).to_have_attribute("aria-label", re.compile("of the cost"))


def test_a_plan_dearer_than_as_written_says_so(page: Page) -> None:
    """Only a search that was cut ends with one, so the page reads an explanation with its costs."""

    def dearer(route: Route) -> None:
        response = route.fetch()
        explanation = response.json()
        for cost in ("cost", "shared_cost"):
            explanation[cost] = 2.5 * explanation[f"canonical_{cost}"]
        route.fulfill(response=response, json=explanation)

    page.route(re.compile("/explanation$"), dearer)
    opened(page)
    summary = page.locator(".summary")
    expect(summary.locator(".chip", has_text="dearer")).to_have_text("2.50× dearer")
    expect(summary).not_to_contain_text("cheaper")
    expect(summary).not_to_contain_text("as good as written")


def test_enforcers_fold_subtrees_collapse_and_the_text_selects(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    answer = page.request.get(f"/plans/{page.url.rsplit('/', 1)[1]}").json()
    nodes = answer["plan"]["nodes"]
    expect(boxes(page, "TO_KERNEL")).to_have_count(0)
    page.get_by_role("button", name="Enforcers").click()
    kernels = sum(node["op"] == "TO_KERNEL" for node in nodes)
    assert kernels
    expect(boxes(page, "TO_KERNEL")).to_have_count(kernels)
    page.get_by_role("button", name="Enforcers").click()
    expect(boxes(page, "TO_KERNEL")).to_have_count(0)

    join = boxes(page, "COALESCE")
    page.get_by_role("button", name="Text", exact=True).click()
    lines = page.get_by_role("list", name="as text").get_by_role("button")
    lines.filter(has_text="COALESCE").click()
    expect(join).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Collapse").click()
    expect(boxes(page, "WSCAN")).to_have_count(0)
    expect(join).to_have_attribute("aria-label", re.compile("operators below"))
    # A line of a hidden operator brings it back.
    lines.filter(has_text="WSCAN").first.click()
    expect(boxes(page, "WSCAN").first).to_be_visible()
    # A folded one gets a box while it is selected.
    lines.filter(has_text="TO_KERNEL").first.click()
    expect(boxes(page, "TO_KERNEL")).to_have_count(1)


def test_operators_of_compared_and_pinned_plans_are_linked(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    page.get_by_role("button", name="Pin", exact=True).click()
    optimize(page, SMALL.replace("1d", "2d"))
    optimize(page, TRIANGLE.replace("30d", "20d"))
    page.get_by_role("button", name="Pinned").click()
    shown = page.get_by_role("region", name="The chosen plan")
    pinned = page.get_by_role("region", name="Pinned plan", exact=True)
    # By the keyboard, as the operator may lie outside the part of the graph that is in view.
    shown.get_by_role("button", name=re.compile("^WSCAN mathoverflow.c2q")).press("Enter")
    marked = pinned.locator(".marked")
    expect(marked).to_have_count(1)
    expect(marked).to_have_attribute(
        "aria-label", re.compile("^WSCAN mathoverflow.c2q.*corresponds")
    )
    contrast = page.get_by_role("region", name="In the other plan")
    expect(contrast).to_contain_text("window 20d slide 1d")
    expect(contrast).to_contain_text("window 30d slide 1d")
    page.get_by_role("button", name=re.compile("^Unpin")).click()
    expect(page.get_by_text("Pin this plan; then change")).to_be_visible()


def test_a_large_plan_is_legible_and_has_a_map(page: Page) -> None:
    opened(page)
    page.set_viewport_size({"width": 900, "height": 600})
    labels = ("a2q", "c2a", "c2q")
    atoms = ", ".join(f"{labels[k % 3]}(x{k}, x{k + 1})" for k in range(8))
    optimize(page, f"Answer(x0, x8) <- {atoms}\nWINDOW 2d")
    page.get_by_role("button", name="Compare").click()
    written = page.get_by_role("region", name="Query as written")
    name = written.locator("[data-box] text.name").last
    expect(name).to_be_visible()
    box = name.bounding_box()
    assert box
    assert box["height"] > 10  # pixels; a graph that fits whole would be smaller
    graph = written.locator("svg .view")
    before = str(graph.get_attribute("style"))
    written.locator("svg.map").click(position={"x": 2, "y": 60})
    expect(graph).not_to_have_attribute("style", before)


def test_on_a_phone_the_map_covers_no_box(page: Page) -> None:
    opened(page)
    labels = ("a2q", "c2a", "c2q")
    atoms = ", ".join(f"{labels[k % 3]}(x{k}, x{k + 1})" for k in range(5))
    optimize(page, f"Answer(x0, x5) <- {atoms}\nWINDOW 2d")
    page.set_viewport_size({"width": 390, "height": 844})
    below = page.locator("svg.map").bounding_box()
    drawing = page.locator("svg:has(.view)").bounding_box()
    assert below
    assert drawing
    assert below["y"] >= drawing["y"] + drawing["height"]


def test_unions_of_unions_are_one_box(page: Page) -> None:
    opened(page)
    heads = [f"R(x, y) <- {one}(x, y)." for one in ("a2q", "c2a", "c2q", "a2q+")]
    optimize(page, "\n".join([*heads, "Answer(x, y) <- R(x, y).", "WINDOW 2d"]))
    expect(boxes(page, "UNION")).to_have_count(1)
    expect(boxes(page, "UNION")).to_contain_text("unions in one")
    page.get_by_role("button", name="Enforcers").click()
    expect(boxes(page, "UNION").nth(1)).to_be_attached()
    expect(page.get_by_text("unions in one")).to_have_count(0)


def test_alternatives_of_twelve_joins_have_a_line_each(page: Page) -> None:
    opened(page)
    labels = ("a2q", "c2a", "c2q")
    atoms = ", ".join(f"{labels[k % 3]}(x{k}, x{k + 1})" for k in range(13))
    head = ", ".join(f"x{k}" for k in range(14))
    optimize(page, f"Answer({head}) <- {atoms}\nWINDOW 2d")
    page.get_by_role("button", name="Alternatives").click()
    lines = page.locator(".alternatives .difference .mono")
    expect(lines.nth(17)).to_be_attached()
    texts = lines.all_inner_texts()
    assert len(set(texts)) == len(texts)

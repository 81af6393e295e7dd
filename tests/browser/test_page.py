"""The page in a real browser: from a query to its plan, links, exports, keyboard, tokens."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Response, expect

from headrace.api.service import create_app
from headrace.api.service.examples import examples
from headrace.api.service.tokens import token
from headrace.catalog import Catalog, LabelStatistics, Stream
from tests.api import serving
from tests.waiting import until
from web import build_page

TRIANGLE = "Answer(x, y, z) <- a2q(x, y), c2a(y, z), c2q(z, x).\nWINDOW 30d SLIDE 1d"
QUESTION = re.compile(r"/optimize$")


def write(page: Page, query: str) -> None:
    """Replaces the text of the editor."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(query)


def optimize(page: Page, query: str) -> None:
    write(page, query)
    with page.expect_response(QUESTION):
        page.keyboard.press("Control+Enter")
    settled(page)


def opened(page: Page, place: str = "/") -> None:
    page.goto(place)
    expect(page.locator("[data-box]").first).to_be_visible()
    settled(page)


def settled(page: Page) -> None:
    expect(page.locator(".progress:not(.on)")).to_be_attached()
    expect(page.locator("[data-box]").first).to_be_attached()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def body_of(answer: Response) -> dict[str, Any]:
    """The body of the request of a response."""
    body: dict[str, Any] = answer.request.post_data_json or {}
    return body


def boxes(page: Page, operator: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{operator} "))


def test_a_typed_query_is_planned_and_drawn(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    expect(page.get_by_role("button", name=re.compile("^WSCAN mathoverflow.c2q"))).to_be_visible()
    expect(boxes(page, "COALESCE")).to_have_count(1)
    page.get_by_role("button", name=re.compile("^HASH_JOIN ")).first.click()
    details = page.get_by_role("article")
    expect(details).to_contain_text("rows of the second input held at an instant")
    expect(details).to_contain_text("Why it is there")
    expect(details).to_contain_text("Costs are in µs of work per hour of stream.")
    expect(page.locator(".summary .unit")).to_have_text("µs of work per hour of stream")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("As written", exact=True)).to_be_visible()
    page.get_by_role("button", name="Alternatives").click()
    rows = page.locator(".alternatives li")
    expect(rows.first).to_contain_text("chosen")
    expect(rows.nth(3)).to_be_attached()
    expect(rows.nth(1)).to_contain_text("instead of")
    rows.nth(2).click()
    expect(page.get_by_text("Number 3", exact=True)).to_be_visible()


def test_an_error_is_underlined_in_place(page: Page) -> None:
    opened(page)
    write(page, "Answer(x, y) <- a2q(x y)")
    expect(page.locator(".cm-lintRange-error")).to_have_text("y")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("E-SYNTAX")
    expect(note).to_contain_text("a comma")
    optimize(page, "Answer(x, y) <- a2q(x, y) WINDOW 1d")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(note).to_have_count(0)


def test_keywords_are_coloured_and_warnings_go_with_their_text(page: Page) -> None:
    opened(page)
    optimize(page, "Answer(x, y) <- a2q(x, y), c2a(u, v) DIFFERENT EDGES\nWINDOW 1d")
    warning = page.get_by_text("W-CROSS")
    expect(warning).to_be_visible()
    token = page.locator(".cm-line span").filter(has_text=re.compile("^(DIFFERENT EDGES|WINDOW)$"))
    expect(token).to_have_count(2)
    phrase, word = (one.get_attribute("class") for one in token.all())
    assert phrase == word
    write(page, "Answer(x, y) <- a2q(x, y), optional c2a(y, z)\nWINDOW 1d")
    expect(warning).to_have_count(0)
    expect(page.locator(".cm-line span", has_text=re.compile("^optional$"))).to_have_class(
        str(word)
    )


@pytest.mark.long
def test_every_example_is_planned(page: Page) -> None:
    opened(page)
    for example in examples():
        with page.expect_response(QUESTION) as answer:
            page.get_by_label("Example", exact=True).select_option(example.name)
        assert answer.value.status == 200, example.name
        settled(page)
        planned = json.loads(answer.value.text())
        expect(page).to_have_url(re.compile(planned["id"]))
        expect(page.get_by_role("alert"), example.name).to_have_count(0)


def test_sliders_and_rules_change_the_plan(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    cost = page.locator(".summary strong")
    before = cost.inner_text()
    slider = page.get_by_role("slider", name="rate").nth(1)
    slider.focus()
    with page.expect_response(QUESTION) as answer:
        slider.press("End")
    rates = body_of(answer.value)["catalog"]["streams"]["mathoverflow"]["labels"]
    assert rates["c2a"]["rate"] == pytest.approx(0.1735764, rel=1e-3)
    expect(cost).not_to_have_text(before)
    page.get_by_text("Rules", exact=True).click()
    rule = page.get_by_role("checkbox", name=re.compile("PatternAssociate"))
    with page.expect_response(QUESTION) as answer:
        rule.uncheck()
    assert body_of(answer.value)["options"]["disabled_rules"] == ["PatternAssociate"]
    with page.expect_response(QUESTION):
        page.get_by_role("button", name="Reset").click()
    expect(cost).to_have_text(before)


def test_a_link_shows_the_plan_again(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    link = page.url
    page.goto("about:blank")
    opened(page, link)
    expect(boxes(page, "COALESCE")).to_have_count(1)
    expect(page.locator(".cm-content")).to_contain_text("c2q(z, x)")
    page.goto(link[:-4] + "0000")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("is stored")


def test_the_back_button_restores_the_previous_query(page: Page) -> None:
    """The page does not send a request for each position of a slider."""
    opened(page)
    example = page.url
    optimize(page, TRIANGLE)
    expect(page).not_to_have_url(example)
    triangle = page.url
    with page.expect_response(QUESTION):
        page.get_by_role("slider", name="rate").first.press("End")
    expect(page).not_to_have_url(triangle)
    page.go_back()
    expect(page).to_have_url(example)
    expect(page.locator(".cm-content")).to_contain_text("(a2q/c2a)+")
    expect(boxes(page, "S_PATH")).to_be_visible()


def test_plans_are_saved_as_files(page: Page, tmp_path: Path) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    for kind in ("SVG", "PNG", "JSON"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=kind).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.suffix == f".{kind.lower()}"
        if kind == "SVG":
            drawn = ET.fromstring(file.read_text("utf-8"))
            texts = ["".join(text.itertext()) for text in drawn.iter(f"{{{SVG}}}text")]
            assert texts.count("COALESCE") == 1
            assert all("var(" not in value for e in drawn.iter() for value in e.attrib.values())
        if kind == "PNG":
            assert file.read_bytes().startswith(b"\x89PNG")
        if kind == "JSON":
            assert json.loads(file.read_text("utf-8"))["nodes"]


SVG = "http://www.w3.org/2000/svg"


def test_names_with_markup_are_shown_as_text(page: Page) -> None:
    opened(page)
    script, image = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>"
    optimize(page, f"Answer(x, z) <- `{script}`(x, y), `{image}`+(y, z) WINDOW 1d")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("^E-UNKNOWN"))
    statistics = {"rate": 1, "distinct_src": 9, "distinct_trg": 9}
    streams = {f"<b>{script}": {"labels": {script: statistics, image: statistics}}}
    body = {
        "query": f"Answer(x, z) <- `{script}`(x, y), `{image}`+(y, z) WINDOW 1d",
        "streams": streams,
    }
    planned = page.request.post("/optimize", data=body).json()
    page.goto(f"/#/plan/{planned['id']}")
    page.reload()
    settled(page)
    expect(page.locator("svg").get_by_text(script).first).to_be_attached()
    for view in ("Memo", "Search", "Plan"):
        page.get_by_role("tab", name=view).click()
    for mode in ("Compare", "Alternatives"):
        page.get_by_role("button", name=mode).click()
    page.locator("[data-box]").last.click()
    assert page.locator("#app script, #app img, #app b >> text=script").count() == 0


@pytest.mark.long
def test_long_names_stay_in_their_panels(page: Page) -> None:
    opened(page)
    name = "a_name_that_goes_on_" * 6
    statistics = {"rate": 1, "distinct_src": 9, "distinct_trg": 9}
    body = {
        "query": f"Answer(x, z) <- {name}(x, y), {name}+(y, z) WINDOW 1d",
        "streams": {name: {"labels": {name: statistics}}},
    }
    planned = page.request.post("/optimize", data=body).json()
    page.goto(f"/#/plan/{planned['id']}")
    page.reload()
    settled(page)
    page.locator("[data-box]").first.press("Enter")
    expect(page.get_by_role("article")).to_be_visible()
    expect(page.get_by_role("slider", name="rate").first).to_be_visible()
    for panel in ("section.side", ".details"):
        extent = "panel => panel.scrollWidth - panel.clientWidth"
        assert page.locator(panel).evaluate(extent) <= 0, panel
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_is_usable_by_keyboard_alone(page: Page) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    page.get_by_role("tab", name="Plan").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Memo")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    root = page.get_by_role("button", name=re.compile("^COALESCE "))
    root.focus()
    page.keyboard.press("ArrowDown")
    focused = page.locator("[data-box]:focus")
    expect(focused).to_have_attribute("aria-label", re.compile("^(HASH_JOIN|WSCAN) "))
    page.keyboard.press("Enter")
    expect(page.get_by_role("article")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("article")).to_have_count(0)


def test_a_phone_shows_the_whole_page(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page)
    page.get_by_role("button", name="Alternatives").click()
    expect(page.locator(".alternatives li").first).to_be_visible()
    page.locator("[data-box]").last.click()
    expect(page.get_by_role("article")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_the_plan_first_and_goes_back_to_it(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page)
    expect(page.locator(".cm-content")).not_to_be_visible()
    plan = page.locator(".view [data-box]").last
    expect(plan).to_be_in_viewport()
    page.get_by_role("button", name="Edit the query").click()
    write(page, TRIANGLE)
    run = page.get_by_role("button", name="Optimize")
    run.scroll_into_view_if_needed()
    with page.expect_response(QUESTION):
        run.click()
    settled(page)
    expect(boxes(page, "COALESCE")).to_be_in_viewport()
    # So it is with the keyboard.
    page.locator(".cm-content").scroll_into_view_if_needed()
    optimize(page, TRIANGLE.replace("30d", "10d"))
    expect(boxes(page, "COALESCE")).to_be_in_viewport()
    # The header does not cover the bar of the plan.
    header = page.locator("header").first.bounding_box()
    assert header
    until(lambda: top_of(page.locator(".modes")) >= header["height"] - 1)
    # A problem is shown beside the query.
    page.get_by_role("button", name="Hide the query").click()
    page.goto("/#/plan/" + "0" * 32)
    expect(page.get_by_role("alert")).to_contain_text("is stored")


def top_of(one: Locator) -> float:
    box = one.bounding_box()
    return box["y"] if box else -1.0


def test_what_is_picked_in_a_moved_graph_stays_in_sight(page: Page) -> None:
    """The panel with the details makes the graph narrower."""
    opened(page)
    optimize(page, TRIANGLE)
    scan = page.get_by_role("button", name=re.compile("^WSCAN mathoverflow.c2q"))
    for _ in range(4):
        page.get_by_role("button", name="Larger").click()
    scan.focus()
    view = page.locator(".graphs svg").first.bounding_box()
    box = scan.bounding_box()
    assert view
    assert box
    # Move the scan to the right end of the graph, where the panel will stand.
    x, y = view["x"] + 40, view["y"] + 40
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + view["x"] + view["width"] - 60 - box["x"] - box["width"] / 2, y, steps=4)
    page.mouse.up()
    scan.press("Enter")
    panel = page.locator(".details")
    expect(panel).to_be_visible()

    def centre_is_left_of_the_panel() -> bool:
        moved, side = scan.bounding_box(), panel.bounding_box()
        if moved is None or side is None:
            return False
        return moved["x"] + moved["width"] / 2 < side["x"]

    until(centre_is_left_of_the_panel)


def test_a_service_with_a_catalog_opens_on_its_streams(browser: Browser, tmp_path: Path) -> None:
    known = LabelStatistics(rate=2.0, distinct_src=9, distinct_trg=9, vertices=12)
    catalog = Catalog({"calls": Stream("calls", {"rings": known})})
    with serving.served(create_app(serving.settings(tmp_path, catalog=catalog))) as client:
        page = browser.new_page(base_url=str(client.base_url))
        page.goto("/")
        expect(
            page.get_by_role("button", name=re.compile("^WSCAN calls.rings")).first
        ).to_be_visible()
        expect(page.get_by_label("Streams", exact=True)).to_have_value("")
        expect(page.locator(".cm-content")).to_contain_text("rings(x, y), rings(y, z)")
        page.close()


def test_a_desktop_shows_the_page_without_scrolling(page: Page) -> None:
    opened(page)
    expect(page.get_by_role("slider", name="rate").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") <= 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_can_be_chosen(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    opened(page)
    shown = page.locator("html")
    expect(shown).to_have_attribute("data-theme", scheme)
    page.get_by_role("button", name=re.compile("colours")).click()
    other = "light" if scheme == "dark" else "dark"
    expect(shown).to_have_attribute("data-theme", other)
    page.reload()
    expect(shown).to_have_attribute("data-theme", other)


@pytest.mark.long
def test_the_page_reconnects_to_a_restarted_service(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving.running(home) as first:
        port = first.address.rpartition(":")[2]
        opened(page, first.address)
        shown = page.locator("[data-box]").count()
        first.process.kill()
        first.process.wait()
    write(page, TRIANGLE)
    page.keyboard.press("Control+Enter")
    banner = page.get_by_text("The service does not answer. The page")
    expect(banner).to_be_visible()
    expect(page.locator("[data-box]")).to_have_count(shown)
    with serving.running(home, "--port", port):
        expect(banner).to_have_count(0)
        expect(
            page.get_by_role("button", name=re.compile("^WSCAN mathoverflow.c2q"))
        ).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_page_prompts_for_a_token_and_keeps_it_in_the_tab(
    browser: Browser, tmp_path: Path
) -> None:
    secret = "plan-" + "p" * 20
    service_settings = serving.settings(
        tmp_path, tokens=(token(secret, "plan"),), searches_at_once=1
    )
    with serving.served(create_app(service_settings)) as client:
        page = browser.new_page(base_url=str(client.base_url))
        page.goto("/")
        dialog = page.get_by_role("dialog")
        for typed in ("wrong-" + "w" * 20, secret):
            dialog.get_by_label("Token").fill(typed)
            dialog.get_by_role("button", name="Go on").click()
        expect(dialog).to_have_count(0)
        expect(page.locator("[data-box]").first).to_be_visible()
        page.reload()
        expect(page.locator("[data-box]").first).to_be_visible()
        assert page.evaluate("Object.keys(localStorage)") == []
        page.close()


VIEWS = {
    "Plan": "[data-box]",
    "Memo": ".memo [data-box]",
    "Search": "article.step",
    "Live": "text=No query runs here yet",
}
"""The views, and an element of each that appears once it is drawn."""

NOTHING_MOVES = """
document.getAnimations().every(
  (one) => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)
"""


@pytest.mark.long
def test_the_page_has_no_accessibility_violations(page: Page) -> None:
    """The rules of axe-core for WCAG 2 A and AA hold in each view, light and dark."""
    build_page.install(tests=True)
    axe = (build_page.WEB / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")
    opened(page)
    optimize(page, TRIANGLE)
    violations: list[str] = []
    for look in ("Dark", "Light"):
        page.get_by_role("button", name=f"{look} colours").click()
        for view, content in VIEWS.items():
            page.get_by_role("tab", name=view).click()
            expect(page.locator(content).first).to_be_visible()
            if view == "Plan":
                page.get_by_role("button", name="Alternatives").click()
                expect(page.locator(".alternatives li").first).to_be_visible()
                page.locator("[data-box]").last.click()
            until(lambda: page.evaluate(NOTHING_MOVES))
            page.evaluate(axe)
            report = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa']})")
            violations += [
                f"{look} {view}: {one['id']} at {node['target']}: {node['failureSummary']}"
                for one in report["violations"]
                for node in one["nodes"]
            ]
    assert not violations, "\n".join(violations)


def test_the_api_page_loads_nothing_from_other_hosts(page: Page) -> None:
    # The fixture fails if another host is contacted or the policy is violated.
    page.goto("/docs")
    expect(page.get_by_text("Counters for Prometheus")).to_be_visible()
    page.get_by_text("The cheapest plan of a query").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.get_by_text("Server response")).to_be_visible()


def test_a_drawing_of_a_plan_runs_no_script(page: Page) -> None:
    body = {"query": "Answer(x, y) <- x (a2q/c2a)+ y WINDOW 3d", "format": "html"}
    drawn = page.request.post("/explain", data=body)
    policy = drawn.headers["content-security-policy"]
    # A browser that opens the answer gets it with this policy.
    page.route(
        "**/drawing",
        lambda route: route.fulfill(
            body=drawn.text(),
            headers={"Content-Type": "text/html", "Content-Security-Policy": policy},
        ),
    )
    page.goto("/drawing")
    expect(page.locator(".plan")).to_be_visible()
    styled = page.locator(".plan").evaluate("e => getComputedStyle(e).overflowX")
    assert styled != "visible"  # its style sheet was applied
    assert "script-src" not in policy

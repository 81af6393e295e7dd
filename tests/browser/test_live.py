"""A query in a real browser is typed, runs on Spark and shows its results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from headrace.api.service import create_app
from headrace.catalog import load
from tests.api.command import CATALOG
from tests.api.serving import LOOPBACK, served, settings
from tests.browser.test_page import TRIANGLE, opened, optimize


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    service_settings = settings(home, catalog=load(CATALOG), hosts=LOOPBACK)
    with served(create_app(service_settings)) as client:
        yield str(client.base_url)


@pytest.mark.long
@pytest.mark.spark
def test_a_typed_query_runs_and_shows_its_results(page: Page, tmp_path: Path) -> None:
    opened(page)
    optimize(page, TRIANGLE)
    page.get_by_role("tab", name="Live").click()
    page.get_by_label("Files at").select_option(label="as fast as it goes")
    page.get_by_role("button", name="Run the query").click()
    expect(page).to_have_url(re.compile("#/live/[0-9a-f]+$"))
    results = page.get_by_role("list", name="Newest results").get_by_role("button")
    expect(results.first).to_be_visible()
    chip = page.locator("header .chip").filter(has_text="finished")
    expect(chip).to_be_visible()
    expect(page.locator(".tiles")).to_contain_text("1.6k")
    # The plan shows what was measured, and how far off the estimates were.
    join = page.get_by_role("button", name=re.compile("^COALESCE "))
    expect(join).to_have_attribute("aria-label", re.compile("of the measured time"))
    page.get_by_role("button", name="How far off").click()
    expect(join).to_have_attribute("aria-label", re.compile("times off|as estimated"))
    for name in ("CSV", "JSON lines", "Parquet"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
    found = pq.read_table(file)
    assert found.column_names == ["x", "y", "z", "ts", "exp"]
    assert found.num_rows == len(file.with_suffix(".jsonl").read_text("utf-8").splitlines())
    assert found.num_rows == len(file.with_suffix(".csv").read_text("utf-8").splitlines()) - 1
    drawn = page.get_by_role("group", name="Results", exact=True)
    # A click on a vertex shows the results around it.
    vertex = drawn.get_by_role("button", name=re.compile("^vertex [0-9]+ ")).first
    name = str(vertex.get_attribute("aria-label")).split()[1]
    vertex.click()
    expect(page.get_by_role("heading", name=f"Around {name}")).to_be_visible()
    for text in results.all_inner_texts():
        assert re.search(rf"= {name}\b", text)
    page.get_by_role("button", name="Follow").click()
    x = str(found["x"][0])
    page.get_by_label("Find in the results").fill(f"x={x}")
    expect(page.get_by_role("status").filter(has_text=" of ")).to_be_visible()
    for text in results.all_inner_texts():
        assert f"x = {x}," in text
    page.get_by_label("Find in the results").fill("")
    results.first.click()
    # Only the result that was clicked is drawn: it has one vertex in the column x.
    expect(drawn.get_by_role("button", name=re.compile("^vertex [0-9]+ x"))).to_have_count(1)
    # The link shows the same, with the query in the editor.
    page.reload()
    expect(results.first).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("c2q(z, x)")
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_role("button", name=re.compile("^WSCAN mathoverflow.c2q"))).to_be_visible()
    page.get_by_role("tab", name="Live").click()
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("No query runs here yet")).to_be_visible()


@pytest.mark.long
@pytest.mark.spark
def test_a_query_without_a_result_says_so(page: Page) -> None:
    opened(page)
    optimize(page, "Answer(x) <- a2q(x, 999999999).\nWINDOW 1d")
    page.get_by_role("tab", name="Live").click()
    page.get_by_label("Files at").select_option(label="as fast as it goes")
    page.get_by_role("button", name="Run the query").click()
    results = page.get_by_role("region", name="Results")
    expect(results).to_contain_text("The query ended without a result.")
    expect(results).to_contain_text("0 in all")
    expect(results.get_by_role("listitem")).to_have_count(0)
    # As the text says, the plan shows where the rows end.
    scan = page.get_by_role("button", name=re.compile("^WSCAN "))
    expect(scan).to_have_attribute("aria-label", re.compile(r"\b0\b"))

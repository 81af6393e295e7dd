"""Measured figures on the command line and over REST."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.api.service import create_app
from headrace.api.service.bodies import OptimizeBody
from headrace.api.service.service import Service
from headrace.catalog import load
from headrace.catalog.feedback import feedback_file, read
from headrace.running.analysis import analyze
from headrace.running.feedback import Recorder
from headrace.running.runs import files_alone, inputs_of_plan
from tests.api.command import Commands
from tests.api.serving import served, settings

CATALOG = """
streams:
  rows:
    source: {format: csv, path: rows.csv}
    labels:
      a: {rate: 1, distinct_src: 1000, distinct_trg: 1000}
      b: {rate: 1, distinct_src: 1000, distinct_trg: 1000}
"""
STATISTICS = {"rate": 7, "distinct_src": 1000, "distinct_trg": 1000}
QUERY = "Answer(x, z) <- a(x, y), b(y, z) WINDOW 10s"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog whose statistics are wrong: there are few vertices."""
    random = Random(1)
    rows = [f"v{random.randrange(4)},v{random.randrange(4)},{'ab'[t % 2]},{t}" for t in range(200)]
    (tmp_path / "rows.csv").write_text("\n".join(["src,trg,label,ts", *rows]) + "\n")
    path = tmp_path / "c.yaml"
    path.write_text(CATALOG)
    return path


def test_explain_measures_and_says_so(headrace: Commands, catalog: Path) -> None:
    explain = ("explain", QUERY, "--catalog", catalog)
    before = headrace(*explain)
    assert (before.code, before.err) == (0, "")
    assert "measured" not in before.out
    file = catalog.with_suffix(".measured.sqlite")
    assert headrace(*explain, "--analyze", "--no-feedback").code == 0
    assert not file.exists()
    assert headrace(*explain, "--analyze").code == 0
    assert file.exists()
    after = headrace(*explain)
    assert " ago, in 1 run; " in after.out
    assert "measured" in headrace(*explain, "--format", "html").out
    figures = json.loads(headrace(*explain, "--format", "json").out)["feedback"]
    assert {kind for node in figures.values() for kind in ("distinct", "derived") if node[kind]}
    assert untimed(headrace(*explain, "--no-feedback").out) == untimed(before.out)
    other = headrace(*explain, "--input", catalog.with_name("rows.csv"))
    assert "measured" not in other.out  # figures of the catalog's own source


def untimed(shown: str) -> str:
    """The output without the time of the search."""
    return "\n".join(line for line in shown.splitlines() if not line.startswith("searched"))


def test_a_command_with_a_damaged_file_goes_on_with_a_warning(
    headrace: Commands, catalog: Path
) -> None:
    catalog.with_suffix(".measured.sqlite").write_text("damaged")
    done = headrace("explain", QUERY, "--catalog", catalog, "--analyze")
    assert done.code == 0
    assert done.err.count("warning:") == 2
    assert "c.measured.sqlite" in done.err


def test_the_service_plans_again_after_a_query_was_measured(catalog: Path, tmp_path: Path) -> None:
    made = settings(tmp_path / "home", catalog=load(catalog), searches_at_once=1)
    body = {"query": QUERY}
    with served(create_app(made)) as client:
        first = client.post("/optimize", json=body).json()
        assert client.post("/optimize", json=body).json() == first
        measure(first["plan"], catalog, made.home / "measured.sqlite")
        second = client.post("/optimize", json=body).json()
        assert second["id"] == first["id"]
        assert second["cost"] != first["cost"]
        assert client.post("/optimize", json=body).json() == second
        explained = client.get(f"/plans/{first['id']}/explanation").json()
        assert explained["feedback"]
        assert explained["cost"] == second["cost"]
        assert client.post("/explain", json=body).json()["feedback"]
        off = client.post("/optimize", json={**body, "options": {"feedback": False}}).json()
        assert off["cost"] == first["cost"]
        assert off["id"] != first["id"]
        own = {"rows": {"labels": dict.fromkeys("ab", STATISTICS)}}
        foreign = client.post("/explain", json={**body, "streams": own}).json()
        assert "feedback" not in foreign


@pytest.mark.parametrize("used", [True, False])
def test_a_service_without_feedback_plans_without_figures(
    catalog: Path, tmp_path: Path, used: bool
) -> None:
    made = settings(tmp_path / "home", catalog=load(catalog), feedback=used)
    service = Service(made)
    try:
        job = service.job("optimize", OptimizeBody(query=QUERY), {})
        assert (job.feedback is not None) == (made.figures is not None) == used
    finally:
        service.store.close()


def measure(document: object, catalog: Path, file: Path) -> None:
    """Keeps the figures of a plan, as the engine of a service does."""
    plan, loaded = PhysicalPlan.from_document(document), load(catalog)
    analysis = analyze(plan, files_alone(inputs_of_plan(plan, loaded, ())))
    counters = {node: done.counters for node, done in analysis.nodes.items()}
    kept = Recorder(plan, feedback_file(loaded, file), "query").keep(counters, analysis.ticks)
    assert kept is None
    assert read(file, 0.0)

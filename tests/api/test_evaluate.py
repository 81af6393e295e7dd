"""The option --evaluate on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from tests.api.command import Commands

QUERY = "Answer(x, y) <- a+(x, y)  WINDOW 25 SLIDE 10"
EDGES = [(1, 2, 1), (2, 3, 9), (3, 4, 10), (4, 5, 19), (5, 1, 32), (1, 2, 33), (2, 3, 61)]
CATALOG = (
    "streams:\n  s:\n    deletions: true\n    labels:\n"
    "      a: {rate: 1, distinct_src: 9, distinct_trg: 9}\n"
)


@pytest.fixture
def edges(tmp_path: Path) -> str:
    file = tmp_path / "edges.csv"
    lines = ["src,trg,label,ts", *(f"{x},{y},a,{ts}" for x, y, ts in EDGES)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def connected(t: int) -> set[tuple[str, str]]:
    """Computes the closure of the edges that are valid at an instant."""
    found = {(x, y) for x, y, ts in EDGES if ts <= t < ts // 10 * 10 + 25}
    while more := {(x, z) for x, y in found for v, z in found if y == v} - found:
        found |= more
    return {(str(x), str(y)) for x, y in found}


def test_plan_has_its_evaluation_period(headrace: Commands) -> None:
    done = headrace("optimize", QUERY, "--evaluate", "slide")
    document = json.loads(done.out)
    assert document["evaluate_every"] == 10
    assert PhysicalPlan.from_json(done.out).to_json() == done.out
    eager = json.loads(headrace("optimize", QUERY).out)
    assert "evaluate_every" not in eager
    assert eager["digest"] != document["digest"]


def test_the_same_operators_for_another_meaning_are_another_plan(headrace: Commands) -> None:
    query = "Answer(x, y) <- a(x, y)  WINDOW 10"
    one, other = (
        json.loads(headrace("optimize", query, "--evaluate", kind).out)
        for kind in ("eager", "slide")
    )
    assert one["nodes"] == other["nodes"]
    assert one["digest"] != other["digest"]


def test_the_way_to_find_paths_is_chosen_by_cost(headrace: Commands) -> None:
    def operators(*options: str) -> set[str]:
        document = json.loads(headrace("optimize", *options).out)
        return {node["op"] for node in document["nodes"]}

    assert "SLIDE_PATH" in operators(QUERY, "--evaluate", "slide")
    assert "SLIDE_PATH" not in operators(QUERY)
    short = "Answer(x, y) <- a+(x, y)  WINDOW 2500"
    assert "S_PATH" in operators(short, "--evaluate", "slide")


@pytest.mark.parametrize(
    ("windows", "period"),
    [("WINDOW 9", 1), ("ON input (a) WINDOW 20 SLIDE 6 ON input (b) WINDOW 9 SLIDE 4", 2)],
)
def test_reports_are_at_multiples_of_the_common_divisor_of_all_slides(
    headrace: Commands, windows: str, period: int
) -> None:
    query = f"Answer(x, y) <- a(x, y), b(x, y) {windows}"
    document = json.loads(headrace("optimize", query, "--evaluate", "slide").out)
    assert document["evaluate_every"] == period


def test_explain_says_so(headrace: Commands) -> None:
    told = "evaluated per slide: right at the multiples of 10s, of the instant before each"
    assert told in headrace("explain", QUERY, "--evaluate", "slide").out
    assert "per slide" not in headrace("explain", QUERY).out


def test_reports_of_the_query_itself_are_refused(headrace: Commands) -> None:
    done = headrace("explain", f"{QUERY} EMIT SNAPSHOT EVERY 10", "--evaluate", "slide")
    assert done.code == 2
    assert "reports with `EMIT` are not supported with evaluation per slide yet" in done.error


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ("--evaluate", "slide"),
            "aggregates that other rules read are not supported with evaluation per slide yet",
        ),
        (
            ("--path-semantics", "simple"),
            "simple paths are not supported with aggregates that other rules read yet",
        ),
    ],
)
def test_rules_that_read_aggregates_are_refused(
    headrace: Commands, options: tuple[str, str], reason: str
) -> None:
    query = (
        "Busy(x, y, count(*) as n) <- a(x, y). d(x, y) <- Busy(x, y, n), n > 1. "
        "Answer(x, y) <- d+(x, y) WINDOW 20 SLIDE 10"
    )
    assert headrace("explain", query, "--parallelism", "3").code == 0
    done = headrace("explain", query, *options)
    assert done.code == 2
    assert reason in done.error


def test_trails_over_aggregates_are_refused(headrace: Commands) -> None:
    query = (
        "Busy(x, y, count(*) as n) <- a(x, y). d(x, y) <- Busy(x, y, n), n > 1. "
        "Answer(x, y) <- x {}+ y WINDOW 20 SLIDE 10"
    )
    trails = ("--path-semantics", "trail")
    assert headrace("explain", query.format("d"), *trails).code == 0
    done = headrace("explain", query.format("(d/d)"), *trails)
    assert done.code == 2
    assert "any paths are not supported with aggregates that other rules read yet" in done.error


def test_streams_with_deletions_are_refused(headrace: Commands, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(CATALOG, "utf-8")
    done = headrace("explain", QUERY, "--catalog", catalog, "--evaluate", "slide")
    assert done.code == 2
    assert "streams with deletions are not supported with evaluation per slide yet" in done.error


def test_a_plan_keeps_its_evaluation(headrace: Commands, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert headrace("optimize", QUERY, "--out", plan).code == 0
    done = headrace("run", plan, "--evaluate", "slide")
    assert done.code == 2
    assert "--evaluate needs a query" in done.error


@pytest.mark.parametrize("every", [0, 4, 20, 2**62, "10", 1.5])
def test_a_period_that_does_not_fit_is_refused(headrace: Commands, every: object) -> None:
    document: dict[str, Any] = json.loads(headrace("optimize", QUERY).out)
    del document["digest"]
    PhysicalPlan.from_document(document | {"evaluate_every": 5})
    with pytest.raises(PlanError, match="evaluate_every"):
        PhysicalPlan.from_document(document | {"evaluate_every": every})


def test_plans_with_deletions_or_reports_of_their_own_are_refused(
    headrace: Commands, tmp_path: Path
) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(CATALOG, "utf-8")
    for options in ([QUERY, "--catalog", catalog], [f"{QUERY} EMIT SNAPSHOT EVERY 10"]):
        document = json.loads(headrace("optimize", *options).out)
        del document["digest"]
        PhysicalPlan.from_document(document)
        with pytest.raises(PlanError, match="evaluate_every does not go with"):
            PhysicalPlan.from_document(document | {"evaluate_every": 5})


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("spark")
def test_a_run_on_spark(headrace: Commands, edges: str, tmp_path: Path) -> None:
    """The plan has two stages over two partitions."""
    done = headrace(
        "run", QUERY, "-i", edges, "--evaluate", "slide", "--parallelism", "2",
        "--output", tmp_path / "out", "--no-progress",
    )  # fmt: skip
    assert done.code == 0, done.err
    lines = [
        json.loads(line)
        for file in sorted((tmp_path / "out").glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    assert all(line["ts"] % 10 == line["exp"] % 10 == 0 for line in lines)
    for report in range(10, 100, 10):
        said = {tuple(r["bindings"].values()) for r in lines if r["ts"] <= report < r["exp"]}
        assert said == connected(report - 1), f"at {report}"

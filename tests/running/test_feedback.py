"""What a run measures of the rows of operators, and how later plans use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.catalog import load
from headrace.catalog.feedback import LONGEST_AGE, feedback_file, read
from headrace.catalog.figures import Observation
from headrace.catalog.model import Catalog
from headrace.documents.explained import explain_document
from headrace.executor.counters import Counters
from headrace.planning.planner import Planned, optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.analysis import analyze
from headrace.running.feedback import Recorder, observations
from headrace.running.runs import files_alone, inputs_of_plan

WINDOW = 20
TICKS = 300
CATALOG = """
streams:
  rows:
    source: {format: csv, path: rows.csv}
    labels:
      a: {rate: 1, distinct_src: 1000, distinct_trg: 1000}
      b: {rate: 1, distinct_src: 1000, distinct_trg: 1000}
      c: {rate: 1.2, distinct_src: 1000, distinct_trg: 1000}
"""
SKEWED = "Answer(x, y, z, w) <- a(x, y), b(y, z), c(z, w)"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Edges that the declared statistics describe badly: each a meets each b, and no b a c."""
    random = Random(1)
    rows = []
    for t in range(TICKS):
        rows += [(f"x{random.randrange(9)}", "hub", "a", t), ("hub", f"z{t % 7}", "b", t)]
        rows.append((f"n{t}", f"w{random.randrange(5)}", "c", t))
    lines = ["src,trg,label,ts", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "c.yaml").write_text(CATALOG)
    return load(tmp_path / "c.yaml")


def planned(catalog: Catalog, query: str, **options: Any) -> Planned:
    window = PlanningOptions(window=f"{WINDOW}s", **options)
    return optimize(PlanRequest(query, catalog=catalog, options=window))


def ran(plan: PhysicalPlan, catalog: Catalog) -> tuple[Mapping[int, Counters], int]:
    analysis = analyze(plan, files_alone(inputs_of_plan(plan, catalog, ())))
    return {node: done.counters for node, done in analysis.nodes.items()}, analysis.ticks


def observed(plan: PhysicalPlan, catalog: Catalog) -> dict[tuple[str, str], Observation]:
    counters, ticks = ran(plan, catalog)
    assert catalog.feedback is not None
    seen = observations(plan, counters, ticks, catalog.feedback)
    return {(o.identity, o.kind): o for o in seen}


def of_op(plan: PhysicalPlan, op: str) -> int:
    (node,) = [node.id for node in plan.nodes if node.op == op]
    return node


def measure(catalog: Catalog, query: str, **options: Any) -> None:
    """Runs a query, and keeps its figures."""
    plan = planned(catalog, query, **options).plan
    assert Recorder(plan, catalog.feedback, "run").keep(*ran(plan, catalog)) is None


def rows_of_joins(plan: PhysicalPlan, catalog: Catalog) -> int:
    counters, _ = ran(plan, catalog)
    return sum(counters[node.id].rows_out for node in plan.nodes if node.op == "HASH_JOIN")


def test_a_join_measures_derivations_and_the_coalesce_above_distinct_rows(catalog: Catalog) -> None:
    plan = planned(catalog, "Answer(x, z) <- a(x, y), b(y, z)").plan
    join, coalesce = of_op(plan, "HASH_JOIN"), of_op(plan, "COALESCE")
    identity = plan.nodes[join].identity
    assert identity is not None
    assert identity == plan.nodes[coalesce].identity
    seen, (counters, ticks) = observed(plan, catalog), ran(plan, catalog)
    for kind, node in (("derived", join), ("distinct", coalesce)):
        one = seen[identity, kind]
        time_units = ticks - WINDOW / 2
        assert one.rate == counters[node].rows_out / time_units
        assert one.population == counters[node].validity / time_units
    scan = next(node for node, _ in plan.scans)
    assert scan.identity is not None
    assert seen[scan.identity, "derived"].rate == TICKS / ticks == 1


def test_rows_over_extended_rows_measure_no_population(catalog: Catalog) -> None:
    plan = planned(catalog, "Answer(x, y, z) <- x a/(b|b/b)+ y, c(y, z)").plan
    path, join = plan.nodes[of_op(plan, "S_PATH")], plan.nodes[of_op(plan, "HASH_JOIN")]
    assert path.id in join.inputs
    seen = observed(plan, catalog)
    assert path.identity is not None
    assert join.identity is not None
    assert seen[path.identity, "distinct"].population is not None
    assert seen[join.identity, "derived"].population is None


def test_several_partitions_measure_the_same_figures(catalog: Catalog) -> None:
    query = "Answer(x, z) <- a(x, y), b(y, z)"
    one, three = (observed(planned(catalog, query, parallelism=p).plan, catalog) for p in (1, 3))
    shared = one.keys() & three.keys()
    assert {kind for _, kind in shared} == {"derived", "distinct"}
    for key in shared:
        assert one[key].rate == three[key].rate
        assert one[key].population == pytest.approx(three[key].population)


def test_runs_of_other_rows_and_short_runs_measure_nothing(catalog: Catalog) -> None:
    assert catalog.feedback is not None
    query = "Answer(x, y) <- x (a/b)+ y"
    plan = planned(catalog, query).plan
    counters, ticks = ran(plan, catalog)
    assert observations(plan, counters, ticks, catalog.feedback)
    assert not observations(plan, counters, 3 * WINDOW - 1, catalog.feedback)
    per_slide = planned(catalog, query, evaluate="slide").plan
    assert not observations(per_slide, *ran(per_slide, catalog), catalog.feedback)
    rows = replace(catalog.streams["rows"], deletions=True)
    deleting = replace(catalog, streams={"rows": rows})
    with_deletions = planned(deleting, query).plan
    assert not observations(with_deletions, *ran(with_deletions, catalog), catalog.feedback)


def test_a_plan_document_of_an_earlier_version_measures_nothing(catalog: Catalog) -> None:
    document = planned(catalog, SKEWED).plan.to_document()
    assert all(node.pop("identity") for node in document["nodes"])
    old = PhysicalPlan.from_document(document)
    assert old.digest == document["digest"]
    assert observed(old, catalog) == {}
    assert "identity" not in old.to_document()["nodes"][0]


def test_a_stored_plan_measures_what_a_new_one_does(catalog: Catalog) -> None:
    plan = planned(catalog, SKEWED).plan
    again = PhysicalPlan.from_json(plan.to_json())
    assert observed(again, catalog).keys() == observed(plan, catalog).keys() != set()


def test_a_plan_that_estimates_mislead_is_right_after_one_run(catalog: Catalog) -> None:
    first = planned(catalog, SKEWED)
    measure(catalog, SKEWED)
    second = planned(catalog, SKEWED)
    wrong, right = (rows_of_joins(p.plan, catalog) for p in (first, second))
    assert wrong > 1000
    assert right == 0
    # a query that contains the measured join, in other words, has its figures too
    query = "Answer(q, p) <- b(p, q), a(o, p)"
    other, unmeasured = (planned(catalog, query, feedback=used) for used in (True, False))
    rates = [p.optimization.best.estimate.arrival_rate for p in (other, unmeasured)]
    assert rates[0] > 10 * rates[1]


def test_a_measured_group_improves_the_groups_above_it(catalog: Catalog) -> None:
    without = planned(catalog, SKEWED)
    measure(catalog, "Answer(x, y, z) <- a(x, y), b(y, z)")
    above = planned(catalog, SKEWED).optimization
    assert above.best.estimate.measured is None
    assert above.best.estimate.arrival_rate > 10 * without.optimization.best.estimate.arrival_rate


def test_feedback_is_switched_off_by_an_option_and_in_the_thesis_model(catalog: Catalog) -> None:
    untouched = {
        kind: planned(catalog, SKEWED, cost_model=kind).plan for kind in ("saturating", "thesis")
    }
    measure(catalog, SKEWED)
    assert planned(catalog, SKEWED).plan != untouched["saturating"]
    assert planned(catalog, SKEWED, feedback=False).plan == untouched["saturating"]
    assert planned(catalog, SKEWED, cost_model="thesis").plan == untouched["thesis"]
    assert catalog.feedback is not None
    catalog.feedback.path.unlink()
    assert planned(catalog, SKEWED).plan == untouched["saturating"]


def test_explain_says_which_figures_were_measured(catalog: Catalog) -> None:
    assert "feedback" not in explain_document(planned(catalog, SKEWED))
    measure(catalog, SKEWED)
    shown = explain_document(planned(catalog, SKEWED))
    nodes = {str(node["id"]) for node in shown["plan"]["nodes"]}
    assert shown["feedback"].keys() <= nodes
    root = shown["feedback"][str(shown["plan"]["root"])]
    assert root["derived"] is None or root["derived"]["runs"] == 1
    assert root["age"] >= 0


def test_a_damaged_file_is_a_warning(catalog: Catalog) -> None:
    assert catalog.feedback is not None
    untouched = planned(catalog, SKEWED)
    catalog.feedback.path.write_bytes(b"damaged")
    outcome = planned(catalog, SKEWED)
    assert outcome.plan == untouched.plan
    assert any("c.measured.sqlite" in warning for warning in outcome.warnings)
    warning = Recorder(outcome.plan, catalog.feedback, "run").keep(*ran(outcome.plan, catalog))
    assert warning is not None
    assert "not kept" in warning


def test_a_folder_that_cannot_be_written_is_a_warning(catalog: Catalog, tmp_path: Path) -> None:
    plan = planned(catalog, SKEWED).plan
    missing = feedback_file(catalog, tmp_path / "gone" / "c.measured.sqlite")
    assert "not kept" in (Recorder(plan, missing, "run").keep(*ran(plan, catalog)) or "")
    assert Recorder(plan, None, "run").keep(*ran(plan, catalog)) is None


def test_figures_age_by_the_clock_that_is_passed_in(catalog: Catalog) -> None:
    assert catalog.feedback is not None
    plan = planned(catalog, SKEWED).plan
    Recorder(plan, catalog.feedback, "run").keep(*ran(plan, catalog), now=1000.0)
    assert read(catalog.feedback.path, 1000.0)
    assert not read(catalog.feedback.path, 1000.0 + LONGEST_AGE)
    assert explain_document(planned(catalog, SKEWED)).get("feedback") is None

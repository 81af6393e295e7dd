"""From request to documents: complete, valid, the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_schema import plan_schema
from headrace.api.explanation import plan_text
from headrace.api.render.memo import render
from headrace.catalog import from_document, load
from headrace.catalog import inputs as catalog_inputs
from headrace.documents.alternatives import plan_list
from headrace.documents.explained import explain_document, explained, physical_document
from headrace.documents.memo import memo_document
from headrace.documents.query import logical_document, query_document
from headrace.planning.errors import InvalidQueryError, UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.planning.translating import translate_query
from headrace.running.runs import read_inputs

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "mathoverflow"
CATALOG = load(EXAMPLES / "catalog.yaml")
QUERIES = sorted(EXAMPLES.glob("*.rq"))
SCHEMA = Draft202012Validator(plan_schema())


def request(path: Path) -> PlanRequest:
    return PlanRequest(path.read_text("utf-8"), path.name, catalog=CATALOG)


@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_example_queries_have_the_golden_documents(path: Path) -> None:
    planned = optimize(request(path))
    document = json.loads(json.dumps(explain_document(planned, costs=True)))
    SCHEMA.validate(document["plan"])
    assert PhysicalPlan.from_document(document["plan"]) == planned.plan
    assert document["version"] == 1
    assert document["language"] == "rq"
    assert document["stop_reason"] == "complete"
    assert document["minimised"] == "shared_cost"
    assert 0 < document["shared_cost"] <= document["cost"] * (1 + 1e-12)
    assert document["shared_cost"] <= document["canonical_shared_cost"] * (1 + 1e-12)
    root = document["plan"]["nodes"][document["plan"]["root"]]
    assert document["cost"] == root["estimate"]["cumulative_cost"]
    memo = document["memo"]
    assert memo["groups"] == planned.optimization.memo.group_count
    assert memo["expressions"] >= memo["groups"]
    assert all(
        set(did) == {"bindings", "fired", "duplicates", "ms"} for did in memo["rules"].values()
    )
    # the formula of every operator gives the cost that stands in the plan
    for node in document["plan"]["nodes"]:
        formula = document["costs"][str(node["id"])]
        assert formula["cost"] == pytest.approx(node["estimate"]["cost"])
    assert set(document["costs"]) == {str(node["id"]) for node in document["plan"]["nodes"]}


def test_a_plan_kept_as_written_says_so() -> None:
    query = "Answer(x, y) <- x a2q/c2q/c2a y.\nWINDOW 7d"
    planned = optimize(PlanRequest(query, catalog=CATALOG))
    found = planned.optimization
    assert found.plan == found.canonical_plan
    document = explain_document(planned, why=True)
    kept = document["kept_as_written"]
    gain = document["shared_cost"] - kept["cheapest_cost"]
    assert 0 < gain <= kept["error"]
    assert "margin" in {reason["decided"] for reason in document["why"].values()}
    shown = plan_text(physical_document(planned, why=True))
    assert "the plan as written, as the cheapest plan costs only" in shown
    assert "less: the plan as written is kept" in shown
    assert "kept_as_written" not in explain_document(optimize(request(QUERIES[0])))


def test_the_thesis_model_takes_the_plan_of_the_cheapest_tree() -> None:
    query = "Answer(x, y) <- x c2a/a2q/c2q* y.\nWINDOW 1d"
    options = PlanningOptions(cost_model="thesis")
    planned = optimize(PlanRequest(query, catalog=CATALOG, options=options))
    document = explain_document(planned)
    assert document["minimised"] == "cost"
    assert "kept_as_written" not in document
    cheapest = next(iter(planned.optimization.plans.ranked()))
    assert document["cost"] == cheapest.nodes[cheapest.root].estimate.cumulative_cost


@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_plans_are_distinct_runnable_and_cheapest_first(path: Path) -> None:
    planned = optimize(request(path))
    space = planned.optimization.plans
    ranked = space.listed(200)
    document = plan_list(
        planned.optimization, ranked, lambda picture: picture.root.operator
    ).to_json()
    assert document["total"] == space.count
    assert document["different"] == space.different.count <= space.count
    assert len(ranked.plans) == min(200, space.different.count)
    costs = [plan["cost"] for plan in document["plans"]]
    assert costs == sorted(costs)
    assert costs[0] == pytest.approx(next(iter(space.ranked())).nodes[-1].estimate.cumulative_cost)
    (chosen,) = (plan for plan in document["plans"] if plan["chosen"])
    assert all((plan["difference"] is None) == plan["chosen"] for plan in document["plans"])
    assert chosen["shared_cost"] == pytest.approx(planned.optimization.shared_cost)
    assert chosen["cost"] == pytest.approx(planned.optimization.cost)
    assert len({plan["digest"] for plan in document["plans"]}) == len(ranked.plans)
    for plan in document["plans"][:20]:
        SCHEMA.validate(plan["plan"])
        assert PhysicalPlan.from_document(plan["plan"]).digest == plan["digest"]


def test_query_and_logical_documents_have_their_fields() -> None:
    translated = translate_query(request(EXAMPLES / "q7.rq"))
    query = query_document(translated).to_json()
    assert query["answer"] == "Answer"
    assert len(query["rules"]) == 2
    assert query["windows"] == [{"stream": None, "labels": [], "range": 604800, "slide": 86400}]
    logical = logical_document(translated).to_json()
    assert [node["op"] for node in logical["nodes"]].count("WSCAN") == 3
    assert all(i < node["id"] for node in logical["nodes"] for i in node["inputs"])
    assert "P[RLP;RL+]" in logical["canonical"]
    assert logical["columns"] == ["x", "m"]


def test_memo_document_and_text_agree() -> None:
    planned = optimize(request(EXAMPLES / "q6.rq"))
    memo = memo_document(planned)
    document, text = memo.to_json(), render(memo)
    assert len(document["groups"]) == document["memo"]["groups"]
    for group in document["groups"]:
        assert f"G{group['id']}: " in text
        for expression in group["expressions"]:
            assert expression["text"] in text
    root = next(g for g in document["groups"] if g["id"] == document["root"])
    best = next(w for w in root["winners"] if w["required"] == "coalesced")
    assert best["cost"] == pytest.approx(planned.optimization.cost)


@pytest.mark.long
def test_every_process_finds_the_same_plan() -> None:
    code = (
        "import sys; from tests.planning.test_planning import *;"
        "sys.stdout.write(''.join(optimize(request(p)).plan.to_json() for p in QUERIES))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_without_catalog_and_input_a_stream_is_assumed() -> None:
    planned = optimize(PlanRequest("Answer(x, y) <- likes(x, y) WINDOW 1d"))
    assert planned.plan.streams[0].labels == ("likes",)
    assert planned.plan.time_unit == "second"


def test_inputs_are_measured() -> None:
    inputs = read_inputs([f"a2q={EXAMPLES / 'a2q.csv.gz'}"])
    planned = optimize(PlanRequest("Answer(x, y) <- a2q(x, y) WINDOW 1d", inputs=inputs))
    (scan,) = [n for n in planned.plan.nodes if n.op == "WSCAN"]
    declared = CATALOG.streams["mathoverflow"].labels["a2q"].rate
    assert scan.estimate.rate == pytest.approx(declared, rel=0.01)


def test_a_label_without_input_is_refused() -> None:
    inputs = read_inputs([f"a2q={EXAMPLES / 'a2q.csv.gz'}"])
    with pytest.raises(InvalidQueryError) as caught:
        translate_query(PlanRequest("Answer(x, y) <- a2p(x, y) WINDOW 1d", inputs=inputs))
    assert caught.value.code == "E-UNKNOWN"
    assert "a2p" in caught.value.display()
    assert "\n    |                 ^^^" in caught.value.display()


def test_a_label_outside_the_sample_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{k},{k + 1},{'late' if k > 300_000 else 'early'},{k}" for k in range(300_010)]
    file = tmp_path / "edges.csv"
    file.write_text("\n".join(["src,trg,label,ts", *rows]))

    whole = catalog_inputs.measured_catalog
    monkeypatch.setattr("headrace.catalog.measured_catalog", partial(whole, rows=1000))
    query = PlanRequest("Answer(x, y) <- late(x, y) WINDOW 1d", inputs=read_inputs([str(file)]))
    translated = translate_query(query)
    assert any("late" in warning for warning in translated.warnings)


def test_a_source_without_statistics_is_measured() -> None:
    source = {"format": "csv", "path": {"a2q": str(EXAMPLES / "a2q.csv.gz")}}
    catalog = from_document({"streams": {"s": {"source": source}}})
    planned = optimize(PlanRequest("Answer(x, y) <- a2q(x, y) WINDOW 1d", catalog=catalog))
    (scan,) = [n for n in planned.plan.nodes if n.op == "WSCAN"]
    assert 0 < scan.estimate.rate < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (PlanningOptions(window="3 moons"), "is not a unit of time"),
        (
            PlanningOptions(window="1d", slide="2d"),
            "slide of 2d is longer than the default window of 1d",
        ),
        (PlanningOptions(window="0"), "longer than zero"),
        (PlanningOptions(window="1d", slide="0"), "the default slide is 0"),
        (PlanningOptions(slide="1d"), "there is a default slide without a default window"),
        (PlanningOptions(window="1d", disabled_rules=("Nope",)), "no rule 'Nope'; there are:"),
    ],
)
def test_contradicting_options_are_refused(options: PlanningOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        optimize(PlanRequest("Answer(x, y) <- a(x, y)", options=options))


def test_a_query_without_a_window_is_refused() -> None:
    with pytest.raises(InvalidQueryError) as caught:
        optimize(PlanRequest("Answer(x, y) <- a(x, y)"))
    assert caught.value.code == "E-NOWIN"


def test_options_reach_the_search() -> None:
    text = (EXAMPLES / "q7.rq").read_text("utf-8")

    def planned_with(**options: object) -> str:
        chosen = PlanningOptions(**options)  # type: ignore[arg-type]  # names are of the options
        return optimize(PlanRequest(text, catalog=CATALOG, options=chosen)).plan.digest

    best = planned_with()
    assert planned_with(disabled_rules=("JoinIntoPath",)) != best
    thesis = optimize(
        PlanRequest(text, catalog=CATALOG, options=PlanningOptions(cost_model="thesis"))
    )
    assert thesis.cost_model.kind == "thesis"
    cut = optimize(
        PlanRequest(
            (EXAMPLES / "q5.rq").read_text("utf-8"),
            catalog=CATALOG,
            options=PlanningOptions(budget_expressions=9),
        )
    )
    assert cut.optimization.stop_reason == "budget_expressions"
    SCHEMA.validate(cut.plan.to_document())


def test_formulas_exist_without_time_to_search() -> None:
    planned = optimize(
        PlanRequest(
            (EXAMPLES / "q5.rq").read_text("utf-8"),
            catalog=CATALOG,
            options=PlanningOptions(budget_ms=1e-6),
        )
    )
    assert planned.optimization.stop_reason == "budget_ms"
    formulas = explained(planned, costs=True).costs
    assert formulas is not None
    costs = [node.estimate.cost for node in planned.plan.nodes]
    assert [formulas[str(node.id)].cost for node in planned.plan.nodes] == pytest.approx(costs)


def test_declared_delays_are_in_the_plan() -> None:
    """Plans over streams without delays have no such field, and keep their digests."""

    def plan(declared: dict[str, object]) -> PhysicalPlan:
        same = {"rate": 1, "distinct_src": 5, "distinct_trg": 5}
        catalog = from_document({"streams": {"s": {"labels": {"a": same}, **declared}}})
        text = "Answer(x, y) <- a(x, y). WINDOW 10"
        return optimize(PlanRequest(text, catalog=catalog)).plan

    plain, late, idle = plan({}), plan({"delay": "1h"}), plan({"idle": "10m"})
    assert not {"delay", "idle_ms"} & set(plain.to_document()["streams"][0])
    assert late.to_document()["streams"][0]["delay"] == late.streams[0].delay == 3600
    assert idle.to_document()["streams"][0]["idle_ms"] == idle.streams[0].idle_ms == 600_000
    assert len({plain.digest, late.digest, idle.digest}) == 3
    for each in (plain, late, idle):
        SCHEMA.validate(each.to_document())
        assert PhysicalPlan.from_json(each.to_json()) == each

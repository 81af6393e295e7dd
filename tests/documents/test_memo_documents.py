"""The document of a memo: groups, costs, and the place of the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headrace import PlanningOptions, PlanRequest, optimize
from headrace.algebra.deadline import Deadline
from headrace.api.explanation import plan_text
from headrace.documents.explained import physical_document
from headrace.documents.memo import memo_document
from headrace.planning.planner import plan_translated
from headrace.planning.requests import CostModelKind
from headrace.planning.translating import translate_query
from tests.planning.test_planning import QUERIES, request

Goal = tuple[int, str]


def memo_of(
    path: Path, parallelism: int = 1, cost_model: CostModelKind = "saturating"
) -> dict[str, Any]:
    original = request(path)
    options = PlanningOptions(parallelism=parallelism, cost_model=cost_model)
    planned = optimize(type(original)(original.query, catalog=original.catalog, options=options))
    return memo_document(planned).to_json()


@pytest.mark.parametrize("parallelism", [1, 4])
@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_the_plan_of_the_cheapest_tree_follows_the_winners(path: Path, parallelism: int) -> None:
    document = memo_of(path, parallelism, "thesis")
    winners = {(g["id"], w["required"]): w for g in document["groups"] for w in g["winners"]}
    nodes = {node["id"]: node for node in document["plan"]["nodes"]}
    goal_of = {c["node"]: (c["group"], c["required"]) for c in document["chosen"]}
    assert goal_of.keys() == nodes.keys()
    for place in document["chosen"]:
        node, winner = nodes[place["node"]], winners[goal_of[place["node"]]]
        assert winner["source"] == place["expression"]
        assert winner["cost"] == node["estimate"]["cumulative_cost"]
        assert winner["local"] == node["estimate"]["cost"]
        assert winner["delivers"] == node["properties"]
        below = [(i["group"], i["required"]) for i in winner["inputs"]]
        assert below == [goal_of[i] for i in node["inputs"]]


@pytest.mark.parametrize("parallelism", [1, 4])
@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_the_plan_of_the_least_shared_cost_takes_alternatives_of_its_goals(
    path: Path, parallelism: int
) -> None:
    document = memo_of(path, parallelism)
    goals = {(g["id"], goal["required"]): goal for g in document["groups"] for goal in g["goals"]}
    nodes = {node["id"]: node for node in document["plan"]["nodes"]}
    goal_of = {c["node"]: (c["group"], c["required"]) for c in document["chosen"]}
    assert goal_of.keys() == nodes.keys()
    for place in document["chosen"]:
        node = nodes[place["node"]]
        taken = {
            (way["source"], way["local"], tuple((i["group"], i["required"]) for i in way["inputs"]))
            for way in goals[goal_of[place["node"]]]["ways"]
        }
        below = tuple(goal_of[i] for i in node["inputs"])
        assert (place["expression"], node["estimate"]["cost"], below) in taken


@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_no_alternative_is_cheaper_than_the_winner(path: Path) -> None:
    document = memo_of(path)
    members = {e["id"]: g["id"] for g in document["groups"] for e in g["expressions"]}
    settled = 0
    for group in document["groups"]:
        cost = {w["required"]: w["cost"] for w in group["winners"]}
        required = {goal["required"] for goal in group["goals"]}
        assert cost.keys() <= required
        for goal in group["goals"]:
            exact = [way for way in goal["ways"] if way["exact"]]
            for way in goal["ways"]:
                assert way["source"] is None or members[way["source"]] == group["id"]
                assert way["at_least"] >= way["local"]
            if goal["done"]:
                settled += 1
                assert goal["at_least"] == cost[goal["required"]]
                assert min(way["at_least"] for way in exact) == goal["at_least"]
            else:
                assert goal["required"] not in cost
    assert settled >= len({(c["group"], c["required"]) for c in document["chosen"]})


def test_groups_have_labels_and_estimates() -> None:
    (path,) = (path for path in QUERIES if path.stem == "chains")
    document = memo_of(path)
    scans = {
        tuple(group["reads"]): group
        for group in document["groups"]
        if group["expressions"][0]["text"].startswith("WSCAN")
    }
    assert set(scans) == {("mathoverflow.a2q",), ("mathoverflow.c2a",)}
    root = next(g for g in document["groups"] if g["id"] == document["root"])
    assert root["reads"] == ["mathoverflow.a2q", "mathoverflow.c2a"]
    assert root["columns"] == len(root["estimate"]["distinct"]) == 2
    top = document["plan"]["nodes"][document["plan"]["root"]]
    assert root["estimate"]["rate"] == top["estimate"]["rate"]
    assert root["estimate"]["population"] == top["estimate"]["population"]


def test_a_canonical_plan_has_no_place_in_the_memo() -> None:
    """A clique of one label shares more as written than in the order of the start plan."""
    edges = ", ".join(f"a(x{i}, x{j})" for i in range(6) for j in range(i))
    query = f"Answer(x0, x5) <- {edges}."
    translated = translate_query(
        PlanRequest(query, language="rq", options=PlanningOptions(window="100"))
    )
    planned = plan_translated(translated, deadline=Deadline(cancelled=lambda: True))
    assert planned.plan == planned.optimization.canonical_plan
    document = memo_document(planned)
    assert document.chosen == ()
    assert document.shared_cost == document.canonical_shared_cost
    text = plan_text(physical_document(planned, why=True))
    assert "the search found no cheaper plan than the one with which it began" in text

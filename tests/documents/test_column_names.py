"""Operators of a plan show the variables, aliases and expressions of the query."""

from __future__ import annotations

import re

import pytest

from headrace.algebra.notation import PARTITION, origin
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.document import from_document
from headrace.documents.picture import PictureDocument, picture_of_plan
from headrace.documents.query import logical_document
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanRequest
from headrace.planning.translating import translate_query

CATALOG = from_document(
    {
        "streams": {
            "s": {
                "properties": {"amount": "number", "currency": "string"},
                "labels": {
                    label: {"rate": 10, "distinct_src": 50, "distinct_trg": 40}
                    for label in ("pays", "knows")
                },
            }
        }
    }
)


def _request(query: str) -> PlanRequest:
    return PlanRequest(f"{query}. WINDOW 1h", catalog=CATALOG)


def _pictures(query: str) -> list[PictureDocument]:
    planned = optimize(_request(query))
    return [picture_of_plan(plan) for plan in (planned.plan, planned.optimization.canonical_plan)]


def _summaries(picture: PictureDocument) -> dict[str, str]:
    return {box.operator: box.summary for box in picture.boxes}


def test_aggregates_have_aliases_and_the_columns_of_edges() -> None:
    query = "Answer(x, count(*) as n, sum(e.amount) as total) <- pays(x, y) as e"
    for picture in _pictures(query):
        summaries = _summaries(picture)
        assert summaries["AGGREGATE"] == "count(*) as n, sum(e.amount) as total by x"
        assert summaries["TO_KERNEL"] == "x,y,e.amount,e.currency,e.ts"
        assert picture.origins == {}


def test_computed_columns_have_aliases() -> None:
    query = "Answer(x, e.amount * 2 as twice) <- pays(x, y) as e, knows(y, z), e.amount > 5"
    for picture in _pictures(query):
        assert _summaries(picture)["COMPUTE"] == "x, e.amount * 2 as twice"


def test_two_edges_of_a_label_keep_their_names_in_a_join() -> None:
    query = (
        "Answer(x, sum(e.amount) as total) <- pays(x, y) as e, pays(y, z) as f, "
        "e.currency = f.currency, e.amount < f.amount"
    )
    for picture in _pictures(query):
        summaries = _summaries(picture)
        assert summaries["AGGREGATE"] == "sum(e.amount) as total by x"
        text = " ".join(summaries.values())
        assert "e.amount < f.amount" in text
        assert picture.origins == {}


@pytest.mark.parametrize(
    "query",
    [
        "Answer(x, count(*) as n) <- pays(x, y) as e, knows+(y, z), e.amount > 3",
        "RL(x, y) <- knows(x, m), pays(m, y) as e, e.amount > 3. "
        "Answer(x, m) <- RL(x, z), pays(z, m), knows(m, z)",
        "Answer(x, y) <- pays(x, _) as e, pays(y, _) as f, e.amount = f.amount, knows(x, _)",
        "R(x, y) <- knows(x, y), pays(y, x). Answer(a, b) <- a R+ b",
        "Answer(x, y) <- x (knows/pays)+ y",
        "Answer(x, avg(e.amount) as mean) <- pays(x, 'v') as e, e.amount > 1",
    ],
)
def test_each_name_is_of_the_query_or_explained(query: str) -> None:
    given = {"src", "trg", *re.findall(r"\b[a-z]+(?:\.[a-z]+)?\b", query)}
    given |= {*re.findall(r"[a-z]+\([a-z.*]+\)", query)}
    for plan in _plans(query):
        picture = picture_of_plan(plan)
        for node in plan.nodes:
            variables = getattr(node.operator, "variables", ())
            for name in (*node.columns, *variables):
                properties = {f"{e}.{p}" for e in "ef" for p in ("amount", "currency", "ts")}
                known = name in given | properties | {"amount", "currency", "ts"}
                assert known or name in picture.origins, (name, query)


def _columns(plan: PhysicalPlan, *operators: str) -> set[tuple[str, ...]]:
    return {node.columns for node in plan.nodes if node.op in operators}


def _variables(plan: PhysicalPlan, operator: str) -> list[tuple[str, ...]]:
    return [getattr(n.operator, "variables", ()) for n in plan.nodes if n.op == operator]


def test_a_constant_has_no_name_of_another_edge() -> None:
    for plan in _plans("Answer(x) <- pays(x, 'v'), pays('v', 'w'), knows('v', 'v')"):
        of_pays = {node.columns for node in plan.nodes if node.op == "TO_KERNEL"}
        assert of_pays == {("x", "_"), ("_", "_1")}


def test_a_repeated_variable_names_one_column_of_an_edge() -> None:
    for plan in _plans("Answer(x, y) <- pays(x, x), knows(x, y)"):
        assert ("x", "_") in _columns(plan, "TO_KERNEL")


def test_a_multiway_join_has_the_variables_of_the_query() -> None:
    planned = optimize(_request("Answer(x, y) <- pays(x, y), pays(y, z), pays(x, z)"))
    plans = planned.optimization.plans.ranked()
    joins = [names for plan in plans for names in _variables(plan, "MULTIWAY_JOIN")]
    assert joins
    assert all(set(names) == {*"xyz"} for names in joins)


def test_the_operators_of_a_rule_have_the_names_of_the_rule() -> None:
    """The answer's x is the second rule's y, which has an x of its own."""
    query = "Answer(x) <- pays(x, y). Answer(y) <- knows(y, x), knows(x, _)"
    for plan in _plans(query):
        joins = _variables(plan, "HASH_JOIN") + _variables(plan, "SEMI_JOIN")
        assert [set(names) for names in joins] == [{"y", "x", "_1"}]
        assert plan.nodes[plan.root].columns == ("x",)


def test_derived_edges_have_the_names_of_their_rule_inside_a_path() -> None:
    query = "R(x, y) <- knows(x, m), pays(m, y). Answer(a, b) <- R+(a, b)"
    for plan in _plans(query):
        assert _columns(plan, "TO_KERNEL") == {("x", "m"), ("m", "y")}
        assert _variables(plan, "HASH_JOIN") == [("x", "m", "y")]


def _plans(query: str) -> list[PhysicalPlan]:
    planned = optimize(_request(query))
    return [planned.plan, planned.optimization.canonical_plan]


def test_the_columns_of_a_node_have_different_names() -> None:
    query = "R(x, y) <- knows(x, m), pays(m, y). Answer(m, y) <- R(m, z), R(z, y), pays(y, m)"
    for plan in _plans(query):
        for node in plan.nodes:
            assert len({*node.columns}) == len(node.columns), node


def test_names_are_for_presentation_only() -> None:
    """The same query with other variables has the same operators."""
    one, _ = _plans("Answer(x, sum(e.amount) as total) <- pays(x, y) as e, knows(y, z)")
    other, _ = _plans("Answer(p, sum(k.amount) as s) <- pays(p, q) as k, knows(q, r)")
    assert [node.operator for node in one.nodes] == [node.operator for node in other.nodes]
    assert one != other


def test_a_stored_plan_keeps_the_names_in_its_document() -> None:
    (plan, _) = _plans("Answer(x, sum(e.amount) as total) <- pays(x, y) as e, knows(y, z)")
    again = PhysicalPlan.from_document(plan.to_document())
    assert picture_of_plan(again) == picture_of_plan(plan)


def test_the_canonical_expression_has_the_names_too() -> None:
    query = "Answer(x, e.amount * 2 as twice) <- pays(x, y) as e, knows(y, z), e.amount > 5"
    document = logical_document(translate_query(_request(query)))
    texts = {node.op: node.text for node in document.nodes}
    assert texts["COMPUTE"] == "x, e.amount * 2 as twice"
    assert texts["FILTER"] == "e.amount > 5"


def test_names_of_a_query_have_no_origin() -> None:
    assert [origin(name) for name in ("x", "x10_2", "c3", "e.amount", "sum(e.amount)")] == [
        None
    ] * 5
    assert origin("m′") is not None
    assert origin("_1") is not None
    assert origin(PARTITION) is not None
    assert origin("#2") == "column 2, without a name in the query"

"""Sampled plans have names, pictures, costs and answers like a chosen plan."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import islice

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import IndexForm, index_forms
from headrace.algebra.plan import PhysicalPlan
from headrace.api.explanation import stored_plan
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.documents.alternatives import PlanList, alternatives, listed_plan
from headrace.optimizer import Options, SearchResult
from headrace.optimizer.steps import Step, in_order, shared_cost
from headrace.planning.planner import optimize
from headrace.planning.requests import Format, PlanningOptions, PlanRequest
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, read_back
from tests.properties.running import BATCH_ROWS, judge, lines_of
from tests.strategies.amount import examples
from tests.strategies.circles import circular_cases
from tests.strategies.existence import existence_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.vertices import vertex_cases

FORMATS: tuple[Format, ...] = ("text", "json", "dot", "mermaid", "html")


def check_shown(plan: PhysicalPlan) -> None:
    """Every node has a name for each column, and every format shows the plan."""
    for node in plan.nodes:
        variables = getattr(node.operator, "variables", ())
        assert len(set(variables)) == len(variables)
        assert all(node.columns), plan.to_json()
    for form in FORMATS:
        assert stored_plan(plan, "drawn", "physical", form)
    listed = listed_plan(1, plan, lambda picture: picture.root.operator, None)
    shown = alternatives(
        PlanList(total=1, different=1, stop_reason="complete", cost_bound=None, plans=(listed,))
    )
    (document,) = json.loads(json.dumps(shown.to_json()))["plans"]
    assert document["digest"] == plan.digest
    assert len(document["picture"]["boxes"]) == len(plan.nodes)


def check_costs(found: SearchResult, plan: PhysicalPlan) -> None:
    """A plan costs the sum of its nodes, and no less than the chosen plan."""

    def of_tree(position: int) -> float:
        node = plan.nodes[position]
        return sum([of_tree(i) for i in node.inputs], node.estimate.cost)

    cost = plan.nodes[plan.root].estimate.cumulative_cost
    assert cost == pytest.approx(of_tree(plan.root), rel=1e-9)
    if found.stop_reason == "complete":
        assert cost >= found.cost * (1 - 1e-9)


@pytest.mark.long
@given(
    case=existence_cases() | cases() | circular_cases(longest=8),
    parallelism=st.sampled_from([1, 1, 2, 4]),
    seed=st.integers(0, 999),
    rows=st.sampled_from(BATCH_ROWS),
)
@examples(80)
def test_sampled_plans_give_the_results_of_the_oracle(
    case: Case, parallelism: int, seed: int, rows: int
) -> None:
    note(text(case.query))
    options = Options(parallelism=parallelism, budget_expressions=400)
    found = optimized(case, options, seed)
    truth = Truth(case.query, case.edges)
    for plan in found.plans.sample(4, seed):
        check_shown(plan)
        check_costs(found, plan)
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=property_cases() | vertex_cases(), seed=st.integers(0, 999))
@examples(40)
def test_sampled_plans_over_properties_give_the_results_of_the_oracle(
    case: Case, seed: int
) -> None:
    note(text(case.query))
    found = optimized(case, Options(budget_expressions=400), seed)
    truth = Truth(case.query, case.edges)
    for plan in found.plans.sample(4, seed):
        check_shown(plan)
        check_costs(found, plan)
        judge(truth, plan, lines_of(case, read_back(plan), 3))


def spared(root: Step) -> float:
    """What a plan in one stage costs less than its operators, since joins share indexes.

    All who hold one index of one input pay the price of the one for whom it is dearest.
    """
    prices: dict[tuple[int, IndexForm], list[float]] = defaultdict(list)
    for step, inputs in in_order(root):
        for index in zip(inputs, index_forms(step.operator), step.saved, strict=False):
            prices[index[:2]].append(index[2])
    return sum(sum(paid) - max(paid) for paid in prices.values())


@given(case=existence_cases() | cases(), seed=st.integers(0, 999))
@examples(30)
def test_ranked_plans_are_shown_as_the_chosen_one(case: Case, seed: int) -> None:
    note(text(case.query))
    found = optimized(case, Options(budget_expressions=400), seed)
    alone = sum(step.local for step, _ in in_order(found.best))
    assert shared_cost(found.best) == pytest.approx(alone - spared(found.best), rel=1e-9)
    for plan in [found.plan, found.canonical_plan, *islice(found.plans.ranked(), 3)]:
        check_shown(plan)


@pytest.mark.parametrize("parallelism", [1, pytest.param(3, marks=pytest.mark.long)])
def test_joins_that_bind_no_variable_have_names(parallelism: int) -> None:
    """Two views of which only the existence counts are joined with each other first."""
    query = """
    GRAPH VIEW vH0 AS (
      CONSTRUCT (x)-[:H0]->(y)
      MATCH (u)-[e1:c {ok = true}]->(z), (x)-/<:a>/->(w), (y)-/<:a>/->(z))
    SELECT u, y MATCH ()-/<(:H0)*{2..3}>/->(y) ON vH0, (y)-[:H0]->(u) ON vH0
    """
    rare = LabelStatistics(rate=0.01, distinct_src=5000, distinct_trg=5000, vertices=5000)
    often = LabelStatistics(rate=50, distinct_src=3, distinct_trg=5000, vertices=5000)
    stream = Stream("s", {"a": rare, "c": often}, properties={"ok": "boolean"})
    options = PlanningOptions(window="10", parallelism=parallelism)
    request = PlanRequest(query, "q", "gcore", Catalog({"s": stream}), options=options)
    found = optimize(request).optimization
    for plan in found.plans.sample(100, 1):
        check_shown(read_back(plan))

"""The search for the least shared cost: against all plans, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.logical import LogicalExpression
from headrace.algebra.properties import RequiredProperties
from headrace.memo import PlanTree
from headrace.optimizer import Options, SearchResult
from headrace.optimizer.as_written import error_of_difference
from headrace.optimizer.extraction import plan_of_tree
from headrace.optimizer.goals import Choice
from headrace.optimizer.plan_space import PlanGoal
from headrace.optimizer.steps import in_order, shared_cost
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    SetCosts,
    chain,
    cycle,
    optimize,
    pattern,
)
from tests.oracles.query import text
from tests.properties.plans import optimized
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

MANY = 1_000
"""The most plans of a query that are all counted."""
ROUNDING = 1e-9
SHAPES = {
    "two equal joins": pattern(chain(4), labels="abab"),
    "a chain of one label": pattern(chain(4), labels="aaaa"),
    "a cycle of one label": pattern(cycle(4), labels="aaaa"),
    "two labels": pattern(chain(4), labels="aabb"),
    "ends kept": pattern(chain(4), output=(0, 4), labels="abab"),
}


def least(outcome: SearchResult) -> float:
    """The least shared cost of all plans."""
    space, coster = outcome.plans._physical, outcome.plans._coster

    def cost(tree: PlanTree[PlanGoal, Choice]) -> float:
        return shared_cost(plan_of_tree(coster, tree))

    return min(map(cost, space.ranked(outcome.plans._goal)), default=inf)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_patterns_with_repeated_labels_have_the_least_shared_cost(name: str, seed: int) -> None:
    """SetCosts charges scans and joins at random, so that sharing is worth much or little."""
    outcome = optimize(SHAPES[name], SetCosts(seed), shared_costs=True)
    assert outcome.shared_cost <= least(outcome) * (1 + ROUNDING)


def test_a_plan_shares_a_join_or_an_index_although_its_tree_costs_more() -> None:
    tree, shared = (
        [optimize_equal_joins(seed, 0.0, costs=costs) for seed in range(12)]
        for costs in (False, True)
    )
    better = [s for t, s in zip(tree, shared, strict=True) if s.shared_cost < t.shared_cost]
    seen = set()
    for outcome in better:
        assert outcome.winners is not None
        assert outcome.cost > outcome.shared_cost
        joins = [n for n in outcome.plan.nodes if n.op == "HASH_JOIN"]
        seen.add((len(joins) < 3, any(n.estimate.saved for n in outcome.plan.nodes)))
    assert seen >= {(True, False), (False, True)}
    assert (False, False) not in seen


@given(case=cases(), seed=st.integers(0, 999), parallelism=st.sampled_from([1, 1, 3]))
@examples(60)
def test_the_chosen_plan_has_nearly_the_least_shared_cost(
    case: Case, seed: int, parallelism: int
) -> None:
    note(text(case.query))
    options = Options(
        check=True, shared_costs=True, parallelism=parallelism, budget_expressions=400
    )
    found = optimized(case, options, seed)
    check_plans(case, [found.plan])
    if found.plans.count <= MANY:
        assert found.shared_cost <= least(found) * WORST


WORST = 1.05
"""The greatest ratio to the least shared cost of all plans."""


def optimize_equal_joins(seed: int, margin: float, *, costs: bool = True) -> SearchResult:
    """Without joins of all atoms at once, so that only binary joins can be shared."""
    return optimize(
        SHAPES["two equal joins"],
        SetCosts(seed),
        shared_costs=costs,
        margin=margin,
        disabled_rules=frozenset({"ForestToMultiway"}),
    )


def test_the_cheapest_tree_stays_within_the_error_of_the_model() -> None:
    compared = 0
    for seed in range(12):
        search = partial(optimize_equal_joins, seed)
        tree, shared = search(0.0, costs=False), search(0.0)
        gain = tree.shared_cost - shared.shared_cost
        if gain <= tree.shared_cost * ROUNDING:
            continue
        error = gain / error_of_difference(shared.best, tree.best, 1.0)
        below, above = search(error * 0.99), search(error * 1.01)
        if below.kept_as_written is None and above.kept_as_written is None:
            assert below.shared_cost == pytest.approx(shared.shared_cost)
            assert above.shared_cost == pytest.approx(tree.shared_cost)
            compared += 1
    assert compared > 1


@given(case=cases(), seed=st.integers(0, 999), parallelism=st.sampled_from([1, 3]))
@examples(40)
def test_the_shared_cost_is_at_most_that_of_the_cheapest_tree_and_the_plan_as_written(
    case: Case, seed: int, parallelism: int
) -> None:
    note(text(case.query))
    tree = optimized(case, Options(parallelism=parallelism, budget_expressions=400), seed)
    options = Options(
        parallelism=parallelism, budget_expressions=400, shared_costs=True, margin=1e-12
    )
    found = optimized(case, options, seed)
    assert found.shared_cost <= tree.shared_cost * (1 + ROUNDING)
    cut = optimized(case, replace(options, budget_ms=0.0), seed)
    assert cut.shared_cost <= cut.canonical_shared_cost * (1 + ROUNDING)
    assert found.shared_costs
    assert not tree.shared_costs
    if found.required is not None:
        assert set(found.reasons()) == set(range(len(found.plan.nodes)))


@pytest.mark.parametrize("name", ["Q1", "Q4", "Q11", "star", "chain"])
def test_queries_that_cannot_share_anything_have_the_cheapest_tree(name: str) -> None:
    shapes: dict[str, LogicalExpression] = {**TABLE_4_2, "star": QS, "chain": pattern(chain(5))}
    tree, shared = (optimize(shapes[name], shared_costs=s) for s in (False, True))
    assert shared.winners is None
    assert shared.plan == tree.plan


def test_reasons_and_requirements_follow_the_plan_of_the_least_shared_cost() -> None:
    for seed in range(12):
        outcome = optimize(SHAPES["two equal joins"], SetCosts(seed), shared_costs=True)
        steps = in_order(outcome.best)
        reasons = outcome.reasons()
        assert set(reasons) == set(range(len(steps))) == set(outcome.requirements())
        for node, (step, _) in enumerate(steps):
            assert reasons[node].winner.cost == pytest.approx(step.cost)
            assert isinstance(reasons[node].required, RequiredProperties)


def test_a_search_that_is_cut_takes_the_cheapest_tree_so_far() -> None:
    outcome = optimize(CONCAT_PLUS, budget_ms=0.0, shared_costs=True)
    assert outcome.stop_reason == "budget_ms"
    assert outcome.winners is None

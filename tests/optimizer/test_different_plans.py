"""Different plans: mirror images and equal-cost duplicates count once."""

from __future__ import annotations

from itertools import islice
from math import factorial

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.optimizer import Options, SearchResult
from tests.optimizer.shapes import SetCosts, chain, optimize, pattern, star
from tests.oracles.query import text
from tests.properties.plans import optimized
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases


@pytest.mark.parametrize("n", range(2, 6))
def test_a_star_has_as_many_different_plans_as_trees_with_unordered_inputs(n: int) -> None:
    """A star joins any two sets: (2n - 3)!! trees, with 2^(n-1) mirror images each."""
    plans = optimize(pattern(star(n)), SetCosts()).plans
    trees = factorial(2 * n - 2) // (2 ** (n - 1) * factorial(n - 1))
    assert plans.different.count == trees
    assert plans.count == trees * 2 ** (n - 1)


@pytest.mark.parametrize("n", range(2, 7))
def test_a_chain_has_as_many_different_plans_as_ways_to_put_brackets(n: int) -> None:
    plans = optimize(pattern(chain(n)), SetCosts()).plans
    assert plans.different.count == factorial(2 * n - 2) // (factorial(n) * factorial(n - 1))


def costs(outcome: SearchResult, *, different: bool) -> list[float]:
    plans = outcome.plans.different if different else outcome.plans
    return [p.nodes[p.root].estimate.cumulative_cost for p in islice(plans.ranked(), 400)]


@pytest.mark.long
@given(case=cases(), seed=st.integers(0, 999), parallelism=st.sampled_from([1, 1, 3]))
@examples(20)
def test_different_plans_have_the_costs_of_all_plans_and_the_same_answers(
    case: Case, seed: int, parallelism: int
) -> None:
    note(text(case.query))
    found = optimized(case, Options(parallelism=parallelism, budget_expressions=400), seed)
    check_plans(case, found.plans.different.sample(5, seed))
    different = costs(found, different=True)
    assert len(different) == min(400, found.plans.different.count)
    assert different == sorted(different)
    if found.circular:  # the best plan may pass through a group twice, which no list has
        assert different[0] >= found.cost * (1 - 1e-12)
    else:
        assert different[0] == pytest.approx(found.cost, rel=1e-12)
    if found.plans.count <= 400:
        whole = {f"{cost:.9g}" for cost in costs(found, different=False)}
        assert {f"{cost:.9g}" for cost in different} == whole

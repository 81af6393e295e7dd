"""Every plan of every query, run in this process, gives the oracle's results."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.costmodel import CostModel
from headrace.optimizer import Options
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, plans_of, read_back, some_disabled
from tests.properties.running import BATCH_ROWS, judge, lines_of
from tests.properties.test_plans import COST_MODELS, RULES
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.vertices import vertex_cases


def _check(case: Case, plans: list[PhysicalPlan]) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans:
        for batch_rows in BATCH_ROWS:
            judge(truth, plan, lines_of(case, plan, batch_rows))


@given(case=cases(), seed=st.integers(0, 999))
@examples(60)
def test_plans_of_random_queries(case: Case, seed: int) -> None:
    _check(case, [read_back(plan) for plan in plans_of(optimized(case), seed=seed)])


@given(case=property_cases(), seed=st.integers(0, 999))
@examples(60)
def test_plans_of_queries_over_properties(case: Case, seed: int) -> None:
    _check(case, [read_back(plan) for plan in plans_of(optimized(case), most=8, seed=seed)])


@given(case=vertex_cases(), seed=st.integers(0, 999))
@examples(25)
def test_plans_of_queries_over_vertices(case: Case, seed: int) -> None:
    _check(case, [read_back(plan) for plan in plans_of(optimized(case), most=8, seed=seed)])


@pytest.mark.parametrize("name", NAMED)
def test_plans_of_named_queries(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])), seed=st.integers(0, 999))
    @examples(2)
    def check(case: Case, seed: int) -> None:
        _check(case, plans_of(optimized(case), seed=seed))

    check()


@given(case=cases(), seed=st.integers(0, 999), cost_model=st.sampled_from(COST_MODELS))
@examples(60)
def test_the_plan_chosen_under_any_costs(case: Case, seed: int, cost_model: CostModel) -> None:
    _check(case, [optimized(case, Options(), seed, cost_model).plan])


@given(case=cases(), seed=st.integers(0, 999))
@examples(60)
def test_the_plan_chosen_without_some_rules(case: Case, seed: int) -> None:
    _check(case, [optimized(case, some_disabled(RULES, seed), seed).plan])

"""Plans over several partitions, with exchanges at random places, give the oracle's results."""

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.costmodel import CostModel
from headrace.executor.stages import stages_of
from tests.executor.spreading import spread
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of
from tests.properties.test_plans import COST_MODELS
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases

ROWS = st.sampled_from([1, 3, 1000])


def _check(case: Case, partitions: int, seed: int, batch_rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for number, plan in enumerate(plans_of(optimized(case), most=6, seed=seed)):
        several = read_back(spread(plan, partitions, seed + number))
        judge(truth, several, lines_of(case, several, batch_rows))


@given(case=cases(), partitions=st.integers(2, 4), seed=st.integers(0, 9_999), rows=ROWS)
@examples(60)
def test_plans_of_random_queries(case: Case, partitions: int, seed: int, rows: int) -> None:
    _check(case, partitions, seed, rows)


@given(case=property_cases(), partitions=st.integers(2, 4), seed=st.integers(0, 9_999), rows=ROWS)
@examples(40)
def test_plans_over_properties(case: Case, partitions: int, seed: int, rows: int) -> None:
    _check(case, partitions, seed, rows)


@pytest.mark.parametrize("name", NAMED)
def test_plans_of_named_queries(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])), seed=st.integers(0, 9_999), rows=ROWS)
    @examples(2)
    def check(case: Case, seed: int, rows: int) -> None:
        _check(case, 2, seed, rows)

    check()


@given(
    case=cases(),
    partitions=st.integers(2, 5),
    seed=st.integers(0, 999),
    rows=ROWS,
    cost_model=st.sampled_from(COST_MODELS),
)
@pytest.mark.long
@examples(60)
def test_plans_made_for_several_partitions(
    case: Case, partitions: int, seed: int, rows: int, cost_model: CostModel
) -> None:
    """The optimizer's own plans: the chosen one, the canonical one, and a uniform sample."""
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, seed, cost_model), most=6, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=cases(), seed=st.integers(0, 9_999))
@examples(30)
def test_one_partition_is_one_stage(case: Case, seed: int) -> None:
    for plan in plans_of(optimized(case), most=6, seed=seed):
        (stage,) = stages_of(plan)
        assert stage.outputs == (plan.root,)

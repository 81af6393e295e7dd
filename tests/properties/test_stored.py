"""Plans over stored graphs, beside streams and alone, give the oracle's results."""

from dataclasses import replace
from math import isfinite

from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.costmodel import CostModel
from tests.executor.spreading import spread
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import BATCH_ROWS, judge, lines_of
from tests.properties.test_plans import COST_MODELS
from tests.properties.test_simple_paths import SIMPLE_CASES
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.stored import stored_cases
from tests.strategies.vertices import vertex_cases

ROWS = st.sampled_from(BATCH_ROWS)
NAMED_CASES = st.sampled_from(sorted(NAMED)).flatmap(lambda name: cases(st.just(NAMED[name])))


def _check(case: Case, plan: PhysicalPlan, truth: Truth, rows: int) -> None:
    for node in plan.nodes:
        known = node.estimate
        assert all(map(isfinite, (known.rate, known.population, known.cost, known.interval or 0)))
    judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(
    case=stored_cases(
        st.one_of(cases(), NAMED_CASES, property_cases(), vertex_cases(), SIMPLE_CASES)
    ),
    seed=st.integers(0, 999),
    rows=ROWS,
    cost_model=st.sampled_from(COST_MODELS),
)
@examples(30)
def test_plans_over_stored_graphs_give_the_results_of_the_oracle(
    case: Case, seed: int, rows: int, cost_model: CostModel
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case, THOROUGH, seed, cost_model), most=8, seed=seed):
        _check(case, plan, truth, rows)


@given(
    case=stored_cases(st.one_of(cases(), NAMED_CASES)),
    partitions=st.integers(2, 4),
    seed=st.integers(0, 999),
    rows=ROWS,
)
@examples(15)
def test_partitioned_plans_over_stored_graphs_give_the_results_of_the_oracle(
    case: Case, partitions: int, seed: int, rows: int
) -> None:
    """Plans with exchanges at random places, and at the places that the optimizer chooses."""
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    _check(case, spread(optimized(case).plan, partitions, seed), truth, rows)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, seed), most=4, seed=seed):
        _check(case, plan, truth, rows)

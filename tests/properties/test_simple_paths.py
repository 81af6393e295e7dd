"""Every plan of a query whose paths may not repeat a vertex gives the oracle's results."""

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back, some_disabled
from tests.properties.running import judge, lines_of
from tests.properties.test_plans import RULES, check_plans
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.queries import Case, cases

ROWS = st.sampled_from([1, 3, 1000])


def simple(case: Case) -> Case:
    """The same query with simple paths, on a stream that is short enough to walk all of them."""
    return replace(case, query=replace(case.query, paths="simple"), edges=case.edges[:25])


SIMPLE_CASES = cases().map(simple)


@given(case=SIMPLE_CASES, seed=st.integers(0, 999))
@examples(15)
def test_plans_of_random_queries(case: Case, seed: int) -> None:
    note(text(case.query))
    found = optimized(case, statistics=seed)
    assert found.stop_reason == "complete"
    check_plans(case, plans_of(found, seed=seed))


@given(case=SIMPLE_CASES, seed=st.integers(0, 999))
@examples(20)
def test_plans_with_rules_disabled(case: Case, seed: int) -> None:
    note(text(case.query))
    options = some_disabled(RULES, seed)
    note(f"without {sorted(options.disabled_rules)}")
    check_plans(case, plans_of(optimized(case, options), 10, seed))


@given(case=SIMPLE_CASES, seed=st.integers(0, 999), rows=ROWS)
@examples(12)
def test_plans_of_simple_paths_give_the_results_of_the_oracle(
    case: Case, seed: int, rows: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=8, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@given(case=SIMPLE_CASES, partitions=st.integers(2, 4), seed=st.integers(0, 999), rows=ROWS)
@examples(8)
def test_plans_made_for_several_partitions(
    case: Case, partitions: int, seed: int, rows: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, seed), most=6, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.parametrize("name", NAMED)
def test_plans_of_named_queries(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])).map(simple), seed=st.integers(0, 999))
    @examples(3)  # the first one tried has no edges
    def check(case: Case, seed: int) -> None:
        truth = Truth(case.query, case.edges)
        for plan in plans_of(optimized(case), most=12, seed=seed):
            judge(truth, plan, lines_of(case, plan, 1000))

    check()

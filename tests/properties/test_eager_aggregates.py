"""Plans that group an input of a join before the join, with each of the features they go with."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import Exchange
from headrace.algebra.plan import PhysicalPlan
from headrace.optimizer import Options, SearchResult
from tests.executor.spark.chain import Chain
from tests.oracles.judgement import Line
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.tally import TRIED
from tests.properties.test_deletions import Deleting, deleting
from tests.properties.test_deletions import judge as judge_deleting
from tests.properties.test_partial_aggregates import RULES, case_of, is_partial
from tests.strategies.amount import examples
from tests.strategies.grouped import grouped_joins
from tests.strategies.queries import Case

OF_JOINS = sorted(RULES.keys() - {"least and greatest of a scan"})
BEFORE_ALONE = replace(THOROUGH, disabled_rules=frozenset({"AggregatePartially"}))
"""A search whose partial aggregates are all below joins."""


def eager_plans(
    of: Deleting, most: int, seed: int, options: Options = BEFORE_ALONE
) -> list[PhysicalPlan]:
    """Plans that group before a join, of a sample of all plans."""
    found: SearchResult = optimized(of.case, options, seed, deletions=of.streams)
    return list(islice(filter(is_partial, found.plans.sample(60, seed)), most))


def _without_deletions(case: Case) -> Deleting:
    return Deleting(case, frozenset(), ())


@pytest.mark.parametrize("name", OF_JOINS)
def test_plans_are_right_at_every_instant(name: str) -> None:
    case = case_of(name)
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes)), text(case.query)
    plans = eager_plans(_without_deletions(case), 4, 1)
    assert plans, text(case.query)
    for number, plan in enumerate(plans):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[number % 3]))


@pytest.mark.parametrize("name", OF_JOINS)
def test_plans_over_deletions_and_several_partitions_are_right(name: str) -> None:
    of = deleting(case_of(name), 7)
    plans = eager_plans(of, 2, 1, replace(BEFORE_ALONE, parallelism=3))
    assert plans, text(of.case.query)
    for plan in plans:
        judge_deleting(of, read_back(plan), 3)


@pytest.mark.parametrize("name", ["reported", "sums and means of a join", "read by another rule"])
@pytest.mark.parametrize("partitions", [1, 2])
def test_partitions_that_are_rebuilt_after_each_batch_continue(name: str, partitions: int) -> None:
    case = case_of(name)
    rows = rows_of_edges(case.query, case.edges)
    options = replace(BEFORE_ALONE, parallelism=partitions)
    for plan in eager_plans(_without_deletions(case), 2, 3, options):
        chain = Chain(plan, 5)
        for start in range(0, len(rows), 5):
            chain.another_worker(gone=True)
            chain.batch(rows[start : start + 5], end=start + 5 >= len(rows))
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])


def test_groups_before_a_join_are_grouped_again_before_an_exchange() -> None:
    """Counts of counts are sums, of which partitions have parts."""
    case = case_of("counts without keys")
    found = optimized(case, replace(THOROUGH, parallelism=2))

    def parts(plan: PhysicalPlan) -> int:
        return sum(getattr(node.operator, "partial", None) is True for node in plan.nodes)

    plans = [plan for plan in found.plans.sample(200, 1) if parts(plan) == 2]
    assert plans
    for plan in plans[:2]:
        assert any(isinstance(node.operator, Exchange) for node in plan.nodes)
        judge(Truth(case.query, case.edges), plan, lines_of(case, read_back(plan), 3))


@given(case=grouped_joins(), seed=st.integers(0, 999))
@examples(25)
def test_plans_of_random_queries(case: Case, seed: int) -> None:
    check_random(case, seed, 1, deletes=False)


@pytest.mark.long
@given(
    case=grouped_joins(),
    seed=st.integers(0, 999),
    partitions=st.integers(1, 3),
    deletes=st.booleans(),
)
@examples(60)
def test_plans_of_random_queries_with_deletions_and_partitions(
    case: Case, seed: int, partitions: int, deletes: bool
) -> None:
    check_random(case, seed, partitions, deletes=deletes)


def check_random(case: Case, seed: int, partitions: int, *, deletes: bool) -> None:
    """Judges two plans of a case."""
    note(text(case.query))
    of = deleting(case, seed) if deletes else _without_deletions(case)
    options = replace(BEFORE_ALONE, parallelism=partitions, budget_expressions=1_000)
    for plan in eager_plans(of, 2, seed, options):
        TRIED["eager plans judged"] += 1
        judge_deleting(of, read_back(plan), (1, 3, 1000)[seed % 3])

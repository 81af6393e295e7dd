"""Evaluation per slide: plans give at each report the oracle's results of the instant before."""

from dataclasses import replace
from math import gcd

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.optimizer import Options
from tests.executor.spark.chain import Chain
from tests.executor.spreading import spread
from tests.oracles.judgement import (
    Line,
    between_reports,
    broken_promises,
    meeting,
    per_slide_mismatches,
)
from tests.oracles.query import Query, text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import BATCH_ROWS, lines_of, rows_of_edges, shown
from tests.properties.test_simple_paths import SIMPLE_CASES
from tests.properties.test_time_bounds import bounded_cases
from tests.strategies.amount import examples
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases
from tests.strategies.stored import stored_cases
from tests.strategies.vertices import vertex_cases

ROWS = st.sampled_from(BATCH_ROWS)


def period_of(query: Query) -> int:
    """The greatest common divisor of the slides of the case's windows."""
    return gcd(*(source.slide for _, source in query.sources if not source.stored)) or 1


def per_slide(case: Case, options: Options = THOROUGH) -> Options:
    return replace(options, evaluate_every=period_of(case.query))


def judge(case: Case, plan: PhysicalPlan, lines: list[Line]) -> None:
    """Lines are right at the reports, begin and end there, and keep their promise."""
    period = period_of(case.query)
    assert plan.evaluate_every == period
    truth = Truth(case.query, case.edges)
    wrong = [*map(str, per_slide_mismatches(truth, lines, period)), *broken_promises(lines)]
    wrong += between_reports(lines, period)
    if any(rule.aggregates for rule in case.query.rules):
        wrong += meeting(lines)
    assert not wrong, "\n".join([*wrong[:5], shown(plan), *map(str, case.edges), *map(str, lines)])


@pytest.mark.long
@given(
    case=st.one_of(
        cases(), cases(), property_cases(aggregates=False), vertex_cases(), bounded_cases()
    ),
    seed=st.integers(0, 999),
)
@examples(25)
def test_plans_of_random_queries_are_right_at_each_slide(case: Case, seed: int) -> None:
    note(text(case.query))
    for plan in plans_of(optimized(case, per_slide(case)), most=8, seed=seed):
        for rows in BATCH_ROWS:
            judge(case, plan, lines_of(case, read_back(plan), rows))


@given(
    case=stored_cases(
        st.one_of(cases(), property_cases(aggregates=False), vertex_cases(), SIMPLE_CASES)
    ),
    rows=ROWS,
    seed=st.integers(0, 999),
)
@examples(10)
def test_plans_over_stored_graphs_and_simple_paths(case: Case, rows: int, seed: int) -> None:
    note(text(case.query))
    for plan in plans_of(optimized(case, per_slide(case)), most=3, seed=seed):
        judge(case, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.parametrize("name", ["Table 4.2 Q3", "Table 5.1 Q7", "Example 5"])
def test_plans_of_named_queries_are_right_at_each_slide(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])), seed=st.integers(0, 999), rows=ROWS)
    @examples(2)
    def check(case: Case, seed: int, rows: int) -> None:
        for plan in plans_of(optimized(case, per_slide(case)), most=8, seed=seed):
            judge(case, plan, lines_of(case, plan, rows))

    check()


@pytest.mark.long
@given(
    case=st.one_of(
        cases(),
        bounded_cases(),
        root_cases(aggregates=False).filter(lambda case: case.query.emit is None),
    ),
    partitions=st.integers(1, 3),
    hops=st.integers(0, 3),
    seed=st.integers(0, 999),
)
@examples(25)
def test_partitions_whose_state_is_rebuilt(
    case: Case, partitions: int, hops: int, seed: int
) -> None:
    """As on Spark: made for several partitions, or spread over them, and rebuilt now and then."""
    note(text(case.query))
    edges, size = rows_of_edges(case.query, case.edges), 1 + seed % 7
    made_for = replace(per_slide(case), parallelism=partitions if seed % 2 else 1)
    aggregates = any(rule.aggregates for rule in case.query.rules)
    for found in plans_of(optimized(case, made_for), most=2, seed=seed):
        spreads = partitions > found.parallelism and not aggregates
        plan = spread(found, partitions, seed) if spreads else found
        chain = Chain(plan, seed)
        chain.another_worker(gone=True)
        starts = range(0, max(len(edges), 1), size)
        for number, start in enumerate(starts):
            if hops and number % hops == 0:
                chain.another_worker(gone=True)
            chain.batch(edges[start : start + size], end=start == starts[-1])
        judge(case, plan, [Line(*result) for result in chain.results])

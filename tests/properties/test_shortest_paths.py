"""Every plan of a query with shortest paths gives the oracle's results."""

from dataclasses import replace

from hypothesis import given, note
from hypothesis import strategies as st

from tests.executor.spark.chain import Chain
from tests.oracles.judgement import Line
from tests.oracles.query import text
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.test_deletions import appending, check, deleting
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.queries import Case
from tests.strategies.shortest import shortest_cases

ROWS = st.sampled_from([1, 3, 1000])
SEEDS = st.integers(0, 9_999)


@given(case=shortest_cases(), partitions=st.sampled_from([1, 1, 3]), seed=SEEDS, rows=ROWS)
@examples(20)
def test_plans_give_the_reports_of_the_oracle(
    case: Case, partitions: int, seed: int, rows: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    plans = plans_of(optimized(case, options, seed), most=3, seed=seed)
    for plan in plans:
        judge(truth, plan, lines_of(case, read_back(plan), rows))
    check_plans(case, plans)


@given(case=shortest_cases(emits=False), seed=SEEDS)
@examples(12)
def test_plans_of_bounded_paths_give_the_answer_at_every_instant(case: Case, seed: int) -> None:
    found = plans_of(optimized(case, statistics=seed), most=3, seed=seed)
    check(appending(case), [read_back(plan) for plan in found])


@given(case=st.one_of(shortest_cases(), shortest_cases(emits=False)), seed=SEEDS)
@examples(10)
def test_plans_over_deletions(case: Case, seed: int) -> None:
    note(text(case.query))
    of = deleting(case, seed)
    found = plans_of(optimized(case, deletions=of.streams), most=2, seed=seed)
    check(of, [read_back(plan) for plan in found])


@given(case=shortest_cases(), partitions=st.integers(1, 2), seed=SEEDS, hops=st.integers(1, 3))
@examples(8)
def test_rebuilt_state_loses_and_repeats_no_report(
    case: Case, partitions: int, seed: int, hops: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    edges, size = rows_of_edges(case.query, case.edges), 1 + seed % 7
    for plan in plans_of(optimized(case, options), most=2, seed=seed):
        chain = Chain(plan, seed)
        chain.another_worker(gone=True)
        starts = range(0, max(len(edges), 1), size)
        for number, start in enumerate(starts):
            if number % hops == 0:
                chain.another_worker(gone=True)
            chain.batch(edges[start : start + size], end=start == starts[-1])
        judge(truth, plan, [Line(*result) for result in chain.results])

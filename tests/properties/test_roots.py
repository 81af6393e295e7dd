"""Computed columns, aggregates and reports: every plan gives the oracle's results."""

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.executor.spark.chain import Chain
from tests.oracles.judgement import Line
from tests.oracles.query import Atom, Query, Rule, Source, Var, text
from tests.oracles.roots import Agg, Emit
from tests.oracles.snapshot import Edge, Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.test_plans import check_plans as check_meaning
from tests.strategies.amount import examples
from tests.strategies.queries import Case
from tests.strategies.roots import root_cases
from tests.strategies.vertices import merged_cases


@given(case=root_cases(), seed=st.integers(0, 999), rows=st.sampled_from([1, 3, 1000]))
@examples(60)
def test_plans_of_random_queries(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=6, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=merged_cases(), seed=st.integers(0, 999), rows=st.sampled_from([1, 3, 1000]))
@examples(30)
def test_plans_of_newest_properties(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=3, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@given(case=root_cases(), seed=st.integers(0, 999))
@examples(30)
def test_plans_mean_what_the_query_means(case: Case, seed: int) -> None:
    check_meaning(case, plans_of(optimized(case), most=10, seed=seed))


@pytest.mark.long
@given(case=root_cases(), partitions=st.integers(2, 3), seed=st.integers(0, 999))
@examples(30)
def test_plans_made_for_several_partitions(case: Case, partitions: int, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options), most=4, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), 1 + seed % 5))


@pytest.mark.long
@given(
    case=st.one_of(root_cases(), root_cases(), merged_cases()),
    partitions=st.integers(1, 3),
    seed=st.integers(0, 999),
    hops=st.integers(1, 3),
)
@examples(60)
def test_rebuilt_state_loses_and_repeats_no_result(
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


EDGES = (Edge(1, "x", "y", "a"), Edge(15, "x", "z", "a"), Edge(25, "u", "v", "a"))


def _rebuilt_each_time(head: str, emit: Emit | None) -> list[Line]:
    """The result lines if each batch has one edge and runs on a new worker."""
    columns = (("n", Agg("count")),) if head == "n" else ()
    variables = ("x", "n") if columns else ("x", "y")
    rule = Rule("Answer", variables, (Atom("a", Var("x"), Var("y")),), (), columns)
    query = Query((rule,), (("a", Source("s", 12)),), emit=emit)
    case = Case(query, EDGES)
    chain = Chain(optimized(case).plan)
    rows = rows_of_edges(query, EDGES)
    for row in rows:
        chain.another_worker(gone=True)
        chain.batch([row], end=row == rows[-1])
    judge(Truth(query, EDGES), chain.plan, [Line(*result) for result in chain.results])
    return [Line(*result) for result in chain.results]


def test_rows_that_left_before_a_rebuild_are_reported_after_it() -> None:
    said = _rebuilt_each_time("y", Emit("exit", 10))
    assert Line(("x", "y"), 20, 30) in said


def test_a_row_that_was_open_before_a_rebuild_closes_with_its_beginning() -> None:
    said = _rebuilt_each_time("n", None)
    assert said == [
        Line(("x", 1), 1, 13),
        Line(("x", 1), 15, 27),
        Line(("u", 1), 25, 37),
    ]

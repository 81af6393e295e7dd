"""Reports at events, and from an instant on: every plan gives the oracle's reports."""

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
from tests.properties.test_deletions import check, deleting
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases
from tests.strategies.roots import MODES, collects, root_cases

SEEDS = st.integers(0, 999)


@st.composite
def reporting(draw: st.DrawFn) -> Case:
    """A case that reports at events, or after a period from an instant on."""
    found: st.SearchStrategy[Case] = st.one_of(root_cases(), cases())
    case = draw(found.filter(lambda case: not collects(case.query.rules)))
    start = draw(st.just(0) | st.integers(1, 12))
    events = draw(st.integers(1, 4)) if not start or draw(st.booleans()) else None
    emit = Emit(draw(MODES), draw(st.integers(1, 5)), events, start)
    return replace(case, query=replace(case.query, emit=emit))


@given(case=reporting(), seed=SEEDS, rows=st.sampled_from([1, 3, 1000]))
@examples(30)
def test_plans_of_random_queries(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case), most=3, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@given(case=reporting(), seed=SEEDS, partitions=st.integers(1, 3))
@examples(30)
def test_plans_over_deletions_and_several_partitions(
    case: Case, seed: int, partitions: int
) -> None:
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=partitions)
    found = optimized(case, options, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=3, seed=seed)])


@pytest.mark.long
@given(case=reporting(), partitions=st.integers(1, 3), seed=SEEDS, hops=st.integers(1, 3))
@examples(40)
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


ONE = Rule("Answer", ("x", "y"), (Atom("a", Var("x"), Var("y")),))
COUNT = replace(ONE, variables=("n",), properties=(("n", Agg("count")),))
EDGES = tuple(
    Edge(ts, src, trg, "a")
    for ts, src, trg in [(1, "x", "y"), (1, "x", "z"), (4, "x", "y"), (9, "u", "v"), (15, "v", "w")]
)


def _lines(emit: Emit, rule: Rule = ONE, edges: tuple[Edge, ...] = EDGES) -> list[Line]:
    """The lines over a window of 5, if each batch has an edge and runs on a new worker."""
    query = Query((rule,), (("a", Source("s", 5)),), emit=emit)
    chain = Chain(optimized(Case(query, edges)).plan)
    rows = rows_of_edges(query, edges)
    for position, row in enumerate(rows):
        chain.another_worker(gone=True)
        chain.batch([row], end=position + 1 == len(rows))
    lines = [Line(*result) for result in chain.results]
    judge(Truth(query, edges), chain.plan, lines)
    return sorted(lines, key=lambda line: (line.ts, line.row))


def test_rows_of_one_instant_are_one_event() -> None:
    assert _lines(Emit("entering", 1, events=2)) == [
        Line(("x", "y"), 4, 5),
        Line(("x", "z"), 4, 5),
        Line(("v", "w"), 15, 16),
    ]


def test_the_window_of_a_report_is_open_at_its_beginning() -> None:
    """The window of 5 at 9 has the edges of (4, 9]: that of 4 is gone."""
    assert _lines(Emit("snapshot", 1, events=1)) == [
        Line(("x", "y"), 1, 2),
        Line(("x", "z"), 1, 2),
        Line(("x", "y"), 4, 5),
        Line(("x", "z"), 4, 5),
        Line(("u", "v"), 9, 10),
        Line(("v", "w"), 15, 16),
    ]


def test_a_row_that_left_long_ago_is_reported_at_the_next_event() -> None:
    assert _lines(Emit("exit", 1, events=1)) == [
        Line(("x", "y"), 9, 10),
        Line(("x", "z"), 9, 10),
        Line(("u", "v"), 15, 16),
    ]


def test_events_before_the_start_do_not_count() -> None:
    assert _lines(Emit("entering", 1, events=2, start=2)) == [Line(("u", "v"), 9, 10)]


def test_the_period_begins_at_the_start() -> None:
    assert _lines(Emit("entering", 4, start=3)) == [
        Line(("x", "y"), 3, 7),
        Line(("x", "z"), 3, 7),
        Line(("u", "v"), 11, 15),
        Line(("v", "w"), 15, 19),
    ]


def test_aggregates_are_those_at_events() -> None:
    assert _lines(Emit("snapshot", 1, events=1), COUNT) == [
        Line((2,), 1, 2),
        Line((3,), 4, 5),
        Line((1,), 9, 10),
        Line((1,), 15, 16),
    ]

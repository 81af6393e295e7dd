"""Every plan of a query whose paths may not repeat an edge gives the oracle's results."""

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Lit, Prop
from tests.oracles.query import Alt, Atom, PathAtom, Query, Rule, Seq, Source, Step, Var, text
from tests.oracles.snapshot import Edge, Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back, some_disabled
from tests.properties.running import judge, lines_of
from tests.properties.test_per_slide import judge as judge_per_slide
from tests.properties.test_per_slide import per_slide
from tests.properties.test_plans import RULES, check_plans
from tests.strategies.amount import examples
from tests.strategies.counted import counted_cases
from tests.strategies.labels import label_cases
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases
from tests.strategies.stored import stored_cases

ROWS = st.sampled_from([1, 3, 1000])


def trails(case: Case) -> Case:
    """The same query with trails, on a stream that is short enough to walk all of them."""
    return replace(case, query=replace(case.query, paths="trail"), edges=case.edges[:12])


TRAIL_CASES = cases().map(trails)


RICH_CASES = st.one_of(
    TRAIL_CASES,
    property_cases(longest=12).map(trails),
    label_cases(longest=12).map(trails),
    counted_cases(longest=10).map(trails),
    root_cases(longest=12).map(trails),
    stored_cases(cases()).map(trails),
)
"""Trails beside conditions, sets of labels, aggregates, reports and stored graphs."""


@given(case=TRAIL_CASES, seed=st.integers(0, 999))
@examples(8)
def test_plans_of_random_queries(case: Case, seed: int) -> None:
    note(text(case.query))
    found = optimized(case, statistics=seed)
    assert found.stop_reason == "complete"
    check_plans(case, plans_of(found, seed=seed))


@given(case=TRAIL_CASES, seed=st.integers(0, 999))
@examples(6)
def test_plans_with_rules_disabled(case: Case, seed: int) -> None:
    note(text(case.query))
    options = some_disabled(RULES, seed)
    note(f"without {sorted(options.disabled_rules)}")
    check_plans(case, plans_of(optimized(case, options), 10, seed))


@given(case=RICH_CASES, partitions=st.sampled_from([1, 1, 3]), seed=st.integers(0, 999), rows=ROWS)
@examples(14)
def test_plans_of_trails_give_the_results_of_the_oracle(
    case: Case, partitions: int, seed: int, rows: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, seed), most=4, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=TRAIL_CASES, seed=st.integers(0, 999), rows=ROWS)
@examples(6)
def test_plans_evaluated_per_slide(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    for plan in plans_of(optimized(case, per_slide(case)), most=4, seed=seed):
        judge_per_slide(case, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMED)
def test_plans_of_named_queries(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])).map(trails), seed=st.integers(0, 999))
    @examples(3)  # the first one tried has no edges
    def check(case: Case, seed: int) -> None:
        truth = Truth(case.query, case.edges)
        for plan in plans_of(optimized(case), most=6, seed=seed):
            judge(truth, plan, lines_of(case, plan, 1000))

    check()


def test_steps_with_conditions_or_windows_walk_over_the_edges_of_their_label() -> None:
    """Each of these paths needs two edges of one label, and there is one."""
    source = (("a", Source("s", 10, 1)),)
    low, high = Step("a", (Compare(Prop("_", "w"), "<", Lit(9)),)), Step("a")
    query = Query(
        (Rule("Answer", ("x", "y"), (PathAtom(Seq((low, high)), Var("x"), Var("y")),)),),
        source, (("w", "integer"),), paths="trail",
    )  # fmt: skip
    one = Edge(1, "0", "0", "a", (("w", 5),))
    other = Edge(1, "0", "0", "a", (("w", 50),))
    for edges, expected in (((one,), set()), ((one, other), {("0", "0")})):
        case = Case(query, edges)
        truth = Truth(query, edges)
        assert truth.at(2) == expected
        for plan in plans_of(optimized(case)):
            judge(truth, plan, lines_of(case, plan, 1000))


def test_equal_predicates_have_edges_of_their_own() -> None:
    """Two predicates may be one relation, and their edges are identified by the predicates."""
    ends = ("x", "y")
    body = (Atom("a", Var("x"), Var("z")), Atom("b", Var("z"), Var("y")))
    rules = (Rule("d", ends, body), Rule("e", ends, body))
    source = Source("s", 10, 1)
    edges = (Edge(1, "0", "1", "a"), Edge(2, "1", "0", "b"))
    twice, both = Seq((Step("d"), Step("d"))), Seq((Step("d"), Step("e")))
    for regex, expected in ((Alt((twice, both)), {("0", "0")}), (twice, set())):
        path = PathAtom(regex, Var("x"), Var("y"))
        query = Query(
            (*rules, Rule("Answer", ends, (path,))), (("a", source), ("b", source)),
            paths="trail",
        )  # fmt: skip
        case = Case(query, edges)
        truth = Truth(query, edges)
        assert truth.at(3) == expected
        for plan in plans_of(optimized(case)):
            judge(truth, plan, lines_of(case, plan, 1000))

"""Rules that read the aggregates of other rules, with each of the features that they go with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import Edge
from headrace.executor.stages import stages_of
from tests.executor.spark.chain import Chain
from tests.oracles.conditions import Compare, Lit, Prop, Vert
from tests.oracles.judgement import Line, mismatches, wrong_reports
from tests.oracles.query import Atom, Closure, Derived, Not, Query, Rule, Source, Var, text
from tests.oracles.roots import Agg, Emit, First
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of, rows_of_edges, shown
from tests.properties.test_deletions import Deleting, deleting
from tests.properties.test_deletions import judge as judge_deleting
from tests.strategies.amount import examples
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case
from tests.strategies.streams import long_stream

X, Y, N = Var("x"), Var("y"), Var("n")
BUSY = Rule("Busy", ("x", "n"), (Atom("a", X, Y),), (), (("n", Agg("count")),))
LATEST = Rule(
    "Late", ("x", "t"), (Atom("a", X, Y, "e"),), (), (("t", Agg("max", Prop("e", "ts"))),)
)
BOTH = (Derived("Busy", (X, N)), Atom("b", X, Y))
MANY = (Compare(Vert("n"), ">", Lit(2)),)
LISTS = Rule("Lists", ("x", "ns"), (Atom("a", X, Y),), (), (("ns", Agg("collect", Vert("y"))),))
LISTED = (Derived("Lists", (X, Var("ns"))), Atom("b", X, Y))
SAME = Rule("c", ("x", "y"), (Derived("Busy", (X, N)), Derived("Busy", (Y, N)), Atom("b", X, Y)))
EMITS = Emit("entering", 3)

RULES: dict[str, tuple[tuple[Rule, ...], Emit | None]] = {
    "as it is": ((BUSY, Rule("Answer", ("x", "n"), BOTH[:1])), None),
    "having": ((BUSY, Rule("Answer", ("x", "y"), BOTH, MANY)), None),
    "reported": ((BUSY, Rule("Answer", ("x", "y"), BOTH, MANY)), EMITS),
    "joined on values": (
        (BUSY, Rule("Answer", ("x", "y"), (BOTH[0], Derived("Busy", (Y, N))))),
        None,
    ),
    "values that stay while edges change": (
        (LATEST, Rule("Answer", ("x", "t"), (Derived("Late", (X, Var("t"))), Atom("b", X, Y)))),
        None,
    ),
    "an aggregate of it": (
        (BUSY, Rule("Answer", ("m",), BOTH, (), (("m", Agg("sum", Vert("n"))),))),
        None,
    ),
    "without keys": (
        (
            replace(BUSY, variables=("n",)),
            Rule("Answer", ("x", "n"), (Derived("Busy", (N,)), Atom("b", X, Y))),
        ),
        None,
    ),
    "negated": (
        (BUSY, Rule("Answer", ("x", "n"), BOTH, negated=(Not((Derived("Busy", (Y, N)),)),))),
        None,
    ),
    "over negated parts": (
        (replace(BUSY, negated=(Not((Atom("b", X, Y),)),)), Rule("Answer", ("x", "n"), BOTH[:1])),
        None,
    ),
    "lists handed on": ((LISTS, Rule("Answer", ("y", "ns"), LISTED)), None),
    "lists reported": ((LISTS, Rule("Answer", ("y", "ns"), LISTED)), EMITS),
    "lists of all": (
        (
            replace(LISTS, variables=("ns",)),
            Rule("Answer", ("x", "ns"), (Derived("Lists", (Var("ns"),)), Atom("b", X, Y))),
        ),
        None,
    ),
    "lists beside aggregates": (
        (LISTS, Rule("Answer", ("ns", "k"), LISTED, (), (("k", Agg("count")),))),
        None,
    ),
    "lists of chosen rows": (
        (LISTS, Rule("Answer", ("x", "ns"), LISTED, negated=(Not((Atom("a", Y, X),)),))),
        None,
    ),
    "first lists": (
        (replace(LISTS, first=First((("x", True),), 2)), Rule("Answer", ("y", "ns"), LISTED)),
        None,
    ),
    "a closure over it": ((BUSY, SAME, Rule("Answer", ("x", "y"), (Closure("c", X, Y),))), None),
}


def _case(name: str) -> Case:
    rules, emit = RULES[name]
    window = Source("s", 6, 2)
    query = Query(rules, (("a", window), ("b", window)), (("n", "integer"),), emit=emit)
    return Case(query, long_stream(2, ("a", "b"), ("0", "1", "2"), 36, 1.2))


@pytest.mark.parametrize("name", RULES)
def test_plans_are_right_at_every_instant(name: str) -> None:
    case = _case(name)
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes)), text(case.query)
    for number, plan in enumerate(plans_of(optimized(case), most=4, seed=1)):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[number % 3]))


@pytest.mark.parametrize("name", RULES)
def test_plans_over_deletions_are_right(name: str) -> None:
    of = deleting(_case(name), 7)
    for plan in plans_of(optimized(of.case, deletions=of.streams), most=2, seed=1):
        judge_deleting(of, plan, 3)


@pytest.mark.parametrize("name", RULES)
def test_plans_over_several_partitions_are_right(name: str) -> None:
    of = deleting(_case(name), 7)
    options = replace(THOROUGH, parallelism=3)
    for plan in plans_of(optimized(of.case, options, deletions=of.streams), most=2, seed=1):
        judge_deleting(of, read_back(plan), 3)


def _rebuilt(plan: PhysicalPlan, rows: Sequence[Edge]) -> list[Line]:
    """The lines of a run on partitions whose state is lost after each batch."""
    chain = Chain(plan, 5)
    for start in range(0, len(rows), 5):
        chain.another_worker(gone=True)
        chain.batch(rows[start : start + 5], end=start + 5 >= len(rows))
    return [Line(*result) for result in chain.results]


def test_a_rebuilt_aggregate_retracts_the_rows_that_a_later_stage_holds() -> None:
    """The expiry with which a row was given does not depend on rows that have expired since."""
    case = _case("joined on values")
    plans = plans_of(optimized(case, replace(THOROUGH, parallelism=2)), most=2, seed=1)
    assert any(len(stages_of(plan)) > 1 for plan in plans)
    for plan in plans:
        lines = _rebuilt(plan, rows_of_edges(case.query, case.edges))
        judge(Truth(case.query, case.edges), plan, lines)


@pytest.mark.parametrize("name", ["as it is", "negated"])
def test_changes_after_the_last_edge_reach_later_stages(name: str) -> None:
    """Rows of the end of the input are later than its last edge."""
    case = _case(name)
    for plan in plans_of(optimized(case, replace(THOROUGH, parallelism=2)), most=2, seed=2):
        chain = Chain(plan, 5)
        chain.batch(rows_of_edges(case.query, case.edges), end=True)
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])


@pytest.mark.long
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("name", RULES)
def test_partitions_that_are_rebuilt_after_each_batch_continue(name: str, partitions: int) -> None:
    case = _case(name)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options), most=2, seed=3):
        lines = _rebuilt(plan, rows_of_edges(case.query, case.edges))
        judge(Truth(case.query, case.edges), plan, lines)
    of = deleting(case, 7)
    for plan in plans_of(optimized(case, options, deletions=of.streams), most=2, seed=3):
        lines = _rebuilt(plan, of.rows())
        wrong = wrong_reports if case.query.emit is not None else mismatches
        assert not wrong(of.truth, lines), shown(plan)


@pytest.mark.long
@given(
    case=property_cases(aggregates=True),
    seed=st.integers(0, 999),
    partitions=st.integers(2, 4),
    deletes=st.booleans(),
)
@examples(8)
def test_plans_of_random_queries_over_several_partitions(
    case: Case, seed: int, partitions: int, deletes: bool
) -> None:
    note(text(case.query))
    of = deleting(case, seed) if deletes else Deleting(case, frozenset(), ())
    found = optimized(case, replace(THOROUGH, parallelism=partitions), seed, deletions=of.streams)
    for plan in plans_of(found, most=2, seed=seed):
        judge_deleting(of, read_back(plan), (1, 3, 1000)[seed % 3])


@given(case=property_cases(aggregates=True), seed=st.integers(0, 999))
@examples(20)
def test_plans_of_random_queries_are_right_at_every_instant(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case, statistics=seed), most=2, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[seed % 3]))

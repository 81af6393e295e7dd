"""Every plan of queries with a LIMIT, run in this process, gives the oracle's results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import TopRows
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanNode
from tests.executor.spark.chain import Chain
from tests.executor.spreading import spread
from tests.oracles.conditions import Compare, Lit, Prop, Vert
from tests.oracles.judgement import Line
from tests.oracles.query import Atom, Closure, Derived, Not, Query, Rule, Source, Var, text
from tests.oracles.roots import Agg, Emit, First
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.test_deletions import check, deleting
from tests.properties.test_deletions import judge as judge_deleting
from tests.strategies.amount import examples
from tests.strategies.first import limited_cases
from tests.strategies.negation import negated_cases
from tests.strategies.optional import optional_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases
from tests.strategies.stored import stored_cases
from tests.strategies.streams import long_stream
from tests.strategies.vertices import vertex_cases

SEEDS = st.integers(0, 9_999)
X, Y, N = Var("x"), Var("y"), Var("n")
BY_N = First((("n", True),), 2)
BUSY = Rule("Busy", ("x", "n"), (Atom("a", X, Y),), (), (("n", Agg("count")),), first=BY_N)
LARGE = Rule(
    "Large", ("x", "y", "m"), (Atom("a", X, Y, "e"),), (), (("m", Prop("e", "n")),),
    first=First((("m", True), ("y", False)), 3),
)  # fmt: skip
LARGE_LATER = replace(LARGE, first=First((("m", True), ("y", False)), 2, 2))
PAIRS = Rule("c", ("x", "y"), (Atom("a", X, Y),), first=First((), 4))
BOTH = (Derived("Busy", (X, N)), Atom("b", X, Y))
EMITS = Emit("entering", 3)

RULES: dict[str, tuple[tuple[Rule, ...], Emit | None]] = {
    "an answer": ((replace(BUSY, head="Answer"),), None),
    "a reported answer": ((replace(BUSY, head="Answer"),), EMITS),
    "edges by a property": ((replace(LARGE, head="Answer"),), None),
    "a set of vertices": ((BUSY, Rule("Answer", ("x", "y"), BOTH)), None),
    "a reported set": ((BUSY, Rule("Answer", ("x", "y"), BOTH)), Emit("snapshot", 2)),
    "not in the set": (
        (BUSY, Rule("Answer", ("x", "y"), BOTH[1:], negated=(Not((BOTH[0],)),))),
        None,
    ),
    "over negated parts": (
        (replace(BUSY, negated=(Not((Atom("b", X, Y),)),)), Rule("Answer", ("x", "n"), BOTH[:1])),
        None,
    ),
    "a condition on first rows": (
        (BUSY, Rule("Answer", ("x", "n"), BOTH[:1], (Compare(Vert("n"), "<", Lit(3)),))),
        None,
    ),
    "an aggregate of first rows": (
        (LARGE, Rule("Answer", ("y", "s"), (Derived("Large", (X, Y, Var("m"))),), (),
                     (("s", Agg("sum", Vert("m"))),))),
        None,
    ),
    "beside an aggregate of all rows": (
        (BUSY, Rule("All", ("m",), (Atom("b", X, Y),), (), (("m", Agg("count")),)),
         Rule("Answer", ("x", "n", "m"), (BOTH[0], Derived("All", (Var("m"),))))),
        None,
    ),
    "first rows of first rows": (
        (BUSY, Rule("Answer", ("x",), BOTH[:1], first=First((("x", True),), 1))),
        None,
    ),
    "several rules of a head": (
        (PAIRS, Rule("c", ("y", "x"), (Atom("b", X, Y),)),
         Rule("Answer", ("x", "y"), (Atom("c", X, Y),))),
        None,
    ),
    "columns by the names of the rule with the order": (
        (replace(PAIRS, first=None),
         Rule("c", ("y", "x"), (Atom("b", X, Y),), first=First((("y", True),), 2)),
         Rule("Answer", ("x", "y"), (Atom("c", X, Y),))),
        None,
    ),
    "an answer after an offset": (
        (replace(BUSY, head="Answer", first=First((("n", True),), 1, 1)),), None
    ),
    "a report after an offset": (
        (replace(BUSY, head="Answer", first=First((("n", True), ("x", False)), 2, 1)),), EMITS
    ),
    "a set after an offset": (
        (LARGE_LATER, Rule("Answer", ("x", "y", "m"), (Derived("Large", (X, Y, Var("m"))),))),
        None,
    ),
    "a closure over first rows": ((PAIRS, Rule("Answer", ("x", "y"), (Closure("c", X, Y),))), None),
    "keys in order": ((replace(BUSY, head="Answer", first=First((), 2)),), None),
}  # fmt: skip


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
def test_plans_for_several_partitions_are_right(name: str) -> None:
    case, options = _case(name), replace(THOROUGH, parallelism=2 + len(name) % 2)
    truth = Truth(case.query, case.edges)
    found = optimized(case, options)
    plans = plans_of(found, most=3, seed=2)
    assert _of_each_partition(plans[0])
    assert not found.circular
    for plan in plans:
        judge(truth, plan, lines_of(case, read_back(plan), 3))


def _of_each_partition(plan: PhysicalPlan) -> list[PlanNode]:
    """The nodes of a plan that keep the first rows of each partition."""
    return [n for n in plan.nodes if isinstance(n.operator, TopRows) and n.operator.partial]


@given(
    case=limited_cases(property_cases(aggregates=True)), seed=SEEDS, partitions=st.integers(2, 4)
)
@examples(6)
def test_plans_with_exchanges_at_random_places(case: Case, seed: int, partitions: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for number, plan in enumerate(plans_of(optimized(case), most=2, seed=seed)):
        several = read_back(spread(plan, partitions, seed + number))
        judge(truth, several, lines_of(case, several, (1, 3, 1000)[seed % 3]))


@pytest.mark.long
@given(
    case=st.one_of(
        limited_cases(),
        limited_cases(property_cases(aggregates=True)),
        limited_cases(root_cases()),
        limited_cases(negated_cases(property_cases(aggregates=True))),
        limited_cases(optional_cases()),
    ),
    seed=SEEDS,
    partitions=st.integers(2, 4),
)
@examples(8)
def test_random_queries_over_several_partitions(case: Case, seed: int, partitions: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(THOROUGH, parallelism=partitions, budget_expressions=1_000)
    found = optimized(case, options, statistics=seed)
    for plan in plans_of(found, most=3, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[seed % 3]))


@pytest.mark.long
@given(case=st.one_of(limited_cases(), limited_cases(root_cases())), seed=SEEDS)
@examples(5)
def test_random_queries_over_deletions_and_partitions(case: Case, seed: int) -> None:
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=2 + seed % 2)
    found = plans_of(optimized(case, options, deletions=of.streams), most=3, seed=seed)
    check(of, [read_back(plan) for plan in found])


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_partitions_that_are_rebuilt_after_each_batch_continue(name: str) -> None:
    case = _case(name)
    edges = rows_of_edges(case.query, case.edges)
    plan = plans_of(optimized(case, replace(THOROUGH, parallelism=2)), most=1)[0]
    chain = Chain(plan, 5)
    starts = range(0, len(edges), 5)
    for start in starts:
        chain.another_worker(gone=True)
        chain.batch(edges[start : start + 5], end=start == starts[-1])
    judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_a_partition_that_is_rebuilt_after_each_batch_continues(name: str) -> None:
    case = _case(name)
    edges = rows_of_edges(case.query, case.edges)
    for plan in plans_of(optimized(case), most=2, seed=3):
        chain = Chain(plan, 5)
        starts = range(0, len(edges), 5)
        for start in starts:
            chain.another_worker(gone=True)
            chain.batch(edges[start : start + 5], end=start == starts[-1])
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])


@given(case=limited_cases(property_cases(aggregates=True)), seed=SEEDS)
@examples(10)
def test_plans_of_random_queries_are_right_at_every_instant(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case, statistics=seed), most=2, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[seed % 3]))


@pytest.mark.long
@given(
    case=st.one_of(
        limited_cases(),
        limited_cases(root_cases()),
        limited_cases(vertex_cases()),
        limited_cases(stored_cases(cases())),
        limited_cases(negated_cases(property_cases(aggregates=True))),
    ),
    seed=SEEDS,
)
@examples(20)
def test_other_queries(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in plans_of(optimized(case, statistics=seed), most=3, seed=seed):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[seed % 3]))


@pytest.mark.long
@given(case=st.one_of(limited_cases(), limited_cases(root_cases())), seed=SEEDS)
@examples(8)
def test_random_queries_over_deletions(case: Case, seed: int) -> None:
    of = deleting(case, seed)
    found = plans_of(optimized(case, deletions=of.streams), most=3, seed=seed)
    check(of, [read_back(plan) for plan in found])


@pytest.mark.long
@given(
    case=st.one_of(limited_cases(), limited_cases(property_cases(aggregates=True))),
    seed=SEEDS,
    hops=st.integers(0, 2),
)
@examples(6)
def test_restarts_lose_and_repeat_nothing(case: Case, seed: int, hops: int) -> None:
    edges, size = rows_of_edges(case.query, case.edges), 1 + seed % 5
    for plan in plans_of(optimized(case), most=2, seed=seed):
        chain = Chain(plan, seed)
        for number, start in enumerate(range(0, len(edges), size)):
            if number % (hops + 1) == 0:
                chain.another_worker(gone=True)
            chain.batch(edges[start : start + size])
        chain.another_worker(gone=True)
        chain.end()
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])

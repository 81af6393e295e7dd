"""Plans that group the rows of each partition first, with each of the features they go with."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.aggregates import OF_PARTS
from headrace.algebra.physical import AggregateRows
from headrace.algebra.plan import PhysicalPlan
from headrace.optimizer import SearchResult
from tests.executor.spark.chain import Chain
from tests.oracles.conditions import Compare, Lit, Prop, Vert
from tests.oracles.judgement import Line
from tests.oracles.query import Atom, Derived, Not, Query, Rule, Source, Var, text
from tests.oracles.roots import Agg, Column, Emit
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.tally import TRIED
from tests.properties.test_deletions import Deleting, deleting
from tests.properties.test_deletions import judge as judge_deleting
from tests.strategies.amount import examples
from tests.strategies.queries import Case
from tests.strategies.roots import root_cases
from tests.strategies.streams import long_stream

X, Y, Z = Var("x"), Var("y"), Var("z")
EDGES = (Atom("a", X, Y, "e"), Atom("b", Y, Z))
COUNTS = (("n", Agg("count")), ("c", Agg("count", Prop("e", "n"))))
ENDS = (("n", Agg("min", Prop("e", "n"))), ("c", Agg("max", Vert("y"))))
SUMS = (("n", Agg("sum", Prop("e", "n"))), ("c", Agg("avg", Prop("e", "r"))))
SPREADS = (("n", Agg("stddev", Prop("e", "n"))), ("c", Agg("stddev_pop", Prop("e", "r"))))
PAIRS = Rule("Pairs", ("x", "z", "n"), EDGES, (), COUNTS[:1])

RULES: dict[str, tuple[tuple[Rule, ...], Emit | None]] = {
    "counts without keys": ((Rule("Answer", ("n", "c"), EDGES, (), COUNTS),), None),
    "counts by the end of a join": ((Rule("Answer", ("x", "n", "c"), EDGES, (), COUNTS),), None),
    "least and greatest of a scan": (
        (Rule("Answer", ("x", "n", "c"), EDGES[:1], (), ENDS),),
        None,
    ),
    "least and greatest of a join": ((Rule("Answer", ("z", "n", "c"), EDGES, (), ENDS),), None),
    "sums and means of a join": ((Rule("Answer", ("z", "n", "c"), EDGES, (), SUMS),), None),
    "sums and means without keys": ((Rule("Answer", ("n", "c"), EDGES, (), SUMS),), None),
    "deviations of a join": ((Rule("Answer", ("z", "n", "c"), EDGES, (), SPREADS),), None),
    "deviations without keys, reported": (
        (Rule("Answer", ("n", "c"), EDGES, (), SPREADS),),
        Emit("snapshot", 3),
    ),
    "reported": ((Rule("Answer", ("n", "x"), EDGES, (), COUNTS[:1]),), Emit("snapshot", 3)),
    "sums reported": ((Rule("Answer", ("n", "c"), EDGES, (), SUMS),), Emit("exit", 3)),
    "new values reported": ((Rule("Answer", ("n",), EDGES, (), COUNTS[:1]),), Emit("entering", 2)),
    "read by another rule": (
        (
            PAIRS,
            Rule(
                "Answer",
                ("x", "n"),
                (Derived("Pairs", (X, Z, Var("n"))),),
                (Compare(Vert("n"), ">", Lit(1)),),
            ),
        ),
        None,
    ),
    "over negated parts": (
        (Rule("Answer", ("x", "n"), EDGES, (), COUNTS[:1], (Not((Atom("b", X, Y),)),)),),
        None,
    ),
    "of counts": (
        (
            PAIRS,
            Rule(
                "Answer",
                ("m",),
                (Derived("Pairs", (X, Z, Var("n"))),),
                (),
                (("m", Agg("max", Vert("n"))),),
            ),
        ),
        None,
    ),
}


def case_of(name: str, seed: int = 2) -> Case:
    """A query of :data:`RULES` over edges with properties."""
    rules, emit = RULES[name]
    window = Source("s", 6, 2)
    kinds = (("n", "integer"), ("r", "number"))
    query = Query(rules, (("a", window), ("b", window)), kinds, emit=emit)
    edges = long_stream(seed, ("a", "b"), ("0", "1", "2"), 36, 1.2)
    numbers = (0.1, 1e300, -0.1, 5e-324, -1e300, 2.5, 1e16)
    values = [(("n", k % 5), ("r", numbers[k % 7])) for k in range(len(edges))]
    return Case(
        query, tuple([replace(e, properties=v) for e, v in zip(edges, values, strict=True)])
    )


def is_partial(plan: PhysicalPlan) -> bool:
    """Whether an aggregation of a plan is of the rows of each partition."""
    operators = (node.operator for node in plan.nodes)
    return any(isinstance(o, AggregateRows) and o.partial is True for o in operators)


def partial_plans(found: SearchResult, most: int, seed: int) -> list[PhysicalPlan]:
    """Plans with partial aggregates, of a sample of all plans."""
    return list(islice(filter(is_partial, found.plans.sample(60, seed)), most))


@pytest.mark.parametrize("name", RULES)
def test_plans_are_right_at_every_instant(name: str) -> None:
    case = case_of(name)
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes)), text(case.query)
    plans = partial_plans(optimized(case, replace(THOROUGH, parallelism=3)), 4, 1)
    assert plans, text(case.query)
    for number, plan in enumerate(plans):
        judge(truth, plan, lines_of(case, read_back(plan), (1, 3, 1000)[number % 3]))


@pytest.mark.parametrize("name", RULES)
def test_plans_over_deletions_are_right(name: str) -> None:
    of = deleting(case_of(name), 7)
    found = optimized(of.case, replace(THOROUGH, parallelism=2), deletions=of.streams)
    plans = partial_plans(found, 2, 1)
    assert plans, text(of.case.query)
    for plan in plans:
        judge_deleting(of, read_back(plan), 3)


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_partitions_that_are_rebuilt_after_each_batch_continue(name: str) -> None:
    case = case_of(name)
    rows = rows_of_edges(case.query, case.edges)
    for plan in partial_plans(optimized(case, replace(THOROUGH, parallelism=2)), 2, 3):
        chain = Chain(plan, 5)
        for start in range(0, len(rows), 5):
            chain.another_worker(gone=True)
            chain.batch(rows[start : start + 5], end=start + 5 >= len(rows))
        judge(Truth(case.query, case.edges), plan, [Line(*result) for result in chain.results])


OF_SAME_TYPE = {"latest": "max", "percentile_cont": "avg", "percentile_disc": "max"}
"""Functions of which partitions have parts, whose values other rules can read in their place."""


def divisible(case: Case) -> Case:
    """The case with other functions in place of those of which partitions have no parts."""

    def with_parts(of: Column) -> Column:
        if not isinstance(of, Agg) or of.function in OF_PARTS:
            return of
        return Agg(OF_SAME_TYPE.get(of.function, "count"), of.argument)

    rules = (
        replace(rule, properties=tuple([(name, with_parts(of)) for name, of in rule.properties]))
        for rule in case.query.rules
    )
    return replace(case, query=replace(case.query, rules=tuple(rules)))


@pytest.mark.long
@given(
    case=root_cases(aggregates=True).map(divisible),
    seed=st.integers(0, 999),
    partitions=st.integers(2, 4),
    deletes=st.booleans(),
)
@examples(40)
def test_plans_of_random_queries(case: Case, seed: int, partitions: int, deletes: bool) -> None:
    note(text(case.query))
    of = deleting(case, seed) if deletes else Deleting(case, frozenset(), ())
    found = optimized(case, replace(THOROUGH, parallelism=partitions), seed, deletions=of.streams)
    for plan in partial_plans(found, 2, seed):
        TRIED["partial plans judged"] += 1
        judge_deleting(of, read_back(plan), (1, 3, 1000)[seed % 3])

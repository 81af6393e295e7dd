"""Every plan of queries with `not`, run in this process, gives the oracle's results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.executor import local
from headrace.executor.batch import FOREVER
from headrace.executor.local import Result
from tests.executor.spark.chain import Chain
from tests.executor.spark.test_snapshot import often
from tests.executor.spreading import spread
from tests.oracles.conditions import Compare, Vert
from tests.oracles.judgement import (
    End,
    Line,
    mismatches,
    per_slide_mismatches,
    without_ends,
    wrong_reports,
)
from tests.oracles.query import Atom, Not, Optional, PathAtom, Rule, Seq, Step, Var, plus
from tests.oracles.snapshot import ALWAYS, Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import rows_of_edges, shown
from tests.properties.test_deletions import Deleting, appending, check, deleting
from tests.properties.test_per_slide import per_slide, period_of
from tests.properties.test_simple_paths import simple
from tests.strategies.amount import examples
from tests.strategies.negation import negated_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases
from tests.strategies.stored import stored_cases

SEEDS = st.integers(0, 9_999)


@given(case=negated_cases(), seed=SEEDS)
@examples(5)
def test_plans_of_queries_with_not(case: Case, seed: int) -> None:
    found = plans_of(optimized(case), most=6, seed=seed)
    check(appending(case), [read_back(plan) for plan in found])


@given(case=negated_cases(), seed=SEEDS)
@examples(4)
def test_plans_over_deletions(case: Case, seed: int) -> None:
    of = deleting(case, seed)
    found = plans_of(optimized(case, deletions=of.streams), most=6, seed=seed)
    check(of, [read_back(plan) for plan in found])


@pytest.mark.long
@given(case=negated_cases(), seed=SEEDS, partitions=st.integers(2, 4))
@examples(8)
def test_partitioned_plans(case: Case, seed: int, partitions: int) -> None:
    of = deleting(case, seed) if seed % 2 else appending(case)
    found = optimized(case, replace(THOROUGH, parallelism=partitions), deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=4, seed=seed)])


@pytest.mark.long
@given(case=negated_cases(root_cases()), seed=SEEDS, partitions=st.integers(1, 2))
@examples(10)
def test_aggregates_and_reports(case: Case, seed: int, partitions: int) -> None:
    of = deleting(case, seed) if seed % 2 else appending(case)
    found = optimized(case, replace(THOROUGH, parallelism=partitions), deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=4, seed=seed)])


@pytest.mark.long
@given(
    case=st.one_of(negated_cases(property_cases()), negated_cases(property_cases(aggregates=True))),
    seed=SEEDS,
)
@examples(8)
def test_queries_over_properties(case: Case, seed: int) -> None:
    of = deleting(case, seed) if seed % 2 else appending(case)
    found = optimized(case, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=6, seed=seed)])


def _lines(results: Sequence[Result]) -> list[Line]:
    """The intervals of results, with the ends that lines of `-` set."""
    return without_ends(
        End(r.bindings, r.ts)
        if r.exp < 0
        else Line(r.bindings, r.ts, ALWAYS if r.exp == FOREVER else r.exp)
        for r in results
    )


@pytest.mark.long
@given(case=negated_cases(stored_cases(cases())), seed=SEEDS)
@examples(6)
def test_plans_over_stored_graphs(case: Case, seed: int) -> None:
    truth, edges = Truth(case.query, case.edges), rows_of_edges(case.query, case.edges)
    for plan in plans_of(optimized(case), most=4, seed=seed):
        wrong = mismatches(truth, _lines(list(local.run_plan(plan, edges, 1 + seed % 5))))
        assert not wrong, f"{wrong[:5]}\n{shown(plan)}"


@pytest.mark.long
@given(case=negated_cases(), seed=SEEDS, partitions=st.sampled_from([1, 1, 3]))
@examples(5)
def test_plans_are_right_at_each_slide(case: Case, seed: int, partitions: int) -> None:
    truth, edges = Truth(case.query, case.edges), rows_of_edges(case.query, case.edges)
    options, period = replace(per_slide(case), parallelism=partitions), period_of(case.query)
    for plan in plans_of(optimized(case, options), most=4, seed=seed):
        for rows in (1, 3, 1000):
            lines = _lines(list(local.run_plan(read_back(plan), edges, rows)))
            wrong = per_slide_mismatches(truth, lines, period)
            assert not wrong, f"{wrong[:5]}\n{shown(plan)}\n{edges}"
            assert all(end % period == 0 for line in lines for end in (line.ts, line.exp))


@pytest.mark.long
@given(case=negated_cases(), seed=SEEDS, partitions=st.integers(2, 4))
@examples(6)
def test_plans_in_any_legal_distribution(case: Case, seed: int, partitions: int) -> None:
    truth, edges = Truth(case.query, case.edges), rows_of_edges(case.query, case.edges)
    for plan in plans_of(optimized(case), most=4, seed=seed):
        several = spread(plan, partitions, seed)
        wrong = mismatches(truth, _lines(list(local.run_plan(several, edges, 1 + seed % 5))))
        assert not wrong, f"{wrong[:5]}\n{shown(several)}"


def _restarted(of: Deleting, plan: PhysicalPlan, seed: int, hops: int) -> list[Line]:
    """The results of a chain of stages whose workers lose their state now and then."""
    chain, rows, size = Chain(plan, seed), of.rows(), 1 + seed % 5
    chain.another_worker(gone=True)
    for number, start in enumerate(range(0, len(rows), size)):
        if number % (hops + 1) == 0:
            chain.another_worker(gone=True)
        chain.batch(rows[start : start + size])
    chain.another_worker(gone=True)
    chain.end()
    return _lines(chain.results)


@pytest.mark.long
@given(
    case=st.one_of(negated_cases(), negated_cases(root_cases())),
    seed=SEEDS,
    partitions=st.integers(1, 2),
    hops=st.integers(0, 2),
    snapshots=st.booleans(),
)
@examples(6)
def test_restarts_lose_and_repeat_nothing(
    case: Case, seed: int, partitions: int, hops: int, snapshots: bool
) -> None:
    """From the log alone, and from snapshots."""
    of = deleting(case, seed) if seed % 2 else appending(case)
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, deletions=of.streams), most=2, seed=seed):
        if snapshots:
            with often():
                lines = _restarted(of, plan, seed, hops)
        else:
            lines = _restarted(of, plan, seed, hops)
        emits = case.query.emit is not None
        wrong: Sequence[object] = wrong_reports(of.truth, lines) if emits else ()
        wrong = wrong or ([] if emits else mismatches(of.truth, lines))
        assert not wrong, f"{wrong[:5]}\n{shown(plan)}\n{of.rows()}\n{lines}"


AB_PATH = PathAtom(plus(Seq((Step("a"), Step("b")))), Var("x"), Var("y"))
ABOVE: dict[str, Rule] = {
    "not": Rule("Answer", ("x", "y"), (AB_PATH,), negated=(Not((Atom("a", Var("y"), Var("x")),)),)),
    "optional": Rule(
        "Answer",
        ("x", "y", "z"),
        (AB_PATH,),
        optional=(Optional((Atom("a", Var("y"), Var("z")),)),),
    ),
}


@pytest.mark.parametrize("name", ABOVE)
@pytest.mark.parametrize("partitions", [1, pytest.param(2, marks=pytest.mark.long)])
def test_plans_of_simple_paths_below_parts_that_retract(name: str, partitions: int) -> None:
    options = replace(THOROUGH, parallelism=partitions)

    @given(case=cases(st.just((ABOVE[name],))).map(simple), seed=SEEDS)
    @examples(3)
    def judged(case: Case, seed: int) -> None:
        found = plans_of(optimized(case, options), most=4, seed=seed)
        check(appending(case), [read_back(plan) for plan in found])

    judged()


NEVER = ((Atom("a", Var("y"), Var("z")),), (Compare(Vert("z"), "<>", Vert("z")),))
"""Atoms and a condition that no row satisfies."""
WITHOUT_ROWS: dict[str, Rule] = {
    "not": Rule("Answer", ("x", "y"), (Atom("a", Var("x"), Var("y")),), negated=(Not(*NEVER),)),
    "optional": Rule(
        "Answer", ("x", "y"), (Atom("a", Var("x"), Var("y")),), optional=(Optional(*NEVER),)
    ),
}


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_a_part_without_rows_changes_no_answer(name: str) -> None:
    """Such a query was empty as a whole."""

    @given(case=cases(st.just((WITHOUT_ROWS[name],))), seed=SEEDS)
    @examples(5)
    def judged(case: Case, seed: int) -> None:
        found = plans_of(optimized(case), most=2, seed=seed)
        check(appending(case), [read_back(plan) for plan in found])

    judged()

"""Plans with bound paths give the oracle's results, whatever runs them.

The queries have closures whose ends are bound by constants, conditions and joins.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.logical import BoundPath, Path
from headrace.algebra.physical import AutomatonPath, HashJoin, ProjectColumns
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.regex import has_closure
from headrace.optimizer import Options, SearchResult
from tests.executor.spark.chain import Chain
from tests.oracles.conditions import Vert
from tests.oracles.judgement import Line
from tests.oracles.query import Atom, BodyAtom, PathAtom, Rule, Var, text
from tests.oracles.snapshot import Truth
from tests.properties import test_deletions as with_deletions
from tests.properties import test_per_slide as slides
from tests.properties.plans import THOROUGH, optimized, read_back
from tests.properties.running import judge, lines_of, rows_of_edges
from tests.properties.test_plans import check_plans
from tests.properties.test_simple_paths import simple
from tests.strategies.amount import examples
from tests.strategies.bound import bound_cases
from tests.strategies.queries import Case
from tests.strategies.stored import stored_cases

SEEDS = st.integers(0, 9_999)
ROWS = st.sampled_from([1, 3, 1000])
OPTIONS = replace(THOROUGH, budget_expressions=600)


def is_bound(plan: PhysicalPlan) -> bool:
    """Whether a path of the plan is bound by a condition or by a relation of sources."""
    return any(
        isinstance(node.operator, AutomatonPath)
        and (node.operator.sources is not None or any(_repeats(plan, i) for i in node.inputs))
        for node in plan.nodes
    )


def _repeats(plan: PhysicalPlan, node: int) -> bool:
    """Whether a node has one column twice, below COALESCE and EXCHANGE."""
    while plan.nodes[node].op in {"COALESCE", "EXCHANGE"}:
        (node,) = plan.nodes[node].inputs
    operator = plan.nodes[node].operator
    return isinstance(operator, ProjectColumns) and len(set(operator.columns)) == 1


def has_product(plan: PhysicalPlan) -> bool:
    """Whether a join of the plan has no variable in common."""
    joins = [node.operator for node in plan.nodes if isinstance(node.operator, HashJoin)]
    return any(set(left).isdisjoint(right) for left, right in (join.bindings for join in joins))


def bound_plans(found: SearchResult, most: int, seed: int) -> list[PhysicalPlan]:
    """The chosen plan and some of the space, those with bound pairs and other bound paths first:
    of bound pairs those of a product."""
    drawn = {plan.digest: plan for plan in (found.plan, *found.plans.sample(4 * most, seed))}
    of_pairs = [p for p in drawn.values() if any(n.op == "PAIR_PATH" for n in p.nodes)]
    of_pairs.sort(key=has_product, reverse=True)
    chosen = of_pairs[: (most + 1) // 2]
    others = sorted((p for p in drawn.values() if p not in chosen), key=lambda p: not is_bound(p))
    return [*chosen, *others][:most]


@given(case=bound_cases(), seed=SEEDS)
@examples(24)
def test_plans_have_the_rows_of_the_query_on_every_snapshot(case: Case, seed: int) -> None:
    note(text(case.query))
    check_plans(case, [read_back(p) for p in bound_plans(optimized(case, OPTIONS, seed), 20, seed)])


@given(case=st.one_of(bound_cases(), stored_cases(bound_cases())), seed=SEEDS, rows=ROWS)
@examples(24)
def test_plans_run_in_this_process(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in bound_plans(optimized(case, OPTIONS, seed), 6, seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=bound_cases(), seed=SEEDS, rows=ROWS, partitions=st.integers(2, 4))
@examples(16)
def test_plans_of_several_partitions(case: Case, seed: int, rows: int, partitions: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(OPTIONS, parallelism=partitions)
    for plan in bound_plans(optimized(case, options, seed), 6, seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=bound_cases(), seed=SEEDS, partitions=st.sampled_from([1, 1, 3]))
@examples(16)
def test_plans_retract_what_deletions_end(case: Case, seed: int, partitions: int) -> None:
    of = with_deletions.deleting(case, seed)
    options = replace(OPTIONS, parallelism=partitions)
    found = optimized(case, options, deletions=of.streams)
    with_deletions.check(of, [read_back(plan) for plan in bound_plans(found, 5, seed)])


@given(case=bound_cases().map(simple), seed=SEEDS, rows=ROWS, partitions=st.sampled_from([1, 1, 3]))
@examples(12)
def test_plans_of_simple_paths(case: Case, seed: int, rows: int, partitions: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    options = replace(OPTIONS, parallelism=partitions)
    for plan in bound_plans(optimized(case, options, seed), 6, seed):
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@given(case=bound_cases(), seed=SEEDS, rows=ROWS)
@examples(12)
def test_plans_evaluated_per_slide(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    options: Options = slides.per_slide(case, OPTIONS)
    for plan in bound_plans(optimized(case, options, seed), 6, seed):
        slides.judge(case, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@given(case=bound_cases(), seed=SEEDS, partitions=st.integers(1, 3), hops=st.integers(0, 3))
@examples(8)
def test_plans_whose_state_is_rebuilt(case: Case, seed: int, partitions: int, hops: int) -> None:
    """As on Spark, where other workers go on from the stored state now and then."""
    note(text(case.query))
    truth, edges = Truth(case.query, case.edges), rows_of_edges(case.query, case.edges)
    options = replace(OPTIONS, parallelism=partitions)
    for plan in bound_plans(optimized(case, options, seed), 2, seed):
        chain, size = Chain(plan, seed), 1 + seed % 7
        starts = range(0, max(len(edges), 1), size)
        for number, start in enumerate(starts):
            if hops and number % hops == 0:
                chain.another_worker(gone=True)
            chain.batch(edges[start : start + size], end=start == starts[-1])
        judge(truth, plan, [Line(*result) for result in chain.results])


@given(case=bound_cases(), seed=SEEDS)
@examples(12)
def test_most_searches_find_bound_paths(case: Case, seed: int) -> None:
    """The queries of these tests have plans with bound paths, unless every end is free."""
    note(text(case.query))
    found = optimized(case, OPTIONS, seed)
    (rule,) = case.query.rules
    joined = len(rule.body) > 1 or rule.conditions
    if joined and found.stop_reason == "complete":
        operators = [e.operator for g in found.memo.groups for e in g.expressions]
        # A closure of which one end is not read is its first step.
        closures = any(isinstance(of, Path) and has_closure(of.regex) for of in operators)
        assert closures or not any(both_ends_are_read(rule, atom) for atom in rule.body)
        assert any(isinstance(of, BoundPath) for of in operators) == closures
    if edges_bind_both_ends(rule) and found.stop_reason == "complete":
        assert any(
            isinstance(e.operator, BoundPath) and e.operator.pairs
            for g in found.memo.groups
            for e in g.expressions
        )


def both_ends_are_read(rule: Rule, atom: BodyAtom) -> bool:
    """Whether both ends of a path are in the head, a condition, another atom, or a constant."""
    if not isinstance(atom, PathAtom):
        return False
    compared = [side for c in rule.conditions for side in (c.left, c.right)]
    read = {*rule.variables, *(side.name for side in compared if isinstance(side, Vert))}
    uses = Counter(term.name for a in rule.body for term in a.terms if isinstance(term, Var))
    ends = [term.name for term in atom.terms if isinstance(term, Var)]
    return all(name in read or uses[name] > 1 for name in ends)


def edges_bind_both_ends(rule: Rule) -> bool:
    """Whether the other atoms of a rule without conditions are an edge on both ends of the path, or
    an edge on each end."""
    path = next(atom for atom in rule.body if isinstance(atom, PathAtom))
    edges = [{*atom.terms} for atom in rule.body if atom is not path and isinstance(atom, Atom)]
    if rule.conditions or len(edges) != len(rule.body) - 1:
        return False
    ends = {*path.terms}
    match edges:
        case [edge]:
            return ends <= edge
        case [one, other]:
            return len(ends & one) == len(ends & other) == 1 and one.isdisjoint(other)
        case _:
            return False

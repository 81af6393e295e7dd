"""Every plan over streams with deletions, run in this process, gives the oracle's results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import Coalesce, HashJoin, SemiJoin, SPath
from headrace.algebra.plan import PhysicalPlan
from headrace.executor import local
from tests.oracles.judgement import (
    End,
    Line,
    broken_promises,
    mismatches,
    without_ends,
    wrong_reports,
)
from tests.oracles.query import Atom, Rule, Var, text
from tests.oracles.snapshot import Edge, Truth
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import rows_of_edges, shown
from tests.strategies.amount import examples
from tests.strategies.existence import existence_cases
from tests.strategies.named import NAMED
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases
from tests.strategies.roots import root_cases

SEEDS = st.integers(0, 9_999)


@dataclass(frozen=True)
class Deleting:
    """A case, some of whose streams have deletions, and these."""

    case: Case
    streams: frozenset[str]
    deletions: tuple[Edge, ...]

    @property
    def truth(self) -> Truth:
        """The results of the oracle."""
        return Truth(self.case.query, self.case.edges, self.deletions)

    def rows(self) -> list[local.Edge]:
        """Edges and deletions in time order; of one instant edges come first."""
        query = self.case.query
        stream = {label: source.stream for label, source in query.sources}
        edges = zip(self.case.edges, rows_of_edges(query, self.case.edges), strict=True)
        rows = [(edge.ts, 0, row) for edge, row in edges]
        rows += [
            (d.ts, 1, (d.src, d.trg, d.label, d.ts, stream[d.label], {"op": "-"}))
            for d in self.deletions
        ]
        return [row for *_, row in sorted(rows, key=lambda row: row[:2])]


def deleting(case: Case, seed: int) -> Deleting:
    """Deletes, in a part of the streams, about a third of the edges before they expire.

    Sometimes deletes an edge that does not exist.
    """
    random = Random(seed)
    source = case.query.source
    streams = sorted({source.stream for source in source.values()})
    chosen = frozenset(s for s in streams if random.random() < 0.7) or frozenset(streams[:1])
    deletions = []
    for edge in case.edges:
        read = source.get(edge.label)
        if read is not None and read.stream in chosen and random.random() < 0.4:
            later = edge.ts + random.choice([0, 0, 1, 2, 3, read.range])
            target = edge.src if random.random() < 0.1 else edge.trg
            deletions.append(Edge(later, edge.src, target, edge.label))
    return Deleting(case, chosen, tuple(sorted(deletions)))


def appending(case: Case) -> Deleting:
    """The case over streams without deletions."""
    return Deleting(case, frozenset(), ())


def said(rows: Sequence[local.Edge], plan: PhysicalPlan, batch_rows: int) -> list[Line | End]:
    """The result lines of a plan."""
    return [
        Line(r.bindings, r.ts, r.exp) if r.exp >= 0 else End(r.bindings, r.ts)
        for r in local.run_plan(plan, rows, batch_rows)
    ]


def judge(of: Deleting, plan: PhysicalPlan, batch_rows: int) -> None:
    """The lines of a plan are right at every instant, and each line changes the result."""
    found = said(of.rows(), plan, batch_rows)
    lines = [line for line in found if isinstance(line, Line)]
    if of.case.query.emit is not None:
        assert len(lines) == len(found)
        wrong = list(map(str, wrong_reports(of.truth, lines)))
    else:
        wrong = [str(w) for w in mismatches(of.truth, without_ends(found))]
        if len(lines) == len(found):
            wrong += broken_promises(lines)
    rows = "\n".join(f"  {row}" for row in of.rows())
    what = "\n".join(f"  {line}" for line in found[:60])
    assert not wrong, f"{wrong[:5]}\n{shown(plan)}\n{rows}\n{what}"


def check(of: Deleting, plans: Sequence[PhysicalPlan]) -> None:
    note(text(of.case.query))
    for plan in plans:
        for batch_rows in (1, 3, 1000):
            judge(of, plan, batch_rows)


@given(case=cases(), seed=SEEDS)
@examples(30)
def test_plans_of_random_queries_retract_what_deletions_end(case: Case, seed: int) -> None:
    of = deleting(case, seed)
    found = optimized(case, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=6, seed=seed)])


EXISTENCE = (
    Rule(
        "Answer",
        ("x", "y"),
        (
            Atom("a", Var("x"), Var("y")),
            Atom("b", Var("y"), Var("z")),
            Atom("c", Var("w"), Var("x")),
        ),
    ),
)


@given(case=cases(st.just(EXISTENCE)), seed=SEEDS, partitions=st.integers(1, 3))
@examples(8)
def test_semi_joins_retract_what_deletions_end(case: Case, seed: int, partitions: int) -> None:
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=partitions)
    found = optimized(case, options, deletions=of.streams)
    plans = [plan for plan in found.plans.sample(60, seed) if _has_deleting_semi_join(plan)][:4]
    assert plans, "each plan has two joins, and either may be a semi-join"
    check(of, [read_back(plan) for plan in plans])


def _has_deleting_semi_join(plan: PhysicalPlan) -> bool:
    return any(
        isinstance(node.operator, SemiJoin) and node.operator.update_pattern == "with_deletions"
        for node in plan.nodes
    )


@pytest.mark.long
@given(case=existence_cases(), seed=SEEDS, partitions=st.integers(1, 3))
@examples(15)
def test_plans_over_existence_retract_what_deletions_end(
    case: Case, seed: int, partitions: int
) -> None:
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=partitions)
    found = optimized(case, options, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=6, seed=seed)])


@pytest.mark.long
@given(case=property_cases(), seed=SEEDS)
@examples(20)
def test_plans_over_properties_retract_what_deletions_end(case: Case, seed: int) -> None:
    of = deleting(case, seed)
    found = optimized(case, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=6, seed=seed)])


@pytest.mark.parametrize("name", NAMED)
def test_plans_of_named_queries_retract_what_deletions_end(name: str) -> None:
    @given(case=cases(st.just(NAMED[name])), seed=SEEDS)
    @examples(2)
    def holds(case: Case, seed: int) -> None:
        of = deleting(case, seed)
        check(of, plans_of(optimized(case, deletions=of.streams), most=6, seed=seed))

    holds()


@pytest.mark.long
@given(case=cases(), seed=SEEDS, partitions=st.integers(2, 4))
@examples(20)
def test_partitioned_plans_retract_what_deletions_end(
    case: Case, seed: int, partitions: int
) -> None:
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=partitions)
    found = optimized(case, options, deletions=of.streams)
    check(of, [read_back(plan) for plan in plans_of(found, most=6, seed=seed)])


@pytest.mark.long
@given(case=root_cases(), seed=SEEDS, partitions=st.integers(1, 2))
@examples(30)
def test_final_results_are_never_retracted(case: Case, seed: int, partitions: int) -> None:
    """Aggregates and reports over deletions."""
    of = deleting(case, seed)
    found = optimized(case, replace(THOROUGH, parallelism=partitions), deletions=of.streams)
    plans = [read_back(plan) for plan in plans_of(found, most=4, seed=seed)]
    check(of, plans)
    final = case.query.emit is not None or any(rule.aggregates for rule in case.query.rules)
    for plan in plans if final else ():
        assert plan.nodes[plan.root].properties.update_pattern == "append_only"


@given(case=cases(), seed=SEEDS)
@examples(20)
def test_no_operator_of_the_direct_approach_reads_deletions(case: Case, seed: int) -> None:
    """And none for deletions runs where there are none."""
    of = deleting(case, seed)
    for plan in plans_of(optimized(case, deletions=of.streams), most=6, seed=seed):
        for node in plan.nodes:
            if isinstance(node.operator, HashJoin | SemiJoin | SPath | Coalesce):
                below = {plan.nodes[i].properties.update_pattern for i in node.inputs}
                assert (node.operator.update_pattern is not None) is ("with_deletions" in below)
                assert "marked" not in below

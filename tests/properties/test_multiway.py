"""Plans with multiway joins give the oracle's results, whatever their orders of variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin, MultiwayJoin, PhysicalOperator, SemiJoin
from headrace.algebra.plan import PhysicalPlan
from headrace.costmodel import Characteristics, CostModel
from headrace.costmodel.model import Inputs
from headrace.optimizer import Options, SearchResult
from tests.executor.spreading import spread
from tests.executor.test_multiway import with_orders
from tests.oracles.query import Atom, Query, Rule, Source, Var, text
from tests.oracles.snapshot import Truth
from tests.properties import test_deletions
from tests.properties.plans import THOROUGH, optimized, read_back
from tests.properties.running import judge, lines_of
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.cyclic import cyclic_cases, forest_cases
from tests.strategies.queries import Case, input_labels
from tests.strategies.streams import long_stream

SEEDS = st.integers(0, 9_999)
CASES = st.one_of(cyclic_cases(), forest_cases())
ROWS = st.sampled_from([1, 3, 1000])
SAMPLED = 40


AS_WRITTEN = frozenset({"PatternCommute", "PatternAssociate", "PatternAssociateInverse"})
"""Rules without which the plan space is so small that many of its plans have multiway joins."""


def searched(seed: int, **options: Any) -> Options:
    """The options of a search; in most cases without the rules that reorder binary joins."""
    disabled = AS_WRITTEN if seed % 4 else frozenset[str]()
    return replace(THOROUGH, disabled_rules=disabled, **options)


def is_multiway(plan: PhysicalPlan) -> bool:
    return any(isinstance(node.operator, MultiwayJoin) for node in plan.nodes)


def reordered(plan: PhysicalPlan, seed: int) -> PhysicalPlan:
    """The plan with other orders of variables in its multiway joins."""
    nodes = [
        node.model_copy(update={"operator": with_orders(node.operator, seed)})
        if isinstance(node.operator, MultiwayJoin)
        else node
        for node in plan.nodes
    ]
    return plan.model_copy(update={"nodes": tuple(nodes)})


def multiway_plans(found: SearchResult, seed: int, most: int = 4) -> list[PhysicalPlan]:
    """Some plans with multiway joins, of a uniform sample; half of them with other orders."""
    plans = [plan for plan in found.plans.sample(SAMPLED, seed) if is_multiway(plan)]
    chosen = plans[:most]
    return [reordered(plan, seed) if k % 2 else plan for k, plan in enumerate(chosen)]


@given(case=CASES, seed=SEEDS)
@examples(40)
def test_multiway_plans_mean_the_query(case: Case, seed: int) -> None:
    note(text(case.query))
    check_plans(case, list(map(read_back, multiway_plans(optimized(case, searched(seed)), seed))))


@given(case=CASES, seed=SEEDS, rows=ROWS)
@examples(40)
def test_multiway_plans_run(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in multiway_plans(optimized(case, searched(seed)), seed):
        judge(truth, plan, lines_of(case, plan, rows))


@given(case=CASES, seed=SEEDS)
@examples(30)
def test_multiway_plans_retract_what_deletions_end(case: Case, seed: int) -> None:
    of = test_deletions.deleting(case, seed)
    plans = multiway_plans(optimized(case, searched(seed), deletions=of.streams), seed)
    test_deletions.check(of, list(map(read_back, plans)))


@given(case=CASES, seed=SEEDS, partitions=st.integers(2, 4), rows=ROWS)
@examples(16)
def test_multiway_plans_run_over_several_partitions(
    case: Case, seed: int, partitions: int, rows: int
) -> None:
    """Plans of the optimizer for several partitions, and plans for one with exchanges added."""
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    made = multiway_plans(optimized(case, searched(seed, parallelism=partitions)), seed)
    plans = multiway_plans(optimized(case, searched(seed)), seed, most=2)
    made += [spread(plan, partitions, seed) for plan in plans]
    for plan in made:
        judge(truth, plan, lines_of(case, read_back(plan), rows))


@pytest.mark.long
@given(case=CASES, seed=SEEDS, partitions=st.integers(2, 3))
@examples(12)
def test_partitioned_multiway_plans_retract_what_deletions_end(
    case: Case, seed: int, partitions: int
) -> None:
    of = test_deletions.deleting(case, seed)
    options = searched(seed, parallelism=partitions)
    plans = multiway_plans(optimized(case, options, deletions=of.streams), seed)
    test_deletions.check(of, plans)


@dataclass(frozen=True)
class CellsAlone(CostModel):
    """A model by which a multiway join in the cells of a hypercube is the cheapest join."""

    def cost(self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs) -> float:
        in_cells = isinstance(operator, MultiwayJoin) and bool(operator.shares)
        is_join = isinstance(operator, HashJoin | MultiwayJoin | SemiJoin)
        return CostModel.cost(self, operator, output, inputs) + 1e15 * (is_join and not in_cells)


def in_cells(case: Case, seed: int, partitions: int, **more: Any) -> list[PhysicalPlan]:
    """The chosen plan, if it has a join in cells."""
    options = replace(searched(seed, parallelism=partitions), prune=True)
    plan = optimized(case, options, cost_model=CellsAlone(), **more).plan
    operators = [node.operator for node in plan.nodes]
    return [plan] * any(isinstance(o, MultiwayJoin) and bool(o.shares) for o in operators)


@pytest.mark.long
@given(case=cyclic_cases(), seed=SEEDS, partitions=st.integers(4, 9), rows=ROWS)
@examples(40)
def test_joins_in_the_cells_of_a_hypercube_run(
    case: Case, seed: int, partitions: int, rows: int
) -> None:
    note(text(case.query))
    truth = Truth(case.query, case.edges)
    for plan in in_cells(case, seed, partitions):
        judge(truth, plan, lines_of(case, read_back(reordered(plan, seed)), rows))


@pytest.mark.long
@given(case=cyclic_cases(), seed=SEEDS, partitions=st.integers(4, 9))
@examples(25)
def test_joins_in_the_cells_of_a_hypercube_retract_what_deletions_end(
    case: Case, seed: int, partitions: int
) -> None:
    of = test_deletions.deleting(case, seed)
    plans = in_cells(case, seed, partitions, deletions=of.streams)
    test_deletions.check(of, list(map(read_back, plans)))


def test_a_clique_of_fifteen_atoms_joined_at_once() -> None:
    """More atoms than rules join at once."""
    pairs = combinations(range(6), 2)
    clique = [Atom("ab"[(i + j) % 2], Var(f"x{i}"), Var(f"x{j}")) for i, j in pairs]
    rules = (Rule("Answer", ("x0", "x5"), tuple(clique)),)
    labels = input_labels(rules)
    query = Query(rules, tuple((label, Source("s", 6, 1)) for label in labels))
    case = Case(query, long_stream(3, labels, ("0", "1"), 24, 2.0))
    found = optimized(case, Options(disabled_rules=AS_WRITTEN | {"PatternToConcat"}, check=True))
    ranked = islice(found.plans.ranked(), 50)
    plans = [p for p in ranked if any(_atoms(node.operator) == 15 for node in p.nodes)][:2]
    assert plans
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes))
    for plan in map(read_back, plans):
        judge(truth, reordered(plan, 5), lines_of(case, plan, 3))


def _atoms(operator: object) -> int:
    return len(operator.bindings) if isinstance(operator, MultiwayJoin) else 0

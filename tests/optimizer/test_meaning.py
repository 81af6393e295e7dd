"""No step of the search changes the answer: random queries on random snapshots."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from headrace.algebra.logical import (
    LogicalExpression,
    LogicalOperator,
    LogicalQuery,
    WScan,
    WScanUnion,
)
from headrace.algebra.window import Window
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.memo import Memo
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.rules.registry import transformation_rules
from tests.optimizer.shapes import QS, SetCosts, optimize
from tests.oracles.query import text
from tests.oracles.snapshot import Row, Snapshot, Truth
from tests.properties.algebra import rows_of, rows_of_plan
from tests.properties.catalogs import catalog_of
from tests.strategies.amount import examples
from tests.strategies.negation import negated_cases
from tests.strategies.properties import property_cases
from tests.strategies.queries import Case, cases

BUDGET = 1500


def translated(case: Case, seed: int = 0) -> tuple[LogicalQuery, CostModel]:
    catalog = catalog_of(case.query, case.integers, seed)
    return translate(parse(text(case.query)), catalog), CostModel(catalog=catalog)


def snapshots(case: Case, most: int = 3) -> list[tuple[Snapshot, set[Row]]]:
    """Some instants with valid edges, with the query's answer at each."""
    truth = Truth(case.query, case.edges)
    filled = [t for t in truth.changes if any(truth.snapshot(t).values())]
    chosen = filled[:: max(1, len(filled) // most)][:most]
    return [(truth.snapshot(t), set(truth.at(t))) for t in chosen]


def relations(memo: Memo, snapshot: Snapshot) -> dict[int, set[Row]]:
    """The rows of every group; all members of a group have to agree."""
    known: dict[int, set[Row]] = {}
    waiting = {group.id for group in memo.groups}
    while waiting:
        ready = {
            g
            for g in waiting
            if any(known.keys() >= set(e.inputs) for e in memo.group(g).expressions)
        }
        assert ready, "groups that only a circle computes"
        for g in ready:
            first = next(e for e in memo.group(g).expressions if known.keys() >= set(e.inputs))
            known[g] = evaluated(first.operator, [known[i] for i in first.inputs], snapshot)
        waiting -= ready
    for e in memo.expressions:
        rows = evaluated(e.operator, [known[i] for i in e.inputs], snapshot)
        assert rows == known[e.group], f"{e} by {e.rule} from {e.source}"
    return known


def evaluated(operator: object, inputs: list[set[Row]], snapshot: Snapshot) -> set[Row]:
    """The rows of an operator over relations, each of which replaces the scan of a label."""
    assert isinstance(operator, LogicalOperator)
    if isinstance(operator, WScan | WScanUnion):
        return rows_of(LogicalExpression(operator), snapshot)
    leaves = tuple(
        LogicalExpression(WScan("relations", f"{k}", Window(1))) for k in range(len(inputs))
    )
    stand_in: dict[str, Any] = {f"{k}": frozenset(r) for k, r in enumerate(inputs)}
    return rows_of(LogicalExpression(operator, leaves), stand_in)


def optimized(case: Case, seed: int = 0, model: object = None, **options: object) -> SearchResult:
    query, costs = translated(case, seed)
    chosen = Options(**{"check": True, "budget_expressions": BUDGET, **options})  # type: ignore[arg-type]
    return Optimizer(model or costs, chosen).optimize(query)  # type: ignore[arg-type]


@examples(80)
@given(case=cases())
def test_all_members_of_a_group_are_equivalent(case: Case) -> None:
    outcome = optimized(case, prune=False)
    for snapshot, answer in snapshots(case):
        assert relations(outcome.memo, snapshot)[outcome.root] == answer


@examples(80)
@given(case=property_cases())
def test_all_members_are_equivalent_over_properties(case: Case) -> None:
    outcome = optimized(case, prune=False)
    for snapshot, answer in snapshots(case, most=2):
        assert relations(outcome.memo, snapshot)[outcome.root] == answer


@examples(60)
@given(case=property_cases(), seed=st.integers(1, 10**6))
def test_plans_over_properties_give_the_answer(case: Case, seed: int) -> None:
    outcome = optimized(case, seed)
    plans = [outcome.plan, outcome.canonical_plan, *outcome.plans.sample(3, seed)]
    for snapshot, answer in snapshots(case, most=2):
        for plan in plans:
            assert rows_of_plan(plan, snapshot) == answer, plan.to_json()


@examples(40)
@given(case=cases())
def test_plans_of_the_plain_search_give_the_answer(case: Case) -> None:
    outcome = optimized(case, prune=False, duplicate_free=False)
    for snapshot, answer in snapshots(case, most=1):
        assert relations(outcome.memo, snapshot)[outcome.root] == answer


@examples(80)
@given(case=cases(), seed=st.integers(1, 10**6))
def test_chosen_canonical_and_sampled_plans_give_the_answer(case: Case, seed: int) -> None:
    outcome = optimized(case, seed)
    plans = [outcome.plan, outcome.canonical_plan, *outcome.plans.sample(5, seed)]
    for snapshot, answer in snapshots(case):
        for plan in plans:
            assert rows_of_plan(plan, snapshot) == answer, plan.to_json()


@examples(20)
@given(case=negated_cases(), seed=st.integers(1, 10**6))
def test_members_and_plans_of_queries_with_not_are_equivalent(case: Case, seed: int) -> None:
    outcome = optimized(case, seed, prune=False)
    plans = [outcome.plan, outcome.canonical_plan, *outcome.plans.sample(3, seed)]
    for snapshot, answer in snapshots(case, most=2):
        assert relations(outcome.memo, snapshot)[outcome.root] == answer
        for plan in plans:
            assert rows_of_plan(plan, snapshot) == answer, plan.to_json()


NAMES = sorted(rule.name for rule in transformation_rules())


@examples(80)
@given(case=cases(), seed=st.integers(1, 10**6), disabled=st.frozensets(st.sampled_from(NAMES)))
def test_rules_switched_off_and_random_costs_change_no_answer(
    case: Case, seed: int, disabled: frozenset[str]
) -> None:
    outcome = optimized(case, model=SetCosts(seed), disabled_rules=disabled)
    for snapshot, answer in snapshots(case, most=2):
        assert rows_of_plan(outcome.plan, snapshot) == answer


@examples(60)
@given(case=cases(), budget=st.integers(1, 60))
def test_a_cut_search_still_gives_a_whole_plan(case: Case, budget: int) -> None:
    outcome = optimized(case, budget_expressions=budget)
    assert outcome.stop_reason in {"complete", "no_gain", "budget_expressions"}
    for snapshot, answer in snapshots(case, most=2):
        assert rows_of_plan(outcome.plan, snapshot) == answer


@examples(60)
@given(case=cases(), seed=st.integers(1, 10**6))
def test_pruning_finds_the_same_plan(case: Case, seed: int) -> None:
    # Which forests are joined at once is a heuristic (tests/optimizer/test_intermediates.py).
    without = frozenset({"ForestToMultiway"})
    pruned, whole = (optimized(case, seed, prune=p, disabled_rules=without) for p in (True, False))
    assert pruned.cost == whole.cost
    if pruned.stop_reason == "complete":
        cheapest = next(pruned.plans.ranked())
        assert cheapest.nodes[-1].estimate.cumulative_cost == pruned.cost


def leaves(expression: LogicalExpression) -> list[LogicalExpression]:
    """The scans of an expression, with repeats."""
    if isinstance(expression.operator, WScan):
        return [expression]
    return [leaf for part in expression.inputs for leaf in leaves(part)]


@examples(60)
@given(case=cases(), seed=st.integers(1, 10**6))
def test_leaving_out_repeated_work_loses_no_plan(case: Case, seed: int) -> None:
    scans = leaves(translated(case)[0].expression)
    # Where a relation occurs twice, the plain search may keep a path and its inverse apart.
    assume(len(set(scans)) == len(scans))
    quick, plain = (
        optimized(
            case, model=SetCosts(seed), duplicate_free=d, prune=False, budget_expressions=3000
        )
        for d in (True, False)
    )
    if quick.stop_reason == plain.stop_reason == "complete":
        assert quick.cost == plain.cost
        assert quick.plans.count == plain.plans.count


def test_the_cost_models_of_tests_differ() -> None:
    """Random costs test something only if they lead to different plans."""
    random = Random(3)
    digests = {optimize(QS, SetCosts(random.randrange(10**6))).plan.digest for _ in range(20)}
    assert len(digests) > 5

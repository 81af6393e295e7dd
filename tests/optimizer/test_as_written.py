"""The margin keeps the plan as written if the model cannot tell it from the cheapest plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.logical import LogicalExpression
from headrace.algebra.physical import Coalesce
from headrace.memo import Winner
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.as_written import error_of_difference
from headrace.optimizer.steps import in_order
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    SetCosts,
    chain,
    optimize,
    pattern,
    query,
    star,
)
from tests.oracles.query import text
from tests.properties.plans import optimized
from tests.properties.test_plans import check_plans
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

ALWAYS = 1e99
"""A margin within which every plan as written lies."""
SHAPES = {**TABLE_4_2, "concat plus": CONCAT_PLUS, "star": QS}


@pytest.mark.parametrize("name", SHAPES)
def test_the_plan_as_written_is_the_canonical_plan(name: str) -> None:
    outcome = optimize(SHAPES[name], margin=ALWAYS)
    assert outcome.plan == outcome.canonical_plan
    assert outcome.cost == pytest.approx(outcome.canonical_cost, rel=1e-12)


def differing(seed: int) -> tuple[SearchResult, float]:
    """A search whose cheapest plan differs from the plan as written, and the relative difference of
    the operators that only one of them has."""
    cheapest = optimize(pattern(star(4)), SetCosts(seed))
    written = optimize(pattern(star(4)), SetCosts(seed), margin=ALWAYS)
    whole = error_of_difference(cheapest.best, written.best, 1.0)
    return cheapest, (written.cost - cheapest.cost) / whole


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_margin_decides_between_the_plan_as_written_and_the_cheapest(seed: int) -> None:
    cheapest, difference = differing(seed)
    assert difference > 0
    below = optimize(pattern(star(4)), SetCosts(seed), margin=difference * 0.99)
    assert below.kept_as_written is None
    assert below.plan == cheapest.plan
    above = optimize(pattern(star(4)), SetCosts(seed), margin=difference * 1.01)
    assert above.kept_as_written is not None
    assert above.kept_as_written.cheapest == cheapest.cost < above.cost
    assert above.cost - cheapest.cost <= above.kept_as_written.error
    assert above.plan == above.canonical_plan


def test_operators_in_both_plans_do_not_widen_the_margin() -> None:
    """However much a common operator costs, the gain of the others counts."""
    cheapest, _ = differing(1)
    written = optimize(pattern(star(4)), SetCosts(1), margin=ALWAYS)
    shared = {(step.group, step.local) for step, _ in in_order(written.best)}
    own = sum(s.local for s, _ in in_order(cheapest.best) if (s.group, s.local) not in shared)
    assert own < cheapest.cost
    assert error_of_difference(cheapest.best, written.best, 1.0) == pytest.approx(own)


def test_equal_costs_keep_the_plan_as_written_without_a_reason() -> None:
    outcome = optimize(pattern(chain(2)), SetCosts(None), margin=0.05)
    assert outcome.kept_as_written is None
    assert outcome.plan == outcome.canonical_plan


def test_without_a_margin_the_cheapest_plan_is_chosen() -> None:
    outcome = optimize(QS, SetCosts(1))
    assert outcome.kept_as_written is None
    assert outcome.winners is None
    assert outcome.cost == min(
        plan.nodes[plan.root].estimate.cumulative_cost for plan in outcome.plans.ranked()
    )


def test_a_reordered_pattern_has_no_plan_as_written() -> None:
    """A large pattern enters the memo in a greedy order, which nobody wrote."""
    outcome = optimize(pattern(star(5)), SetCosts(1), margin=ALWAYS, budget_expressions=60)
    assert outcome.kept_as_written is None


@pytest.mark.parametrize("parallelism", [2, 4])
def test_over_several_partitions_the_joins_as_written_have_their_cheapest_places(
    parallelism: int,
) -> None:
    outcome = optimize(QS, margin=ALWAYS, parallelism=parallelism)
    alone = optimize(QS, margin=ALWAYS)
    joins = [n.operator for n in outcome.plan.nodes if n.op == "HASH_JOIN"]
    assert joins == [n.operator for n in alone.plan.nodes if n.op == "HASH_JOIN"]
    assert any(n.op == "EXCHANGE" for n in outcome.plan.nodes)
    cheapest = optimize(QS, parallelism=parallelism)
    assert cheapest.cost <= outcome.cost < outcome.canonical_cost


def test_rows_are_coalesced_at_the_root_alone() -> None:
    written = optimize(QS, margin=ALWAYS)
    coalescing = [s for s, _ in in_order(written.best) if isinstance(s.operator, Coalesce)]
    assert coalescing == [written.best]


def explains(outcome: SearchResult) -> None:
    """The reasons follow the plan, not the cheapest alternatives."""
    found = outcome.reasons()
    steps = in_order(outcome.best)
    assert set(found) == set(range(len(steps)))
    for node, (step, _) in enumerate(steps):
        winner: Winner = found[node].winner
        assert (found[node].group, found[node].choice.operator) == (step.group, step.operator)
        assert (winner.cost, winner.local) == (step.cost, step.local)
        assert all(e.rule == "" for e in found[node].lineage)


@pytest.mark.parametrize("name", SHAPES)
def test_reasons_explain_the_plan_as_written(name: str) -> None:
    explains(optimize(SHAPES[name], margin=ALWAYS))


@given(case=cases(), seed=st.integers(0, 999), parallelism=st.sampled_from([1, 1, 3]))
@examples(40)
def test_plans_as_written_mean_the_same_and_keep_the_memo_whole(
    case: Case, seed: int, parallelism: int
) -> None:
    note(text(case.query))
    options = Options(check=True, margin=ALWAYS, parallelism=parallelism, budget_expressions=400)
    found = optimized(case, options, seed)
    check_plans(case, [found.plan])
    cheapest = optimized(case, replace(options, margin=0.0), seed)
    assert cheapest.cost <= found.cost * (1 + 1e-12)
    if found.required is not None:
        assert set(found.reasons()) == set(range(len(found.plan.nodes)))


def test_a_search_that_is_cut_has_no_margin() -> None:
    expression: LogicalExpression = pattern(star(8))
    outcome = Optimizer(SetCosts(1), Options(margin=ALWAYS, budget_ms=0.0)).optimize(
        query(expression)
    )
    assert outcome.stop_reason == "budget_ms"
    assert outcome.kept_as_written is None

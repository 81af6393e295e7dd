"""Reasons: the origin of an operator, and the alternatives that it won against."""

from __future__ import annotations

from math import inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.logical import LogicalExpression
from headrace.algebra.physical import Coalesce, HashJoin, SPath, ToKernel, WindowScan
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.steps import in_order
from headrace.optimizer.why import Reason
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    TERNARY_PLUS,
    SetCosts,
    query,
    thesis_model,
)
from tests.optimizer.test_meaning import translated
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

SHAPES = {**TABLE_4_2, "concat plus": CONCAT_PLUS, "ternary plus": TERNARY_PLUS, "star": QS}


def why(outcome: SearchResult) -> dict[int, Reason]:
    assert outcome.required is not None
    return outcome.reasons()


def explained(expression: LogicalExpression, **options: object) -> dict[int, Reason]:
    chosen = Options(**options)  # type: ignore[arg-type]
    return why(Optimizer(thesis_model(), chosen).optimize(query(expression)))


def holds(outcome: SearchResult) -> None:
    """Checks the invariants of the reasons of any plan."""
    found = why(outcome)
    steps = in_order(outcome.best)
    assert set(found) == set(range(len(steps)))
    for node, (step, _) in enumerate(steps):
        reason = found[node]
        assert (reason.group, reason.choice.operator) == (step.group, step.operator)
        assert (reason.winner.cost, reason.winner.local) == (step.cost, step.local)
        enforced = reason.choice.source < 0
        assert enforced == (not reason.lineage)
        if not enforced:
            assert reason.lineage[-1].id == step.source
            assert reason.lineage[0].rule == ""
            assert all(e.rule for e in reason.lineage[1:])
        other = reason.runner_up
        assert reason.alternatives >= 1 + reason.mirrored + (other is not None)
        if other is not None and outcome.stop_reason == "complete":
            slack = 1e-9 * other.cost
            assert other.cost >= reason.winner.cost - slack
            assert other.difference == pytest.approx(other.cost - reason.winner.cost, abs=slack)
            assert reason.winner.cost - slack <= other.at_least <= other.cost + slack
            if other.exact:
                assert other.at_least == pytest.approx(other.cost)


@pytest.mark.parametrize("shape", SHAPES)
def test_reasons_of_shapes(shape: str) -> None:
    holds(Optimizer(thesis_model()).optimize(query(SHAPES[shape])))


@examples(60)
@given(case=cases(), prune=st.booleans(), budget=st.sampled_from([20, 200]))
def test_reasons_of_any_plan(case: Case, prune: bool, budget: int) -> None:
    logical, model = translated(case)
    options = Options(prune=prune, budget_expressions=budget)
    holds(Optimizer(model, options).optimize(logical))


@examples(40)
@given(shape=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 10**6))
def test_the_runner_up_is_the_cheapest_other_alternative(shape: str, seed: int) -> None:
    outcome = Optimizer(SetCosts(seed), Options(prune=False)).optimize(query(SHAPES[shape]))
    found = why(outcome)
    groups = {group.id: group for group in outcome.space.groups()}
    for reason in found.values():
        other = reason.runner_up
        if other is None:
            assert reason.alternatives == 1 + reason.mirrored
            continue
        assert other.exact
        (goal,) = (g for g in groups[reason.group].goals if g.required == reason.required)
        costs = sorted(
            sum([groups[g].winners[asked][0].cost for g, asked in a.inputs], a.choice.local)
            for a in goal.alternatives
            if a.choice.source >= 0 or reason.choice.source < 0  # no enforcer on itself
        )
        assert costs[0] == reason.winner.cost
        if not other.enforcers:
            # Only alternatives with the same inputs in another order lie between the two.
            assert costs.index(other.cost) in (reason.mirrored, 1 + reason.mirrored)


def test_pruning_hides_no_runner_up() -> None:
    for shape, expression in SHAPES.items():
        whole = explained(expression, prune=False)
        pruned = explained(expression)
        assert set(whole) == set(pruned)
        for node, reason in pruned.items():
            known, other = whole[node].runner_up, reason.runner_up
            if known is not None and other is not None:
                assert other.at_least <= known.cost * (1 + 1e-9), shape
                assert not other.exact or other.cost == pytest.approx(known.cost), shape


def test_an_alternative_too_large_to_price_has_a_lower_bound() -> None:
    left = 0
    for shape in SHAPES.values():
        outcome = Optimizer(thesis_model()).optimize(query(shape))
        assert outcome.required is not None
        priced = outcome.reasons()
        bounded = outcome.space.reasons(outcome.best, outcome.required, most=0)
        for node, reason in bounded.items():
            one, other = reason.runner_up, priced[node].runner_up
            if one is not None and isinf(one.cost):
                assert other is not None
                assert reason.winner.cost <= one.at_least * (1 + 1e-9)
                assert one.at_least <= other.cost < inf
                assert not one.exact
                left += 1
    assert left


def test_the_reasons_of_a_path_over_a_join() -> None:
    found = explained(CONCAT_PLUS)
    by_operator = {type(reason.choice.operator): reason for reason in found.values()}
    assert set(by_operator) <= {WindowScan, ToKernel, HashJoin, SPath, Coalesce}
    scan = by_operator[WindowScan]
    assert (scan.alternatives, scan.runner_up, len(scan.lineage)) == (1, None, 1)
    rules = {e.rule for reason in found.values() for e in reason.lineage}
    assert {"", "StarDecompose"} <= rules


def test_an_enforcer_on_the_chosen_operator_is_no_alternative() -> None:
    """COALESCE over an S_PATH that delivers coalesced rows already."""
    (path,) = [
        r for r in explained(TABLE_4_2["Q1"]).values() if isinstance(r.choice.operator, SPath)
    ]
    assert path.required.coalesced
    assert path.runner_up is None

"""A cancelled search returns at once, with its best complete plan so far."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import pytest

from bench.queries import catalog, cost_model
from headrace.algebra.logical import LogicalExpression
from headrace.costmodel import CostModel
from headrace.optimizer import Optimizer, Options, SearchCancelledError, SearchResult
from headrace.optimizer.greedy import may_be_cut
from headrace.optimizer.listing import ListingProgress, PlanListing
from tests.optimizer.shapes import (
    CLIQUE_4,
    CONCAT_PLUS,
    QS,
    Edges,
    chain,
    optimize,
    pattern,
    query,
    star,
    thesis_model,
)
from tests.optimizer.shapes import catalog as shape_catalog

CLIQUE_6: Edges = tuple((i, j) for i in range(6) for j in range(i))


@dataclass
class After:
    """Cancels after a number of calls."""

    limit: int
    asked: int = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.limit


def cancelled(expression: LogicalExpression, by: After) -> SearchResult:
    chosen = Options(check=True)
    return Optimizer(thesis_model(), chosen).optimize(query(expression), cancelled=by)


NEVER = 10**9


@pytest.mark.parametrize("expression", [QS, CONCAT_PLUS, pattern(star(6), (1, 6))])
def test_a_cancelled_search_has_a_plan_at_any_time(expression: LogicalExpression) -> None:
    never = After(NEVER)
    whole = cancelled(expression, never)
    assert whole.stop_reason == "complete"
    assert whole.plan == optimize(expression).plan
    for limit in range(0, never.asked, max(1, never.asked // 40)):
        by = After(limit)
        outcome = cancelled(expression, by)
        # The number of calls depends slightly on the time.
        assert outcome.stop_reason == ("cancelled" if by.asked > limit else "complete")
        assert whole.cost <= outcome.cost <= outcome.canonical_cost
        assert outcome.plan.nodes[outcome.plan.root].estimate.cumulative_cost == outcome.cost
        assert outcome.memo.expression_count <= whole.memo.expression_count


@pytest.mark.parametrize("shared_costs", [False, True])
@pytest.mark.parametrize("edges", [CLIQUE_6, CLIQUE_4, star(8), chain(9)])
def test_a_cancelled_search_costs_at_most_the_query_as_written(
    edges: Edges, shared_costs: bool
) -> None:
    """Joins of one label share indexes, which the start plan of the cheapest tree disregards."""
    expression = query(pattern(edges, labels="a" * len(edges)))
    options = Options(check=True, shared_costs=shared_costs)
    for limit in (0, 60, 150, 400):
        outcome = Optimizer(CostModel("saturating", shape_catalog()), options).optimize(
            expression, cancelled=After(limit)
        )
        written = outcome.canonical_shared_cost if shared_costs else outcome.canonical_cost
        cost = outcome.shared_cost if shared_costs else outcome.cost
        assert cost <= written * (1 + 1e-9)
        if outcome.best.group is None:
            assert outcome.plan == outcome.canonical_plan
            assert not outcome.reasons()
            assert not outcome.requirements()


def test_a_search_polls_cancelled_at_every_binding() -> None:
    never = After(NEVER)
    outcome = cancelled(pattern(chain(8), (0, 8)), never)
    assert never.asked >= sum(rule.bindings for rule in outcome.rules.values())


@pytest.mark.parametrize("limit", [0, 1, 50, 500, 1000])
def test_a_cancelled_search_ends_soon(limit: int) -> None:
    by = After(limit)
    outcome = cancelled(pattern(star(6)), by)
    assert outcome.stop_reason == "cancelled"
    assert sum(rule.bindings for rule in outcome.rules.values()) <= limit
    assert by.asked <= limit + 3


def test_cancelled_greedy_ordering_returns_the_best_order_so_far() -> None:
    model = cost_model("saturating", catalog())
    at_once, soon, late = (
        Optimizer(model).optimize(query(pattern(star(12))), cancelled=After(limit))
        for limit in (0, 150, 500)
    )
    assert may_be_cut(12, Options())
    assert at_once.stop_reason == soon.stop_reason == late.stop_reason == "cancelled"
    assert at_once.memo.expression_count == soon.memo.expression_count == 12 + 11
    assert late.cost <= soon.cost < at_once.cost == at_once.canonical_cost


def test_listing_plans_can_be_cancelled() -> None:
    by = After(NEVER)
    outcome = cancelled(pattern(star(5)), by)
    ranked = outcome.plans.ranked()
    first = next(ranked)
    assert first.nodes[first.root].estimate.cumulative_cost == outcome.cost
    by.limit = by.asked
    with pytest.raises(SearchCancelledError):
        list(ranked)
    with pytest.raises(SearchCancelledError):
        outcome.plans.sample(3, seed=1)


def whole_list(expression: LogicalExpression) -> PlanListing:
    return optimize(expression).plans.listed(50)


@pytest.mark.parametrize("expression", [QS, CONCAT_PLUS, pattern(star(4))])
def test_a_cut_listing_has_the_plans_so_far(expression: LogicalExpression) -> None:
    whole = whole_list(expression)
    assert whole.stop_reason == "complete"
    lengths = set()
    never = After(NEVER)
    optimize(expression).plans.listed(50, cancelled=never)
    for limit in range(0, never.asked, max(1, never.asked // 15)):
        cut = optimize(expression).plans.listed(50, cancelled=After(limit))
        assert cut.stop_reason == "cancelled"
        assert cut.plans == whole.plans[: len(cut.plans)]
        assert cut.total is None
        costs = [plan.nodes[plan.root].estimate.cumulative_cost for plan in cut.plans]
        assert cut.cost_bound == (pytest.approx(costs[-1]) if costs else None)
        lengths.add(len(cut.plans))
    assert {0, len(whole.plans)} < lengths


def test_a_listing_agrees_with_the_ranking_and_the_counts() -> None:
    plans = optimize(pattern(star(5))).plans
    listed = optimize(pattern(star(5))).plans.listed(30)
    assert list(listed.plans) == list(islice(plans.different.ranked(), 30))
    assert (listed.total, listed.different) == (plans.count, plans.different.count)
    drawn = optimize(pattern(star(5))).plans.listed(6, seed=3)
    assert list(drawn.plans) == plans.different.sample(6, seed=3)
    assert (drawn.cost_bound, drawn.stop_reason) == (None, "complete")


def test_a_listing_reports_its_progress() -> None:
    reports: list[ListingProgress] = []
    listed = optimize(pattern(star(6))).plans.listed(5, progress=reports.append)
    assert [*dict.fromkeys(report.doing for report in reports)] == [
        "exploring", "pricing", "ranking", "counting",
    ]  # fmt: skip
    assert (reports[-1].plans, reports[-1].cost_bound) == (5, listed.cost_bound)
    assert [r.seconds for r in reports] == sorted(r.seconds for r in reports)


def test_a_listing_without_time_is_cut() -> None:
    listed = optimize(pattern(star(6))).plans.listed(5, milliseconds=0)
    assert (listed.plans, listed.stop_reason) == ((), "budget_ms")

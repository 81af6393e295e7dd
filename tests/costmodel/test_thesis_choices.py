"""The plans that the thesis chose, chosen again (thesis 6.5.3, Table 6.2)."""

from dataclasses import replace

import pytest

from headrace.algebra.logical import LogicalExpression
from headrace.costmodel import Assumptions, Constants, CostModel
from headrace.costmodel.model import Kind
from tests.costmodel.plans import catalog, costed, path_plans, star_plans

UNIT = Constants(push=1, evaluate=1, hash_update=1, hash_probe=1, queue_update=1, queue_probe=1)
MEASURED_ORDER = ["Q2p", "Q3p", "Q5p", "Q6p", "Q4p", "Q7p", "Q1p"]


def thesis(constants: Constants = UNIT, cap: bool = False) -> CostModel:
    return CostModel("thesis", catalog(), constants, Assumptions(cap_distinct=cap))


def ranked(model: CostModel) -> list[str]:
    plans = path_plans()
    return sorted(plans, key=lambda name: costed(model, plans[name]).total)


def test_fourteen_plans_of_the_path_query() -> None:
    plans = path_plans()
    assert len(plans) == 14
    assert len(set(plans.values())) == 14


def test_the_path_plans_come_in_the_measured_order() -> None:
    order = ranked(thesis())
    assert order[0] == "Q2p"
    assert [name for name in order if name in MEASURED_ORDER] == MEASURED_ORDER


def test_two_path_plans_differ_by_a_billionth() -> None:
    plans, model = path_plans(), thesis()
    second, third = costed(model, plans["Q2p"]).total, costed(model, plans["Q3p"]).total
    assert 0 < third / second - 1 < 1e-8


def test_all_star_plans_are_enumerated() -> None:
    plans = star_plans()
    assert len(plans) == 120
    assert len({_unordered(plan.expression) for plan in plans}) == 15


def test_q3s_is_the_cheapest_star_plan() -> None:
    model = thesis()
    costs = {plan.name: costed(model, plan.expression).total for plan in star_plans()}
    best = min(costs.values())
    winners = {name for name, cost in costs.items() if cost == best}
    assert len(winners) == 8
    assert "((c (b a)) d)" in winners
    named = [costs[n] for n in ("((c (b a)) d)", "(a (c (b d)))", "(b (c (a d)))", "((b (c a)) d)")]
    assert named[0] == min(named)
    assert min(named[1:]) > named[0]


@pytest.mark.parametrize("kind", ["thesis", "saturating"])
@pytest.mark.parametrize("cap", [False, True])
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
@pytest.mark.parametrize("name", ["push", "hash_update", "hash_probe", "queue_update"])
def test_the_choice_holds_over_three_decades_of_constants(
    kind: Kind, cap: bool, scale: float, name: str
) -> None:
    constants = replace(UNIT, **{name: scale})
    model = CostModel(kind, catalog(), constants, Assumptions(cap_distinct=cap))
    assert kind == "saturating" or ranked(model)[0] == "Q2p"
    assert cheapest_star(model) == star("((c (b a)) d)")


def test_shipped_constants_choose_the_same() -> None:
    assert ranked(thesis(Constants(), cap=True))[0] == "Q2p"


def test_a_path_that_pays_by_node_prefers_a_join() -> None:
    """The plan of the thesis that our kernel runs fastest, see docs/benchmarks.md."""
    model = CostModel("saturating", catalog(), Constants(), Assumptions(cap_distinct=False))
    named = [plan for plan in ranked(model) if plan.startswith("Q")]
    assert named == ["Q2p", "Q4p", "Q1p", "Q6p", "Q3p", "Q5p", "Q7p"]


def test_fewer_vertices_make_other_plans_win() -> None:
    assumptions = Assumptions(cap_distinct=False, vertices=1e6)
    model = CostModel("thesis", catalog(1e5), UNIT, assumptions)
    assert ranked(model)[0] == "Q1p"
    assert cheapest_star(model) == star("((a d) (b c))")


def cheapest_star(model: CostModel) -> object:
    best = min(star_plans(), key=lambda plan: costed(model, plan.expression).total)
    return _unordered(best.expression)


def star(name: str) -> object:
    return _unordered(next(plan for plan in star_plans() if plan.name == name).expression)


def _unordered(expression: LogicalExpression) -> object:
    """A join tree modulo commutation: its leaves, and the sets of leaves that are joined."""
    if not expression.inputs:
        return expression.operator
    return frozenset(map(_unordered, expression.inputs))

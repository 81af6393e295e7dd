"""The plans of the thesis and the paper are in the memo, and the best ones are chosen."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import LogicalExpression
from headrace.optimizer import SearchResult
from tests.optimizer.plan_shapes import Shape, along, join, plan_shape, shapes
from tests.optimizer.shapes import CONCAT_PLUS, QS, TERNARY_PLUS, optimize

AB, BC = join("a", "b"), join("b", "c")
PATH_AB, PATH_BC = along("0·1", "a", "b"), along("0·1", "b", "c")

QP: dict[str, Shape] = {
    "Q1p": along("(0·1·2)+", "a", "b", "c"),
    "Q2p": along("0+", join(AB, "c")),
    "Q3p": along("0+", join("a", BC)),
    "Q4p": along("(0·1)+", AB, "c"),
    "Q5p": along("(0·1)+", "a", BC),
    "Q6p": along("0+", join(PATH_AB, "c")),
    "Q7p": along("0+", join("a", PATH_BC)),
}

QS_PLANS: dict[str, Shape] = {
    "Q1s": join("a", join("c", join("b", "d"))),
    "Q2s": join("a", join("b", join("c", "d"))),
    "Q3s": join(join("c", join("b", "a")), "d"),
    "Q4s": join(join("b", join("c", "a")), "d"),
}

FROM_THE_PAPER: dict[str, Shape] = {
    "P1": QP["Q1p"],
    "P2": QP["Q5p"],
    "P3": QP["Q4p"],
}


def all_plans_of_qp() -> set[Shape]:
    """(a·b·c)+ as one automaton, over one intermediate, or over the whole inner path."""
    of_ab, of_bc = (AB, PATH_AB), (BC, PATH_BC)
    inner: set[Shape] = {along("0·1·2", "a", "b", "c")}
    inner |= {join("a", bc) for bc in of_bc} | {along("0·1", "a", bc) for bc in of_bc}
    inner |= {join(ab, "c") for ab in of_ab} | {along("0·1", ab, "c") for ab in of_ab}
    plans = {along("0+", whole) for whole in inner} | {QP["Q1p"]}
    plans |= {along("(0·1)+", "a", bc) for bc in of_bc}
    return plans | {along("(0·1)+", ab, "c") for ab in of_ab}


@pytest.fixture(scope="module", params=["automaton", "pattern"])
def qp(request: pytest.FixtureRequest) -> SearchResult:
    start = {"automaton": CONCAT_PLUS, "pattern": TERNARY_PLUS}
    return optimize(start[request.param])


@pytest.mark.parametrize("name", QP)
def test_qp_has_its_seven_plans(qp: SearchResult, name: str) -> None:
    assert QP[name] in shapes(qp)


def test_qp_has_fourteen_plans_and_no_other(qp: SearchResult) -> None:
    assert len(all_plans_of_qp()) == 14
    assert shapes(qp) == all_plans_of_qp()


@pytest.mark.parametrize("name", FROM_THE_PAPER)
def test_the_search_finds_the_papers_plans_from_its_canonical_plan(name: str) -> None:
    assert FROM_THE_PAPER[name] in shapes(optimize(TERNARY_PLUS))


def test_the_papers_baseline_is_the_canonical_plan() -> None:
    canonical = plan_shape(optimize(TERNARY_PLUS).canonical_plan)
    assert canonical == along("0+", join(join("a", "b"), "c"))


def test_qs_has_all_fifteen_trees() -> None:
    trees = {plan for plan in shapes(optimize(QS)) if "path" not in str(plan)}
    assert len(trees) == 15
    assert set(QS_PLANS.values()) <= trees


@pytest.mark.parametrize(
    ("expression", "best"), [(QS, QS_PLANS["Q3s"]), (CONCAT_PLUS, QP["Q2p"])], ids=["Qs", "Qp"]
)
def test_the_thesis_model_picks_what_the_thesis_picks(
    expression: LogicalExpression, best: Shape
) -> None:
    outcome = optimize(expression)
    assert plan_shape(outcome.plan) == best


def test_qp_costs_in_the_order_of_spec_4() -> None:
    names = {shape: int(name[1]) for name, shape in QP.items()}
    ranked = [plan_shape(plan) for plan in optimize(CONCAT_PLUS).plans.ranked()]
    order = list(dict.fromkeys(names[shape] for shape in ranked if shape in names))
    assert order == [2, 3, 5, 6, 4, 7, 1]

"""Semi-joins in plans: where they are chosen, where they may not be, and what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.algebra.physical import SemiJoin
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import Characteristics, CostModel
from headrace.costmodel.joins import extensions, keys_of
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult

WINDOW = "\nWINDOW 1000s SLIDE 1s\n"
STAR = "Answer(x, y) <- a(x, y), b(x, u), c(x, v)." + WINDOW
JOIN = SemiJoin(((0, 1), (1, 2)), (0, 1))


def searched(text: str, *, deletions: bool = False, **options: object) -> SearchResult:
    statistics = LabelStatistics(1.0, 200, 200, 200)
    labels = dict.fromkeys("abc", statistics)
    catalog = Catalog({"input": Stream("input", labels, deletions=deletions)})
    query = translate(parse(text), catalog)
    chosen: Options = replace(Options(check=True), **options)  # type: ignore[arg-type]  # names of fields
    model = CostModel("saturating", catalog)
    return Optimizer(model, chosen).optimize(
        query, (PlanStream(name="input", labels=tuple(labels)),)
    )


def names(plan: PhysicalPlan) -> list[str]:
    return sorted(node.op for node in plan.nodes if node.op not in ("WSCAN", "TO_KERNEL"))


def test_arms_that_the_answer_leaves_out_are_semi_joins() -> None:
    found = searched(STAR)
    assert set(names(found.plan)) <= {"SEMI_JOIN", "COALESCE"}
    assert found.plan.nodes[found.plan.root].op == "SEMI_JOIN"
    assert found.plan.nodes[found.plan.root].estimate.population <= 1000, "rows of a"


def test_a_join_that_keeps_variables_of_both_inputs_is_no_semi_join() -> None:
    found = searched("Answer(x, y, z) <- a(x, y), b(y, z)." + WINDOW)
    assert not any("SEMI_JOIN" in names(plan) for plan in found.plans.ranked())


def test_over_deletions_semi_joins_are_variants_below_coalesce() -> None:
    found = searched(STAR, deletions=True)
    joins = [n.operator for n in found.plan.nodes if isinstance(n.operator, SemiJoin)]
    assert {join.update_pattern for join in joins} == {"with_deletions"}
    assert found.plan.nodes[found.plan.root].op == "COALESCE"


def test_over_deletions_more_rows_of_a_key_cost_visits() -> None:
    """The rows of the first input stay in the chain of their key, since a key may end again."""
    model, variant = CostModel(), JOIN.over_deletions()
    result, right = rows(1, 50, 50, 50), rows(5, 100, 50, 50)
    apart, together = rows(1, 100, 50, 100), rows(1, 100, 50, 10)
    assert model.cost(JOIN, result, (apart, right)) == model.cost(JOIN, result, (together, right))
    seldom, often = (model.cost(variant, result, (left, right)) for left in (apart, together))
    assert often > seldom > model.cost(JOIN, result, (apart, right))


@pytest.mark.parametrize("parallelism", [2, 8])
def test_equal_rows_of_the_first_input_meet(parallelism: int) -> None:
    plans = searched(STAR, parallelism=parallelism).plans.sample(300, seed=1)
    semi_joins = 0
    for plan in plans:
        for node in plan.nodes:
            if isinstance(node.operator, SemiJoin):
                left, _ = (plan.nodes[i].properties.distribution for i in node.inputs)
                assert left != "any"
                semi_joins += 1
    assert semi_joins > 0


def test_a_closure_of_which_only_the_start_is_read_is_its_first_step() -> None:
    found = searched("Answer(x, y) <- a(x, y), y b+ z." + WINDOW)
    assert names(found.plan) == ["SEMI_JOIN"]
    whole = searched("Answer(x, y, z) <- a(x, y), y b+ z." + WINDOW)
    assert "S_PATH" in names(whole.plan)


def rows(rate: float, validity: float, *distinct: float) -> Characteristics:
    return Characteristics(rate, validity, rate * validity, distinct)


def test_a_row_is_emitted_at_most_twice_if_its_key_lasts_as_long() -> None:
    results = replace(rows(50.0, 10.0, 5.0), repeats=4.0)
    assert extensions(results, rows(3.0, 10.0, 9, 9), rows(7.0, 10.0, 9, 9)) == 6.0
    assert extensions(results, rows(3.0, 10.0, 9, 9), rows(7.0, 5.0, 9, 9)) == 106.0
    assert extensions(results, rows(300.0, 10.0, 9, 9), rows(7.0, 10.0, 9, 9)) == 200.0
    stored = Characteristics(0.0, float("inf"), 40.0, (9.0, 9.0))
    assert extensions(results, stored, rows(7.0, 10.0, 9, 9)) == 200.0
    assert extensions(results, rows(3.0, 10.0, 9, 9), stored) == 6.0


def test_keys_are_the_different_values_among_the_valid_rows() -> None:
    assert keys_of(JOIN, rows(1.0, 1000.0, 10, 500)) == pytest.approx(10)
    assert keys_of(JOIN, rows(1.0, 10.0, 1e9, 500)) == pytest.approx(10)


def test_more_rows_of_the_second_input_with_a_key_cost_look_ups_alone() -> None:
    model = CostModel()
    left, few, many = rows(1, 100, 50, 50), rows(5, 100, 50, 50), rows(13, 100, 50, 50)
    result = rows(1, 50, 50, 50)
    step = model.cost(JOIN, result, (left, many)) - model.cost(JOIN, result, (left, few))
    assert step == pytest.approx(8 * 6 * model.constants.hash_probe, rel=1e-3)

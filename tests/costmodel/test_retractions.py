"""The price of retractions: their share of a relation's rows, and what they cost above."""

from __future__ import annotations

import pytest

from headrace.algebra.aggregates import AggregateCall
from headrace.algebra.logical import Aggregate, AntiJoin, Filter, Pattern, Report, Union
from headrace.algebra.physical import FilterRows
from headrace.algebra.predicate import Predicate
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics

ROWS = Characteristics(10.0, 5.0, 50.0, (20.0, 20.0))
COUNTS = Aggregate((0,), (AggregateCall("count"),), (0, 1), retracts=True)
MODEL = CostModel()


def _share(operator: object, *inputs: Characteristics, model: CostModel = MODEL) -> float:
    return model.characteristics(operator, inputs).retracted  # type: ignore[arg-type]


def test_every_row_of_an_aggregate_below_the_top_is_retracted() -> None:
    counts = MODEL.characteristics(COUNTS, (ROWS,))
    assert counts.retracted == 1
    assert _share(Union(), counts, ROWS) == pytest.approx(2 / 3)  # 20 of 30 rows per time unit
    assert _share(Pattern(((0, 1), (0, 2)), (0, 1, 2)), counts, ROWS) == 1
    assert _share(COUNTS, counts) == 1


def test_final_rows_are_not_retracted() -> None:
    counts = MODEL.characteristics(COUNTS, (ROWS,))
    assert _share(Aggregate((0,), (), (0,)), counts) == 0
    assert _share(Report("snapshot", 5), counts) == 0


def test_an_anti_join_retracts_the_rows_of_keys_that_begin() -> None:
    share = _share(AntiJoin.on(2, (0,)), ROWS, Characteristics(0.1, 5.0, 0.5, (20.0,)))
    assert 0 < share < 0.1
    assert _share(AntiJoin.on(2, (0,)), ROWS, Characteristics(0.0, 5.0, 0.0, (20.0,))) == 0


def test_an_operator_pays_for_each_retraction_as_for_a_row() -> None:
    condition = Predicate("c0 = c1")
    counts = MODEL.characteristics(COUNTS, (ROWS,))
    passed = MODEL.characteristics(Filter(condition), (counts,))
    assert passed.retracted == 1
    filtering = FilterRows(condition.sql)
    formula = MODEL.explain(filtering, passed, (counts,))
    plain = MODEL.cost(filtering, passed, (_unretracted(counts),))
    assert formula.cost == MODEL.cost(filtering, passed, (counts,)) == pytest.approx(2 * plain)
    assert str(formula).splitlines()[-1].startswith("cost = C · (1 + q) = ")


def _unretracted(rows: Characteristics) -> Characteristics:
    return Characteristics(rows.arrival_rate, rows.validity, rows.population, rows.distinct)


def test_the_formulas_of_the_thesis_count_no_retractions() -> None:
    assert _share(COUNTS, ROWS, model=CostModel("thesis")) == 0

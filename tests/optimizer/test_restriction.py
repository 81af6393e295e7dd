"""Conditions that rules push into the second input of an anti-join or left join."""

from __future__ import annotations

import pytest

from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

STATISTICS = LabelStatistics(rate=10, distinct_src=100, distinct_trg=100, vertices=100)
CATALOG = Catalog({"s": Stream("s", dict.fromkeys("abc", STATISTICS))})
COLUMN_TWICE = 'd(x, x) <- a(x, y), c(y, x), "Z" = y, not b(x, y). Answer(x) <- d(y, x), d("b", x).'


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_condition_is_pushed_into_an_input_once(parallelism: int) -> None:
    """The filtered input was filtered again each time that an anti-join left a join, for ever."""
    query = translate(parse(COLUMN_TWICE + " WINDOW 10s"), CATALOG)
    model = CostModel(catalog=CATALOG, parallelism=parallelism)
    options = Options(parallelism=parallelism, budget_expressions=6_000)
    found = Optimizer(model, options).optimize(query)
    assert found.stop_reason == "complete"
    assert found.memo.expression_count < 3_000

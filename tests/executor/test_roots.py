"""Aggregates are exact, and open rows are returned at the end of the input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import AggregateRows, ReportRows
from headrace.executor.batch import FOREVER, Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.accumulators import accumulator
from headrace.executor.operators.aggregate import AggregateOperator, codes_of
from headrace.executor.operators.report import ReportOperator
from tests.strategies.amount import examples

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(kept=st.lists(FLOATS), gone=st.lists(FLOATS), seed=st.randoms(use_true_random=False))
@examples(100)
def test_sums_of_floats_are_exact_in_any_order(
    kept: list[float], gone: list[float], seed: Any
) -> None:
    total, mean = accumulator("sum"), accumulator("avg")
    values = [*kept, *gone]
    seed.shuffle(values)
    for value in values:
        total.add(value)
        mean.add(value)
    for value in gone:
        total.remove(value)
        mean.remove(value)
    exact = sum(map(Fraction, kept), Fraction(0))
    assert total.result() == (_float(exact) if kept else None)
    assert mean.result() == (_float(exact / len(kept)) if kept else None)


def _float(exact: Fraction) -> float | None:
    try:
        return float(exact)
    except OverflowError:
        return None


def test_a_result_out_of_range_is_missing() -> None:
    whole, infinite = accumulator("sum"), accumulator("sum")
    for value in (2**63 - 1, 1):
        whole.add(value)
    assert whole.result() is None
    whole.remove(1)
    assert whole.result() == 2**63 - 1
    infinite.add(math.inf)
    assert infinite.result() is None
    infinite.remove(math.inf)
    infinite.add(0.5)
    assert infinite.result() == 0.5


@given(values=st.lists(st.one_of(st.integers(0, 5), st.sampled_from(["", "a", True])), max_size=40))
@examples(100)
def test_min_max_and_count_distinct_follow_removals(values: list[Any]) -> None:
    least, greatest = accumulator("min"), accumulator("max")
    different = accumulator("count_distinct")
    for i, value in enumerate(values):
        for kept in (least, greatest, different):
            kept.add(value)
            if i % 3 == 2:
                kept.remove(values[i - 1])
    left = [v for i, v in enumerate(values) if i % 3 != 1 or i + 1 >= len(values)]
    ordered = sorted(left, key=_order)
    assert least.result() == (ordered[0] if left else None)
    assert greatest.result() == (ordered[-1] if left else None)
    assert different.result() == len(set(map(_order, left)))


def _order(value: Any) -> tuple[int, Any]:
    return 2 if value is True else 1 if isinstance(value, str) else 0, value


def _batch(dictionary: Dictionary, rows: list[tuple[str, int, int]]) -> Batch:
    exp = np.array([row[2] for row in rows], np.int64)
    codes = codes_of([row[0] for row in rows], exp, dictionary)
    return Batch(codes.reshape(1, -1), np.array([row[1] for row in rows], np.int64), exp)


def _said(batch: Batch, dictionary: Dictionary) -> list[tuple[Any, ...]]:
    columns = [dictionary.decode(codes).to_pylist() for codes in batch.columns]
    return list(zip(*columns, batch.ts.tolist(), batch.exp.tolist(), strict=True))


def test_open_rows_are_returned_at_the_end_of_the_input() -> None:
    dictionary = Dictionary()
    operator = AggregateOperator(AggregateRows((), (("count", None),), (0,)), dictionary)
    rows = _batch(dictionary, [("kept", 0, FOREVER), ("x", 3, 9)])
    assert len(operator.process([rows], True)) == 0
    assert _said(operator.advance(3, True), dictionary) == []
    assert _said(operator.advance(4, True), dictionary) == [(1, 0, 3)]
    assert _said(operator.advance(FOREVER, True), dictionary) == [(2, 3, 9), (1, 9, FOREVER)]


@pytest.mark.parametrize(
    ("mode", "instants"), [("snapshot", [0, 4, 4, 8, 8, 12]), ("exit", [12]), ("entering", [0, 4])]
)
def test_reports_end_at_or_after_the_last_change(mode: Any, instants: list[int]) -> None:
    dictionary = Dictionary()
    operator = ReportOperator(ReportRows(mode, 4), 1, dictionary)
    rows = _batch(dictionary, [("kept", 0, FOREVER), ("x", 3, 9)])
    found = [operator.process([rows], True), operator.advance(FOREVER, True)]
    assert [ts for batch in found for ts in batch.ts.tolist()] == instants

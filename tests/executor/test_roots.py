"""Aggregates are exact, and open rows are returned at the end of the input."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.aggregates import AggregateCall, Call, Function
from headrace.algebra.physical import AggregateRows, ReportRows
from headrace.executor.batch import FOREVER, Batch, merged
from headrace.executor.dictionary import Dictionary
from headrace.executor.operators.aggregate import AggregateOperator, RetractingAggregate, codes_of
from headrace.executor.operators.report import ReportOperator
from tests.strategies.amount import examples

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
)
VALUES = st.one_of(
    st.integers(-3, 5),
    st.sampled_from(["", "a", "ab", "b", "\u00e9", "\U0001f600", "\uff5e", True, False]),
    st.sampled_from([-2.5, -0.0, 1.0, 3.5, math.inf, -math.inf]),
    st.sampled_from([2**53, 2**53 + 1, 2.0**53, 2**63 - 1, 2.0**63, -(2**63), -(2.0**63)]),
)


def _last_row(
    calls: Sequence[Function | tuple[Function, float]], values: Sequence[Any], gone: Sequence[int]
) -> Any:
    """The aggregates of values of which some are removed, beside a missing value, which stays.

    A percentile is a pair of its function and its number."""
    dictionary = Dictionary()
    of = [(call, None) if isinstance(call, str) else call for call in calls]
    aggregates = tuple(
        AggregateCall(function, 1, percentile=percentile).call for function, percentile in of
    )
    aggregate = AggregateRows((), aggregates, tuple(range(len(calls))))
    operator = AggregateOperator(aggregate, 2, dictionary)
    endless = np.full(len(values) + 1, FOREVER, np.int64)
    columns = list(range(len(values) + 1)), [*values, None]
    codes = np.array([codes_of(column, endless, dictionary) for column in columns])
    operator.process([Batch(codes, np.zeros_like(endless), endless)], True)
    ended = np.ascontiguousarray(codes[:, list(gone)])
    ones = np.ones(len(gone), np.int64)
    before = operator.process([Batch(ended, ones, ~(ones * FOREVER))], True)
    rows = _said(merged([before, operator.advance(FOREVER, True)]), dictionary)
    (last,) = (row[:-2] for row in rows if row[-1] == FOREVER)
    return last


@given(kept=st.lists(NUMBERS), gone=st.lists(NUMBERS), seed=st.randoms(use_true_random=False))
@examples(100)
def test_sums_are_exact_in_any_order(
    kept: list[int | float], gone: list[int | float], seed: Any
) -> None:
    values = [*((value, True) for value in kept), *((value, False) for value in gone)]
    seed.shuffle(values)
    removed = [i for i, (_, stays) in enumerate(values) if not stays]
    seed.shuffle(removed)
    functions: list[Function] = ["sum", "avg", "stddev", "stddev_pop"]
    row = _last_row(functions, [value for value, _ in values], removed)
    total, mean, *deviations = row
    assert deviations == [_deviation(kept, statistics.stdev), _deviation(kept, statistics.pstdev)]
    exact = sum(map(Fraction, kept), Fraction(0))
    assert mean == (_float(exact / len(kept)) if kept else None)
    if all(isinstance(value, int) for value in kept):
        assert total == (int(exact) if kept and -(2**63) <= exact < 2**63 else None)
    else:
        assert total == _float(exact)
        assert isinstance(total, float | None)


def _deviation(values: list[int | float], of: Callable[[list[int | float]], float]) -> Any:
    try:
        return of(values) if len(values) > 1 else 0.0
    except OverflowError:
        return None


def _float(exact: Fraction) -> float | None:
    try:
        return float(exact)
    except OverflowError:
        return None


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0**-53],  # a tie, to even: down
        [1.0, 2.0**-53, 5e-324],  # above the tie
        [1.0 + 2.0**-52, 2.0**-53],  # a tie, to even: up
        [5e-324] * 3,
        [5e-324, 5e-324, 5e-324, 0.0],
        [1.7976931348623157e308, 2.0**969],
        [1.7976931348623157e308, 2.0**970],  # rounds beyond the largest float
        [-1e308] * 18,
        [1e308] * 40,
        [2**53, 1, 0.5],
        [-(2**63)] * 3 + [-0.25],
    ],
)
def test_sums_and_means_round_once(values: list[int | float]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    expected = _float(exact), _float(exact / len(values))
    assert _last_row(("sum", "avg"), values, []) == expected


@given(
    values=st.lists(NUMBERS | st.sampled_from([math.inf, -math.inf, None, "a"]), min_size=1),
    parts=st.integers(1, 3),
)
@examples(100)
def test_sums_of_parts_are_those_of_the_whole(values: list[Any], parts: int) -> None:
    dictionary = Dictionary()
    sums: tuple[tuple[Function, int | None], ...] = (("partial_sum", 1), ("partial_squares", 1))
    part = AggregateRows((), sums, (0, 1, 2), retracts=True, partial=True)
    rows: list[Batch] = []
    for number in range(min(parts, len(values))):
        own = values[number::parts]
        ends = np.full(len(own), FOREVER, np.int64)
        codes = np.array([codes_of(c, ends, dictionary) for c in (list(range(len(own))), own)])
        operator = RetractingAggregate(part, 2, dictionary, 1, number)
        batch = Batch(codes, np.zeros_like(ends), ends)
        rows += [operator.process([batch], True), operator.advance(1, True)]
    calls: tuple[tuple[Function, int | None], ...] = (
        ("sum_partial", 0),
        ("avg_partial", 0),
        ("stddev_partial", 1),
        ("stddev_pop_partial", 1),
    )
    whole = AggregateOperator(AggregateRows((), calls, (0, 1, 2, 3)), 3, dictionary)
    whole.process([merged(rows)], True)
    (row,) = _said(whole.advance(FOREVER, True), dictionary)
    assert row[:-2] == _last_row(("sum", "avg", "stddev", "stddev_pop"), values, [])


@pytest.mark.parametrize("text", ["", "[]", "abc", "1 1 0 0 0 -7 1", "1 1 0 0 0 999999999 1"])
def test_any_text_may_stand_for_a_partial_sum(text: str) -> None:
    """A plan from elsewhere may sum up any column; the state has no place for a limb beyond it."""
    dictionary = Dictionary()
    ends = np.full(1, FOREVER, np.int64)
    calls: tuple[tuple[Function, int | None], ...] = (("sum_partial", 0), ("avg_partial", 0))
    deviations: tuple[tuple[Function, int | None], ...] = (("stddev_partial", 0),)
    for of in (calls, (*calls, *deviations)):
        operator = AggregateRows((), of, tuple(range(len(of))))
        whole = AggregateOperator(operator, 1, dictionary)
        codes = codes_of([text], ends, dictionary).reshape(1, -1)
        whole.process([Batch(codes, np.zeros_like(ends), ends)], True)
        (row,) = _said(whole.advance(FOREVER, True), dictionary)
        assert row[:2] in {(None, None), (0.0, 0.0)}
        assert row[2:-2] in {(), (0.0,)}


def test_a_part_with_more_values_than_squares_has_no_deviation() -> None:
    """The text of no partial sum: its squares are less than the square of its sum."""
    dictionary = Dictionary()
    ends = np.full(1, FOREVER, np.int64)
    whole = AggregateOperator(AggregateRows((), (("stddev_partial", 0),), (0,)), 1, dictionary)
    codes = codes_of(["2 0 0 0 7 69 1"], ends, dictionary).reshape(1, -1)
    whole.process([Batch(codes, np.zeros_like(ends), ends)], True)
    (row,) = _said(whole.advance(FOREVER, True), dictionary)
    assert row[0] == 0.0


def test_a_result_out_of_range_is_missing() -> None:
    assert _last_row(("sum",), (2**63 - 1, 1), []) == (None,)
    assert _last_row(("sum",), (2**63 - 1, 1), [1]) == (2**63 - 1,)
    assert _last_row(("sum", "avg"), (math.inf, 0.5), []) == (None, None)
    assert _last_row(("sum", "avg"), (math.inf, 0.5), [0]) == (0.5, 0.5)


@given(values=st.lists(VALUES, max_size=60), seed=st.randoms(use_true_random=False))
@examples(200)
def test_min_max_and_count_distinct_follow_removals(values: list[Any], seed: Any) -> None:
    gone = [i for i in range(len(values)) if seed.random() < 0.6]
    seed.shuffle(gone)
    left = [value for i, value in enumerate(values) if i not in set(gone)]
    least, greatest, different = _last_row(("min", "max", "count_distinct"), values, gone)
    ordered = sorted(left, key=_order)
    assert least == (ordered[0] if left else None)
    assert greatest == (ordered[-1] if left else None)
    assert different == len(set(map(_order, left)))


PERCENTILES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 0.999999999, 1.0])


@given(
    values=st.lists(VALUES | NUMBERS, max_size=60),
    percentile=PERCENTILES,
    seed=st.randoms(use_true_random=False),
)
@examples(200)
def test_percentiles_follow_removals(values: list[Any], percentile: float, seed: Any) -> None:
    gone = [i for i in range(len(values)) if seed.random() < 0.6]
    seed.shuffle(gone)
    left = [v for i, v in enumerate(values) if i not in set(gone) and _order(v)[0] == 0]
    calls: list[tuple[Function, float]] = [
        ("percentile_cont", percentile),
        ("percentile_disc", percentile),
    ]
    between, nearest = _last_row(calls, values, gone)
    ordered = sorted(left, key=lambda value: (value, isinstance(value, float)))
    if not left:
        assert (between, nearest) == (None, None)
        return
    share = Fraction(str(percentile))
    at_most = [k for k in range(len(left)) if k + 1 >= share * len(left)]
    assert (type(nearest), nearest) == (type(ordered[at_most[0]]), ordered[at_most[0]])
    place, rest = divmod(share * (len(left) - 1), 1)
    ends = [ordered[place], ordered[place + 1]] if rest else [ordered[place]]
    if any(isinstance(end, float) and math.isinf(end) for end in ends):
        assert between is None
    else:
        exact = [Fraction(end) for end in ends]
        assert between == float(exact[0] + rest * (exact[-1] - exact[0]))


def test_percentiles_of_changing_values_are_those_of_each_instant() -> None:
    """The place of a percentile follows a long run of additions and removals."""
    seed, dictionary = Random(5), Dictionary()
    held: list[tuple[int, float]] = []
    calls: tuple[Call, ...] = (
        ("percentile_disc", 1, 0.5),
        ("percentile_cont", 1, 0.3),
        ("stddev", 1),
    )
    operator = AggregateOperator(AggregateRows((), calls, (0, 1, 2)), 2, dictionary)
    rows: list[Any] = []
    expected: dict[int, Any] = {}
    for ts in range(300):
        if held and seed.random() < (0.3 if ts < 150 else 0.7):
            row, ends = held.pop(seed.randrange(len(held))), ~FOREVER
        else:
            row, ends = (ts, seed.choice([seed.randrange(9), seed.random() * 9])), FOREVER
            held.append(row)
        codes = np.array([codes_of([v], np.array([FOREVER]), dictionary) for v in row])
        rows.append(operator.process([Batch(codes, np.array([ts]), np.array([ends]))], True))
        values = sorted(value for _, value in held)
        if values:
            exact, place = list(map(Fraction, values)), Fraction(3, 10) * (len(values) - 1)
            after = exact[min(int(place) + 1, len(exact) - 1)]
            between = exact[int(place)] + (place - int(place)) * (after - exact[int(place)])
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            expected[ts] = (values[(len(values) - 1) // 2], float(between), spread)
    rows.append(operator.advance(FOREVER, True))
    said = _said(merged(rows), dictionary)
    for ts, row in expected.items():
        assert [tuple(of[:3]) for of in said if of[-2] <= ts < of[-1]] == [row]


@given(values=st.lists(VALUES, max_size=60), seed=st.randoms(use_true_random=False))
@examples(100)
def test_lists_follow_removals(values: list[Any], seed: Any) -> None:
    gone = [i for i in range(len(values)) if seed.random() < 0.6]
    seed.shuffle(gone)
    left = [value for i, value in enumerate(values) if i not in set(gone)]
    all_of_them, each_once = map(
        json.loads, _last_row(("collect", "collect_distinct"), values, gone)
    )
    ordered = sorted(left, key=lambda value: (*_order(value), isinstance(value, float)))
    assert [(type(v), v) for v in all_of_them] == [(type(v), v) for v in ordered]
    places = [k for k, v in enumerate(ordered) if not k or _order(ordered[k - 1]) != _order(v)]
    assert each_once == [ordered[k] for k in places]


@pytest.mark.parametrize("percentile", [-0.1, 1.5, 0.0000000001, math.nan])
def test_a_percentile_has_a_number_from_0_to_1(percentile: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        AggregateRows((), (("percentile_cont", 0, percentile),), (0,)).output_width([1])


@pytest.mark.parametrize("call", [("latest", 0), ("max", 0, 1), ("latest", 0, 2)])
def test_only_the_latest_value_has_a_time(call: Any) -> None:
    with pytest.raises(ValueError, match=r"time|column"):
        AggregateRows((), (call,), (0,)).output_width([2])


@given(
    values=st.lists(st.tuples(VALUES, VALUES), max_size=60),
    seed=st.randoms(use_true_random=False),
)
@examples(100)
def test_the_latest_value_follows_removals(values: list[tuple[Any, Any]], seed: Any) -> None:
    dictionary = Dictionary()
    operator = AggregateOperator(AggregateRows((), (("latest", 1, 2),), (0,)), 3, dictionary)
    gone = [i for i in range(len(values)) if seed.random() < 0.6]
    ends = np.full(len(values) + 2, FOREVER, np.int64)
    rows = [*values, (None, 99), (99, None)]
    columns = list(range(len(rows))), [v for v, _ in rows], [t for _, t in rows]
    codes = np.array([codes_of(column, ends, dictionary) for column in columns])
    operator.process([Batch(codes, np.zeros_like(ends), ends)], True)
    ones = np.ones(len(gone), np.int64)
    seed.shuffle(gone)
    ended = Batch(np.ascontiguousarray(codes[:, gone]), ones, ~(ones * FOREVER))
    before = operator.process([ended], True)
    lines = _said(merged([before, operator.advance(FOREVER, True)]), dictionary)
    (latest,) = (row[0] for row in lines if row[-1] == FOREVER)
    left = [value for i, value in enumerate(values) if i not in set(gone)]
    newest = max(left, default=(None, 0), key=lambda pair: (_order(pair[1]), _order(pair[0])))
    assert latest == newest[0]


def _order(value: Any) -> tuple[int, Any]:
    return 2 if isinstance(value, bool) else 1 if isinstance(value, str) else 0, value


def _batch(dictionary: Dictionary, rows: list[tuple[str, int, int]]) -> Batch:
    exp = np.array([row[2] for row in rows], np.int64)
    codes = codes_of([row[0] for row in rows], exp, dictionary)
    return Batch(codes.reshape(1, -1), np.array([row[1] for row in rows], np.int64), exp)


def _said(batch: Batch, dictionary: Dictionary) -> list[tuple[Any, ...]]:
    columns = [dictionary.decode(codes).to_pylist() for codes in batch.columns]
    return list(zip(*columns, batch.ts.tolist(), batch.exp.tolist(), strict=True))


def test_open_rows_are_returned_at_the_end_of_the_input() -> None:
    dictionary = Dictionary()
    operator = AggregateOperator(AggregateRows((), (("count", None),), (0,)), 1, dictionary)
    rows = _batch(dictionary, [("kept", 0, FOREVER), ("x", 3, 9)])
    assert len(operator.process([rows], True)) == 0
    assert _said(operator.advance(3, True), dictionary) == []
    assert _said(operator.advance(4, True), dictionary) == [(1, 0, 3)]
    assert _said(operator.advance(FOREVER, True), dictionary) == [(2, 3, 9), (1, 9, FOREVER)]
    assert _said(operator.advance(FOREVER, True), dictionary) == [], "the end is told twice"


@pytest.mark.parametrize(
    ("mode", "instants"), [("snapshot", [0, 4, 4, 8, 8, 12]), ("exit", [12]), ("entering", [0, 4])]
)
def test_reports_end_at_or_after_the_last_change(mode: Any, instants: list[int]) -> None:
    dictionary = Dictionary()
    operator = ReportOperator(ReportRows(mode, 4), 1, dictionary)
    rows = _batch(dictionary, [("kept", 0, FOREVER), ("x", 3, 9)])
    found = [operator.process([rows], True), operator.advance(FOREVER, True)]
    assert [ts for batch in found for ts in batch.ts.tolist()] == instants
    assert len(operator.advance(FOREVER, True)) == 0, "the end is told twice"


def test_values_that_expire_before_the_first_report_are_not_held() -> None:
    dictionary = Dictionary()
    operator = ReportOperator(ReportRows("entering", 4, start=1_000), 1, dictionary)
    for ts in range(100):
        operator.process([_batch(dictionary, [(f"x{ts}", ts, ts + 9)])], True)
        assert len(operator.advance(ts, True)) == 0
    assert operator.entries == 0
    rows = _batch(dictionary, [("kept", 998, 1_001), ("late", 1_002, 1_003)])
    assert operator.process([rows], True).ts.tolist() == [1_000]
    assert len(operator.advance(FOREVER, True)) == 0


def test_a_restored_aggregate_continues_its_open_rows() -> None:
    dictionary = Dictionary()
    calls: tuple[tuple[Function, int], ...] = (("count", 0), ("min", 0), ("sum", 0), ("avg", 0))
    aggregate = AggregateRows((0,), calls, (0, 1, 2, 3, 4))
    rows: list[tuple[Any, int, int]] = [("x", 0, 9), (0.5, 1, 5), ("y", 2, 12), (7, 5, 8)]
    one, other = (AggregateOperator(aggregate, 1, dictionary) for _ in range(2))
    one.process([_batch(dictionary, rows)], True)
    one.advance(5, True)  # the row of 0.5 has expired at 5, and its open row is not closed yet
    state = one.open_row_changes()
    assert state is not None
    other.process([_batch(dictionary, [row for row in rows if row[2] > 5])], False)
    other.advance(5, False)
    other.restore_open_rows(state, 5)
    expected = _said(one.advance(FOREVER, True), dictionary)
    assert (0.5, 1, 0.5, 0.5, 0.5, 1, 5) in expected
    assert sorted(_said(other.advance(FOREVER, True), dictionary), key=str) == sorted(
        expected, key=str
    )

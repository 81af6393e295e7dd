"""The store of values with a queue by expiry, against a Python dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headrace.executor.batch import FOREVER, IntArray
from headrace.executor.kernels import expiring as kernel
from headrace.executor.kernels.tables import EMPTY
from headrace.executor.operators.valid_values import ValidValues
from tests.strategies.amount import examples

EXPIRIES = st.one_of(st.integers(1, 60), st.sampled_from([FOREVER, FOREVER - 1]))
VALUES = st.tuples(st.integers(0, 7), st.integers(0, 7))
STEPS = st.one_of(
    st.tuples(st.just("comes"), VALUES, EXPIRIES),
    st.tuples(st.just("is taken back"), VALUES, st.just(0)),
    st.tuples(st.just("time passes"), st.just((0, 0)), st.integers(1, 60)),
)


def column(value: tuple[int, int]) -> IntArray:
    return np.array(value, np.int64).reshape(2, 1)


def comes(values: ValidValues, value: tuple[int, int], expiry: int) -> None:
    if kernel.is_full(values.expiring):
        values.enlarge()
    row = kernel.row_of(values.expiring, column(value), 0)
    if row == EMPTY:
        row = kernel.new_row(values.expiring, column(value), 0)
        values.expiring.own[row, 0] = sum(value)
        kernel.enqueue(values.expiring, row, expiry)
    else:
        kernel.extend(values.expiring, row, expiry)


@given(steps=st.lists(STEPS, max_size=300))
@examples(150)
def test_the_store_holds_what_a_dict_of_expiries_holds(
    steps: list[tuple[str, tuple[int, int], int]],
) -> None:
    values = ValidValues(2, 1)
    expected: dict[tuple[int, int], int] = {}
    for step, value, time in steps:
        if step == "comes":
            comes(values, value, time)
            expected[value] = max(expected.get(value, 0), time)
        elif step == "is taken back":
            row = kernel.row_of(values.expiring, column(value), 0)
            assert (row == EMPTY) == (value not in expected)
            if expected.pop(value, None) is not None:
                kernel.dequeue(values.expiring, row)
                kernel.remove(values.expiring, row)
        else:
            gone = {}
            while (first := kernel.first_expiry(values.expiring)) <= time:
                row = kernel.dequeue_first(values.expiring)
                gone[tuple(values.expiring.columns[row].tolist())] = first
                kernel.remove(values.expiring, row)
            assert gone == {v: expiry for v, expiry in expected.items() if expiry <= time}
            expected = {v: expiry for v, expiry in expected.items() if expiry > time}
        ends = [expiry for expiry in expected.values() if expiry < FOREVER]
        assert kernel.first_expiry(values.expiring) == min(expected.values(), default=FOREVER)
        assert values.last(EMPTY) == max(ends, default=EMPTY)
        assert values.entries == len(expected)
    for value, expiry in expected.items():
        row = kernel.row_of(values.expiring, column(value), 0)
        assert kernel.is_valid(values.expiring, row)
        assert values.expiring.until[row] == expiry
        assert values.expiring.own[row, 0] == sum(value)


def test_a_value_that_is_extended_at_each_tick_takes_no_more_space() -> None:
    values = ValidValues(2, 1)
    for tick in range(1, 10_000):
        comes(values, (0, 0), tick)
    assert values.nbytes == ValidValues(2, 1).nbytes
    assert kernel.first_expiry(values.expiring) == 9_999


def test_many_values_of_an_expiry_each_leave_in_order() -> None:
    values, random = ValidValues(2, 1), np.random.default_rng(1)
    expiries = random.permutation(5_000) + 1
    for number, expiry in enumerate(expiries.tolist()):
        comes(values, (number, 0), expiry)
    left = []
    while (first := kernel.first_expiry(values.expiring)) < FOREVER:
        kernel.remove(values.expiring, kernel.dequeue_first(values.expiring))
        left.append(first)
    assert left == list(range(1, 5_001))
    assert values.entries == 0


def test_a_full_store_of_pairs_takes_less_than_64_bytes_for_each() -> None:
    values = ValidValues(2, 1)
    for number in range(48 << 6):
        comes(values, (number, 0), 1 + number // 100)
    assert values.entries == values.capacity
    assert values.nbytes < 64 * values.entries

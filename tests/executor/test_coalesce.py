"""COALESCE, UNION, PROJECT and EMPTY."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given

from headrace.executor.operators.coalesce import CoalesceOperator
from headrace.executor.operators.stateless import EmptyOperator, ProjectOperator, UnionOperator
from tests.executor.model import (
    CUTS,
    Row,
    Values,
    check,
    is_coalesced,
    ports,
    run,
    sizes_over_time,
)
from tests.strategies.amount import examples


@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_coalesce_keeps_the_snapshots_of_its_input(width: int) -> None:
    @given(rows=ports((width,), vertices=2), cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row]], cuts: list[int]) -> None:
        found = check(CoalesceOperator(width), lambda inputs: inputs[0], rows, (width,), cuts)
        assert is_coalesced(found)
        assert set(found) <= set(rows[0])

    holds()


def test_coalesce_drops_covered_rows_and_passes_rows_that_extend_validity() -> None:
    rows = [Row((1,), 5, 30), Row((1,), 6, 20), Row((1,), 7, 30), Row((1,), 8, 40)]
    assert run(CoalesceOperator(1), [rows], [1], ()) == [rows[0], rows[3]]


def test_coalesce_passes_a_value_again_after_a_gap() -> None:
    rows = [Row((1,), 0, 5), Row((1,), 9, 12)]
    assert run(CoalesceOperator(1), [rows], [1], ()) == rows


def rows_over_time(length: int) -> list[Row]:
    random = Random(1)
    return [
        Row((i // 100 + random.randrange(50), random.randrange(4)), i // 20, i // 20 + 15)
        for i in range(length)
    ]


def test_a_purge_keeps_exactly_the_valid_rows() -> None:
    rows = rows_over_time(20_000)
    operator = CoalesceOperator(2)
    empty = operator.nbytes
    run(operator, [rows], [2], ())
    assert operator.entries < 5_000, "swept within the batch"
    operator.purge(1_000)
    assert operator.entries == len({row.values for row in rows if row.exp > 1_000})
    operator.purge(2_000)
    assert (operator.entries, operator.nbytes) == (0, empty)


def test_state_is_bounded() -> None:
    sizes = sizes_over_time(CoalesceOperator(2), [rows_over_time(40_000)], [2])
    early, late = sizes[5:30], sizes[30:]
    assert max(late)[0] <= 1.5 * max(early)[0]
    assert max(bytes_ for _, bytes_ in late) <= 2 * max(bytes_ for _, bytes_ in early)


@given(rows=ports((2, 2, 2)), cuts=CUTS)
@examples(60)
def test_union_has_all_rows_of_its_inputs(rows: tuple[list[Row], ...], cuts: list[int]) -> None:
    found = check(UnionOperator(), lambda inputs: set().union(*inputs), rows, (2, 2, 2), cuts)
    assert sorted(found) == sorted(row for port in rows for row in port)


def test_union_keeps_the_order_of_its_inputs_at_equal_times() -> None:
    ports_ = [Row((1,), 3, 9), Row((2,), 3, 9)], [Row((3,), 3, 9)], [Row((4,), 2, 9)]
    found = run(UnionOperator(), ports_, (1, 1, 1), ())
    assert [row.values for row in found] == [(4,), (1,), (2,), (3,)]


@given(rows=ports((3,)), cuts=CUTS)
@examples(30)
def test_project_selects_and_reorders_columns(rows: tuple[list[Row]], cuts: list[int]) -> None:
    def projected(inputs: Sequence[Values[int]]) -> Values[int]:
        return {(values[2], values[0], values[2]) for values in inputs[0]}

    check(ProjectOperator((2, 0, 2)), projected, rows, (3,), cuts)


def test_empty_has_no_rows() -> None:
    assert run(EmptyOperator(3), (), (), (5,)) == []

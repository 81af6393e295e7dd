"""Operators over streams with deletions against snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.physical import HashJoin
from headrace.executor.batch import FOREVER
from headrace.executor.operators.coalesce import CoalesceWithDeletions
from headrace.executor.operators.join import JoinOperator
from headrace.executor.operators.retraction import RetractOperator
from tests.executor.deletions import as_lines, changes, check, ports, valid
from tests.executor.model import CUTS, Row, Values, joined, run
from tests.strategies.amount import examples

JOINS = {
    "one variable": HashJoin(((0, 1), (1, 2)), (0, 2)),
    "a cycle": HashJoin(((0, 1), (1, 0)), (0, 1)),
    "a product": HashJoin(((0, 1), (2, 3)), (0, 3)),
    "all kept": HashJoin(((0, 1), (1, 2)), (2, 1, 0)),
}


@pytest.mark.parametrize("name", JOINS)
def test_joins_with_deletions_have_the_right_snapshots(name: str) -> None:
    @given(rows=ports((2, 2)), cuts=CUTS)
    @examples(60)
    def holds(rows: tuple[list[Row], ...], cuts: Sequence[int]) -> None:
        join = JOINS[name]
        check(JoinOperator(join.over_deletions()), partial(joined, join), rows, (2, 2), cuts)

    holds()


def same(inputs: Sequence[Values[int]]) -> Values[int]:
    return inputs[0]


@given(rows=ports((1,), vertices=2, longest=60), cuts=CUTS)
@examples(200)
def test_coalesce_with_deletions_has_the_right_snapshots(
    rows: tuple[list[Row], ...], cuts: Sequence[int]
) -> None:
    """Right as a bag, and as lines of which an end ends all; and no line says nothing new."""
    found = check(CoalesceWithDeletions(1), same, rows, (1,), cuts)
    said: dict[tuple[int, ...], int] = {}
    for values, ts, exp in found:
        if exp >= 0:
            assert exp > said.get(values, ts)
        said[values] = exp if exp >= 0 else 0
    for t in changes(rows):
        assert as_lines(found, t) == valid(rows[0], t)


def test_a_retraction_reports_the_longest_remaining_row() -> None:
    rows = [Row((7,), 0, 30), Row((7,), 1, 40), Row((7,), 5, ~40), Row((7,), 6, ~30)]
    found = run(CoalesceWithDeletions(1), [rows], (1,), ())
    assert found == [
        Row((7,), 0, 30),
        Row((7,), 1, 40),
        Row((7,), 5, ~40),
        Row((7,), 5, ~30),
        Row((7,), 5, 30),
        Row((7,), 6, ~30),
    ]


def test_rows_that_the_reported_row_outlasts_report_nothing_when_they_come_and_go() -> None:
    """Nor does one of two copies of the reported row, or a row that is as long as it."""
    rows = [
        Row((7,), 0, 20),
        Row((7,), 1, 40),
        Row((7,), 2, 30),
        Row((7,), 3, 40),
        Row((7,), 4, ~20),
        Row((7,), 5, ~40),
        Row((7,), 6, ~40),
        Row((7,), 7, 30),
        Row((7,), 8, 31),
    ]
    found = run(CoalesceWithDeletions(1), [rows], (1,), ())
    gone = {Row((7,), 6, ~40), Row((7,), 6, ~20)}
    assert found[:2] == [Row((7,), 0, 20), Row((7,), 1, 40)]
    assert set(found[2:4]) == gone, "the reported rows of the value, after its longest row"
    assert found[4:] == [Row((7,), 6, 30), Row((7,), 8, 31)]


def test_a_row_that_holds_forever_is_taken_back() -> None:
    """The retraction was ignored, as one more than its expiry is no number of the kernel."""
    rows = [
        Row((7,), 0, FOREVER),
        Row((7,), 1, 40),
        Row((7,), 2, ~FOREVER),
        Row((7,), 3, FOREVER),
        Row((7,), 4, ~FOREVER),
        Row((7,), 5, ~40),
    ]
    found = run(CoalesceWithDeletions(1), [rows], (1,), ())
    again = [Row((7,), 2, ~FOREVER), Row((7,), 2, 40), Row((7,), 3, FOREVER)]
    assert found[:4] == [Row((7,), 0, FOREVER), *again]
    assert set(found[4:6]) == {Row((7,), 4, ~FOREVER), Row((7,), 4, ~40)}
    assert found[6:] == [Row((7,), 4, 40), Row((7,), 5, ~40)]


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 4),
            st.booleans(),
        ),
        max_size=40,
    ),
    window=st.integers(1, 12),
    slide=st.integers(1, 4),
    cuts=CUTS,
)  # fmt: skip
@examples(200)
def test_a_deletion_retracts_all_open_edges(
    steps: list[tuple[int, int, int, int, bool]], window: int, slide: int, cuts: Sequence[int]
) -> None:
    """Of equal source and target, whatever their further columns are."""
    window = max(window, slide)
    now, rows = 0, []
    for source, target, colour, gap, deletes in steps:
        now += gap
        exp = now // slide * slide + window
        rows.append(Row((source, target, colour), now, ~exp if deletes else exp))
    rows.sort(key=lambda row: (row.ts, row.exp < 0))
    operator = RetractOperator(3)
    found = run(operator, [rows], (3,), cuts)
    unmatched = 0
    for position, row in enumerate(rows):
        if row.exp < 0:
            before = rows[:position]
            unmatched += not any(v[:2] == row.values[:2] for v in _open(before, row.ts))
    for t in changes([rows]):
        assert valid(found, t) == _open([r for r in rows if r.ts <= t], t)
    assert operator.unmatched == unmatched


def _open(rows: list[Row], t: int) -> Values[int]:
    still: dict[tuple[int, ...], int] = {}
    for values, _, exp in rows:
        if exp >= 0:
            still[values] = max(exp, still.get(values, 0))
        else:
            for other in [other for other in still if other[:2] == values[:2]]:
                del still[other]
    return {values for values, exp in still.items() if exp > t}


def test_state_is_released() -> None:
    """Also where nothing expires, but everything is taken back."""
    rows = []
    for t in range(0, 40_000, 2):
        rows += [Row((t % 7,), t, 2**62), Row((t % 7,), t + 1, ~(2**62))]
    for operator, port, width in (
        (CoalesceWithDeletions(1), rows, 1),
        (RetractOperator(2), [Row((*r.values, 1), r.ts, r.exp) for r in rows], 2),
    ):
        run(operator, [port], (width,), range(0, 40_000, 100))
        assert operator.entries < 3_000

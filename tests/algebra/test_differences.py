"""Bounds of differences that follow from predicates."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.differences import differences
from headrace.algebra.predicate import Predicate
from headrace.executor.predicates import mask
from tests.strategies.amount import examples


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("ABS(c0 - c1) <= 10", {(0, 1, 10), (1, 0, 10)}),
        ("c0 < c1", {(0, 1, -1)}),
        ("c0 >= c1", {(1, 0, 0)}),
        ("c0 = c1 + 3", {(0, 1, 3), (1, 0, -3)}),
        ("c1 - c0 BETWEEN 2 AND 5".replace("BETWEEN 2 AND", ">= 2 AND c1 - c0 <="),
         {(0, 1, -2), (1, 0, 5)}),
        ("NOT (c0 - 4 > -(-c2 + 1))", {(0, 2, 3)}),
        ("5 > ABS(c0 - c1)", {(0, 1, 4), (1, 0, 4)}),
        ("ABS(c0 - c1) >= 10", set()),
        ("ABS(c0) <= c1", {(0, 1, 0)}),
        ("c0 < c1 OR c0 = c2", set()),
        ("c0 <> c1", set()),
        ("c0 + c1 < 9", set()),
        ("2 * c0 < c1", set()),
        ("c0 < c1 + 0.5", set()),
        ("c0 < 7 AND c1 = 'u'", set()),
    ],
)  # fmt: skip
def test_a_predicate_bounds_differences_of_columns(
    sql: str, expected: set[tuple[int, int, int]]
) -> None:
    assert set(differences(Predicate(sql).normal)) == expected


VALUES = st.recursive(
    st.sampled_from(["c0", "c1", "c2", "0", "1", "3", "-2"]),
    lambda part: st.one_of(
        st.tuples(part, st.sampled_from("+-"), part).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        part.map(lambda p: f"ABS({p})"),
        part.map(lambda p: f"-({p})"),
    ),
    max_leaves=4,
)


@given(
    left=VALUES,
    sign=st.sampled_from(["<", "<=", "=", "<>", ">=", ">"]),
    right=VALUES,
    rows=st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=1, max_size=60),
)
@examples(200)
def test_derived_bounds_hold_wherever_the_predicate_holds(
    left: str, sign: str, right: str, rows: list[tuple[int, int, int]]
) -> None:
    predicate = Predicate(f"{left} {sign} {right}").normal
    columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
    for row, holds in zip(rows, mask(predicate.sql, columns), strict=True):
        for x, y, bound in differences(predicate):
            assert not holds or row[x] - row[y] <= bound

"""System R's selectivities, predicate by predicate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.predicate import Predicate
from headrace.costmodel.selectivity import condition, equal_columns

DISTINCT = (100.0, 20.0, 8.0)


@pytest.mark.parametrize(
    ("sql", "selectivity", "distinct"),
    [
        ("c0 = 'x'", 1 / 100, (1, 20, 8)),
        ("'x' = c1", 1 / 20, (100, 1, 8)),
        ("c0 = c1", 1 / 100, (20, 20, 8)),
        ("(c0 = c1)", 1 / 100, (20, 20, 8)),
        ("c0 <> 5", 99 / 100, (100, 20, 8)),
        ("NOT c1 = 5", 19 / 20, (100, 20, 8)),
        ("c0 = 1 AND c1 = 2", 1 / 2000, (1, 1, 8)),
        ("c1 = 1 OR c1 = 2", 1 / 20 + 1 / 20 - 1 / 400, (100, 2, 8)),
        ("c1 IN (1, 2, 3)", 3 / 20, (100, 3, 8)),
        ("c2 IN (1, 2, 3, 4, 5, 6)", 1 / 2, (100, 20, 6)),
        ("c0 < 7", 1 / 3, DISTINCT),
        ("c0 >= c1", 1 / 3, DISTINCT),
        ("c0 BETWEEN 1 AND 2", 1 / 4, DISTINCT),
        ("c0 IS NULL", 1 / 10, DISTINCT),
        ("NOT c0 IS NULL", 9 / 10, DISTINCT),
        ("c0 LIKE 'a%'", 1 / 10, DISTINCT),
        ("c2 IS NOT NULL", 9 / 10, DISTINCT),
        ("ABS(c0 - c2) <= 10", 1 / 3, DISTINCT),
        ("c0 + 1 = c1 * 2", 1 / 10, DISTINCT),
        ("c1 = c2 + 1", 1 / 20, DISTINCT),
        ("c2 - 1 = c1", 1 / 20, DISTINCT),
        ("c2 = -1.5", 1 / 8, (100, 20, 1)),
        ("TRUE", 1, DISTINCT),
        ("FALSE", 0, DISTINCT),
        ("1 = 2", 1 / 10, DISTINCT),
        ("lower(c0) = 'x'", 1 / 10, DISTINCT),
        ("lower(c0) IN ('x')", 1 / 2, DISTINCT),
        ("startswith(c0, 'x')", 1 / 3, DISTINCT),
        ("TEXT_CONTAINS(c0, 'x') = TRUE", 1 / 10, DISTINCT),
        ("TEXT_CONTAINS(c0, 'x') = FALSE", 9 / 10, DISTINCT),
        ("IS_NOT_NULL(c0 + 1) = FALSE", 1 / 10, DISTINCT),
        ("ANY_TRUE(LESS(c0, 1), EQUAL(c1, 2)) = TRUE", 1 - 2 / 3 * 9 / 10, DISTINCT),
        ("ALL_TRUE(LOGICAL_NOT(LESS(c0, 1)), c1) = TRUE", 2 / 9, DISTINCT),
        ("UNEQUAL(c0, c1) <> TRUE", 1 / 10, DISTINCT),
        ("AS_BOOLEAN(c0) = TRUE", 1 / 3, DISTINCT),
        ("TEXT_SIZE(c0) = 3", 1 / 10, DISTINCT),
        ("TEXT_SIZE(c0) > 3", 1 / 3, DISTINCT),
        ("c0 = TO_LOWER(c1)", 1 / 100, DISTINCT),
    ],
)
def test_each_condition_has_its_selectivity(
    sql: str, selectivity: float, distinct: tuple[float, ...]
) -> None:
    compiled = condition(Predicate(sql))
    assert compiled.selectivity(DISTINCT) == pytest.approx(selectivity, rel=1e-12)
    assert compiled.distinct(DISTINCT) == pytest.approx(distinct)


def test_columns_of_unknown_or_no_values_select_everything() -> None:
    assert equal_columns(0.0, 0.25) == 1.0
    assert condition(Predicate("c0 = 1")).selectivity((0.0,)) == 1.0


atoms = st.sampled_from(
    ["c0 = 1", "c1 = c2", "c2 <> 'x'", "c0 > 3", "c1 IN (1, 2)", "c0 IS NULL", "TRUE", "FALSE"]
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(" AND ".join).map("({})".format),
        st.tuples(inner, inner).map(" OR ".join).map("({})".format),
        inner.map("NOT ({})".format),
    ),
    max_leaves=8,
)
counts = st.tuples(*[st.floats(0, 1e9)] * 3)


@given(conditions, counts)
def test_selectivities_are_probabilities(sql: str, distinct: tuple[float, ...]) -> None:
    compiled = condition(Predicate(sql))
    assert -1e-9 <= compiled.selectivity(distinct) <= 1 + 1e-9
    after = compiled.distinct(distinct)
    assert all(0 <= new <= old for new, old in zip(after, distinct, strict=True))

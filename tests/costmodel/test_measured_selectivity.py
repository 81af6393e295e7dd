"""Selectivities from distributions: shares, three-valued logic, and the error against data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.predicate import Predicate
from headrace.catalog import measure
from headrace.catalog.model import PropertyStatistics
from headrace.costmodel.columns import Column, Columns
from headrace.costmodel.distributions import Distribution, of_property, of_vertices
from headrace.costmodel.selectivity import RAREST, condition

RATING = of_property(
    PropertyStatistics(0.2, ((5, 0.4), (4, 0.2), (3, 0.1), (2, 0.05), (1, 0.05))), 5, "integer"
)
UNIFORM = of_property(PropertyStatistics(quantiles=tuple(range(0, 1001, 125))), 1000, "number")
NAME = of_property(PropertyStatistics(0.1, (("m", 0.5),), ("a", "f", "m", "m", "z")), 11, "string")
TRUTH = of_property(PropertyStatistics(0.0, ((True, 0.7), (False, 0.3))), 2, "boolean")
COLUMNS = tuple(Column(distribution=d) for d in (RATING, UNIFORM, NAME, TRUTH))
DISTINCT = (5.0, 1000.0, 11.0, 2.0)


def shares(sql: str, columns: Columns = COLUMNS) -> tuple[float, float]:
    compiled = condition(Predicate(sql))
    assert compiled.measured is not None
    return compiled.measured(DISTINCT, columns)


@pytest.mark.parametrize(
    ("sql", "true", "false"),
    [
        ("c0 = 5", 0.4, 0.4),
        ("5 = c0", 0.4, 0.4),
        ("c0 <> 5", 0.4, 0.4),
        ("c0 >= 4", 0.6, 0.2),
        ("3 < c0", 0.6, 0.2),
        ("c0 < 3.5", 0.2, 0.6),
        ("c0 > 1 AND c0 <= 4", 0.35, 0.45),
        ("c0 < 2 OR c0 > 4", 0.45, 0.35),
        ("NOT (c0 < 2 OR c0 > 4)", 0.35, 0.45),
        ("c0 IN (1, 2, 9)", 0.1, 0.7),
        ("c0 IS NULL", 0.2, 0.8),
        ("NOT c0 IS NULL", 0.8, 0.2),
        ("c0 IS NULL OR c0 = 5", 0.6, 0.4),
        ("c0 = 5 AND c0 = 4", 0.0, 0.8),
        ("c0 = 'five'", 0.0, 0.8),
        ("c0 <> 'five'", 0.8, 0.0),
        ("c0 < 'five'", 0.0, 0.0),
        ("c1 < 300", 0.3, 0.7),
        ("c1 BETWEEN 100 AND 300", 1 / 4, 3 / 4),
        ("c1 >= 100 AND c1 < 300", 0.2, 0.8),
        ("c1 = 77", 0.001, 0.999),
        ("c1 = 7777", 0.0, 1.0),
        ("c1 > -5", 1.0, 0.0),
        ("c2 = 'm'", 0.5, 0.4),
        ("c2 = 'b'", 0.04, 0.86),
        ("c3 = TRUE", 0.7, 0.3),
        ("c0 = 5 AND c3 = TRUE", 0.28, 1 - 0.6 * 0.7),
        ("c0 = 5 OR c3 = TRUE", 1 - 0.6 * 0.3, 0.12),
        ("c0 = 5 AND c3 = TRUE AND c0 <> 4", 0.28, 1 - 0.6 * 0.7),
        ("c0 = c1", 1 / 1000, 999 / 1000),
        ("c0 = 5 AND c0 = c1", 0.4 / 1000, 1 - 0.6 * (1 / 1000)),
    ],
)
def test_each_condition_has_its_shares(sql: str, true: float, false: float) -> None:
    assert shares(sql) == pytest.approx((true, false), abs=1e-9)


@pytest.mark.parametrize("sql", ["c0 >= 4", "c0 = 5 AND c1 < 3", "c0 = c1 OR c2 IS NULL"])
def test_columns_without_distributions_have_system_r_selectivities(sql: str) -> None:
    compiled = condition(Predicate(sql))
    by_system_r = compiled.selectivity(DISTINCT)
    assert compiled.share(DISTINCT, ()) == by_system_r
    assert compiled.share(DISTINCT, (None,) * 4) == by_system_r
    without = tuple(Column() for _ in DISTINCT)
    assert compiled.share(DISTINCT, without) == pytest.approx(by_system_r)


def test_values_that_the_sample_lacks_keep_an_estimate() -> None:
    assert condition(Predicate("c0 = 17")).share(DISTINCT, COLUMNS) == RAREST


def test_a_condition_drops_the_distributions_that_it_changes() -> None:
    kept = condition(Predicate("c0 = 5 AND c1 <> 7")).kept(COLUMNS)
    assert kept == (None, *COLUMNS[1:])


def test_frequent_vertices_have_their_shares() -> None:
    text = of_vertices((("1", 0.5), ("x", 0.1)), 42, "string")
    whole = of_vertices((("1", 0.5), ("-3", 0.1), ("x", 0.1)), 42, "integer")
    assert shares("c0 = '1'", (Column(distribution=text),))[0] == 0.5
    assert shares("c0 = 'rare'", (Column(distribution=text),))[0] == pytest.approx(0.01)
    assert shares("c0 IN (1, -3)", (Column(distribution=whole),))[0] == pytest.approx(0.6)


atoms = st.builds(
    "{} {} {}".format,
    st.sampled_from(["c0", "c1", "c2", "c3"]),
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    st.sampled_from(["0", "3", "4.5", "700", "'f'", "'q'", "TRUE"]),
) | st.sampled_from(["c0 IS NULL", "c2 IN ('m', 'a')", "c0 = c1", "abs(c0 - c1) < 5", "TRUE"])
numbers = st.builds(
    "c1 {} {}".format,
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    st.integers(-50, 1100),
) | st.sampled_from(["c1 IN (3, 500)", "c1 IS NULL", "abs(c1 - 2) < 5", "c1 = c3", "TRUE"])


def conditions(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(" AND ".join).map("({})".format),
            st.tuples(inner, inner).map(" OR ".join).map("({})".format),
            inner.map("NOT ({})".format),
        ),
        max_leaves=6,
    )


@given(conditions(atoms))
def test_shares_are_probabilities_and_negation_swaps_them(sql: str) -> None:
    sql = f"(c0 < 4 OR {sql})"
    true, false = shares(sql)
    assert min(true, false) >= -1e-9
    assert true + false <= 1 + 1e-9
    assert shares(f"NOT {sql}") == pytest.approx((false, true), abs=1e-12)


@given(conditions(numbers))
def test_complements_add_to_one_if_no_value_is_missing(sql: str) -> None:
    assert sum(shares(f"(c1 = 7 OR {sql})")) == pytest.approx(1)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=33),
    st.lists(st.tuples(st.integers(-100, 100), st.floats(0, 0.1)), max_size=8),
    st.floats(0, 0.2),
    st.lists(st.floats(-2e6, 2e6), unique=True, max_size=5),
    st.floats(1, 1e6),
)
def test_cells_are_shares_of_all_values(
    quantiles: list[float],
    common: list[tuple[int, float]],
    nulls: float,
    points: list[float],
    distinct: float,
) -> None:
    statistics = PropertyStatistics(nulls, tuple(dict(common).items()), tuple(sorted(quantiles)))
    distribution = of_property(statistics, distinct, "number")
    assert distribution is not None
    cells = distribution.cells(sorted(points))
    assert len(cells) == 2 * len(points) + 1
    assert min(cells) >= 0
    assert sum(cells) == pytest.approx(1 - nulls)


def distribution_of(values: Sequence[float]) -> Distribution:
    count = len(values)
    columns: dict[str, Any] = {"src": [0] * count, "trg": [0] * count, "label": ["a"] * count}
    columns |= {"ts": list(range(count)), "p": pa.array(values)}
    statistics = measure([pa.RecordBatch.from_pydict(columns)]).statistics["a"]
    distribution = of_property(
        statistics.properties["p"], statistics.distinct_properties["p"], "integer"
    )
    assert distribution is not None
    return distribution


@pytest.mark.parametrize("kind", ["few", "uniform", "zipf"])
def test_estimates_are_near_the_shares_of_data(kind: str) -> None:
    """Exact for few values; else off by at most a part of the quantiles, and an error of ranks."""
    dice = np.random.default_rng(11)
    make: dict[str, Callable[[], np.ndarray[tuple[int], np.dtype[np.int64]]]] = {
        "few": lambda: dice.integers(0, 10, 20_000),
        "uniform": lambda: dice.integers(0, 10_000, 20_000),
        "zipf": lambda: np.minimum(dice.zipf(1.5, 20_000), 10**6),
    }
    values = make[kind]()
    columns = (Column(distribution=distribution_of(values.tolist())),)
    error = 1e-5 if kind == "few" else 0.04
    for point in (1, 2, 5, 9, 100, 4_000, 9_000):
        for sign, exact in (
            ("=", np.mean(values == point)),
            ("<", np.mean(values < point)),
            (">=", np.mean(values >= point)),
        ):
            assert shares(f"c0 {sign} {point}", columns)[0] == pytest.approx(exact, abs=error)

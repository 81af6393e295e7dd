"""The oracle's deviations and percentiles are those of DuckDB."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.conditions import Vert
from tests.oracles.roots import Agg, aggregated
from tests.strategies.amount import examples

duckdb = pytest.importorskip("duckdb")


@given(
    values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=30),
    percentile=st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0]),
)
@examples(60)
def test_deviations_and_percentiles_are_those_of_duckdb(
    values: list[int], percentile: float
) -> None:
    v = Vert("v")
    calls = (
        *(Agg("stddev", v), Agg("stddev_pop", v)),
        *(Agg(f, v, percentile=percentile) for f in ("percentile_cont", "percentile_disc")),
    )
    ((deviation, of_all, between, nearest),) = aggregated([calls], [[{"v": x} for x in values]])
    row = duckdb.execute(
        "SELECT stddev_samp(v), stddev_pop(v), "
        f"percentile_cont({percentile}) WITHIN GROUP (ORDER BY v), "
        f"percentile_disc({percentile}) WITHIN GROUP (ORDER BY v) FROM unnest(?) AS of(v)",
        [values],
    ).fetchone()
    assert row is not None
    assert row[:3] == pytest.approx((deviation, of_all, between))
    assert row[3] == nearest

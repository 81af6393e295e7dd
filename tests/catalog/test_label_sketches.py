"""Frequent values, quantiles, rates over time and joint statistics, against exact ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog import Stream, measure
from headrace.catalog.joint import MOST_JOINT, joint_of
from headrace.catalog.label_sketches import MOST_COMMON, MOST_FREQUENT, PARTS, QUANTILES
from headrace.catalog.sketch import COUNTERS, SAMPLED, RowSample, Sketch, hashes_of

Edge = tuple[int, int, str, int]


def batch(edges: Sequence[Edge], **properties: Any) -> pa.RecordBatch:
    src, trg, label, ts = zip(*edges, strict=True)
    columns: dict[str, Any] = {"src": src, "trg": trg, "label": label, "ts": ts}
    return pa.RecordBatch.from_pydict({**columns, **properties})


def sketch_of(values: np.ndarray[tuple[int], np.dtype[np.int64]], kept: int) -> Sketch:
    sketch = Sketch(kept)
    for part in np.array_split(values, 20):
        sketch.add(hashes_of(pa.array(part)))
    return sketch


vertices = st.integers(0, 6)
edge_lists = st.lists(
    st.tuples(vertices, vertices, st.sampled_from("kl"), st.integers(0, 500)), min_size=1
)


@given(edge_lists)
def test_joint_statistics_equal_exact_ones_without_overflow(edges: list[Edge]) -> None:
    measured = measure([batch(edges)])
    stream = Stream("s", measured.statistics, vertex_type="integer")
    degrees: dict[tuple[str, str], Counter[int]] = {}
    for src, trg, label, _ in edges:
        degrees.setdefault((label, "src"), Counter())[src] += 1
        degrees.setdefault((label, "trg"), Counter())[trg] += 1
    joint = joint_of([stream], {"s": measured.ends})
    assert len(joint) == len(degrees) * (len(degrees) + 1) // 2
    for one in joint:
        left, right = degrees[one.left[1:]], degrees[one.right[1:]]
        meeting = sum(left[vertex] * right[vertex] for vertex in left)
        pairs = left.total() * right.total()
        assert one.selectivity == pytest.approx(max(meeting, 0.5) / pairs, rel=1e-3)
        assert one.shared == len(left.keys() & right.keys())


@pytest.mark.parametrize(
    ("exponent", "kept", "error"),
    [(0.0, 1 << 12, 0.15), (1.2, 1 << 12, 0.05), (2.0, 1 << 12, 0.01), (0.8, 1 << 17, 0.05)],
)
def test_joint_statistics_of_many_vertices_have_a_small_error(
    exponent: float, kept: int, error: float
) -> None:
    """Of uniform and of Zipf degrees, where one vertex in 16, or in four, is compared."""
    dice = np.random.default_rng(5)
    weights = 1 / np.arange(1, 65_537) ** exponent
    cumulative = np.cumsum(weights / weights.sum())
    left, right = (np.searchsorted(cumulative, dice.random(300_000)) for _ in "lr")
    one, other = sketch_of(left, kept), sketch_of(right, kept)
    exact = np.bincount(left, minlength=65_537) @ np.bincount(right, minlength=65_537)
    product, shared = one.degrees().compared(other.degrees())
    assert product == pytest.approx(exact, rel=error)
    assert shared == pytest.approx(len(np.intersect1d(left, right)), rel=0.1)


def test_streams_are_compared_only_with_vertices_of_one_type() -> None:
    ends = measure([batch([(1, 2, "a", 0)])]).ends
    statistics = measure([batch([(1, 2, "a", 0)])]).statistics
    one = Stream("one", statistics, vertex_type="integer")
    text = Stream("text", statistics)
    persons = Stream("persons", statistics, vertex_type="integer", vertices=True)
    joint = joint_of([one, text, persons], dict.fromkeys(("one", "text", "persons"), ends))
    pairs = {(j.left[0], j.right[0]) for j in joint}
    assert pairs == {("one", "one"), ("one", "persons"), ("persons", "persons"), ("text", "text")}
    assert all(end[2] == "src" for j in joint for end in (j.left, j.right) if end[0] == "persons")


def test_joint_statistics_are_those_of_the_most_frequent_labels() -> None:
    edges = [(k, k, f"l{k % 20:02}", k) for k in range(200)]
    edges += [(1, 1, f"l{k:02}", 1) for k in range(MOST_JOINT)]
    measured = measure([batch(edges)])
    joint = joint_of([Stream("s", measured.statistics)], {"s": measured.ends})
    assert {one.left[1] for one in joint} == {f"l{k:02}" for k in range(MOST_JOINT)}


def test_frequent_vertices_of_zipf_degrees_have_their_shares() -> None:
    """Also if the sketch overflows, since counters find the values that the sample lacks."""
    dice = np.random.default_rng(7)
    values = dice.zipf(1.3, 400_000) % (1 << 40)
    sketch = sketch_of(values, 1 << 10)
    assert sketch.distinct > 1 << 12
    exact = Counter(values.tolist())
    top = [value for value, _ in exact.most_common(10)]
    hashes, counts = sketch.most_frequent(10)
    expected = hashes_of(pa.array(top)).tolist()
    assert set(hashes.tolist()) == set(expected)
    for key, count in zip(hashes.tolist(), counts.tolist(), strict=True):
        true = exact[top[expected.index(key)]]
        assert true - len(values) / COUNTERS <= count <= true


def test_listed_values_quantiles_and_nulls() -> None:
    dice = np.random.default_rng(3)
    count = 100_000
    amount = dice.permutation(np.arange(count)) / 10
    edges = [(k % 50, k % 7, "a", k) for k in range(count)]
    rating = pa.array([None if k % 4 == 0 else k % 5 for k in range(count)])
    name = pa.array([f"n{k % 5_000:04}" if k % 2 else "usual" for k in range(count)])
    properties: dict[str, Any] = {"amount": pa.array(amount), "rating": rating, "name": name}
    parts = [
        batch(edges[k : k + 10_000], **{n: c.slice(k, 10_000) for n, c in properties.items()})
        for k in range(0, count, 10_000)
    ]
    statistics = measure(parts).statistics["a"]
    assert dict(statistics.frequent_trg) == pytest.approx(
        dict.fromkeys(map(str, range(7)), 1 / 7), rel=1e-3
    )
    assert len(statistics.frequent_src) <= MOST_FREQUENT
    of_rating = statistics.properties["rating"]
    assert of_rating.nulls == 0.25
    assert dict(of_rating.common) == pytest.approx(dict.fromkeys(range(5), 0.15))
    assert of_rating.quantiles == ()  # all values are listed
    of_amount = statistics.properties["amount"]
    assert of_amount.common == ()
    expected = np.linspace(0, count / 10, QUANTILES + 1)
    assert of_amount.quantiles == pytest.approx(expected, abs=0.03 * count / 10)
    of_name = statistics.properties["name"]
    assert of_name.common == (("usual", 0.5),)
    assert list(of_name.quantiles) == sorted(of_name.quantiles)
    assert measure(parts).statistics["a"].properties == statistics.properties


def test_values_that_no_document_can_hold_are_not_listed() -> None:
    values = pa.array([float("inf"), 1.0, 1.0, 2.5])
    texts = pa.array(["x" * 1000] * 3 + ["y"])
    edges = [(k, k, "a", k) for k in range(4)]
    properties = measure([batch(edges, w=values, t=texts)]).statistics["a"].properties
    assert properties["w"].common == ((1.0, 0.5), (2.5, 0.25))
    assert properties["w"].quantiles[-1] == 2.5
    assert properties["t"].common == (("y", 0.25),)
    assert len(str(properties["t"].quantiles[0])) < 1000


@given(st.lists(st.lists(st.integers(0, 10**9), min_size=1), min_size=1, max_size=5))
def test_rates_over_time_count_every_edge(groups: list[list[int]]) -> None:
    times = [time for group in groups for time in group]
    batches = [batch([(1, 2, "a", time) for time in group]) for group in groups]
    rates = measure(batches).statistics["a"].rates
    assert rates is not None
    assert 1 <= len(rates.rates) <= PARTS
    assert rates.start <= min(times) < rates.start + rates.part
    assert max(times) < rates.start + rates.part * len(rates.rates)
    assert rates.edges == pytest.approx(len(times), rel=1e-3)
    busiest = max(Counter(time // rates.part for time in times).values())
    assert rates.peak == pytest.approx(busiest / rates.part, rel=1e-3)


def test_a_row_sample_is_uniform_and_bounded() -> None:
    sample = RowSample()
    for start in range(0, 200_000, 5_000):
        sample.add(pa.array(np.arange(start, start + 5_000)))
        assert len(sample._priorities) <= 2 * SAMPLED
    values = sample.values.to_numpy()
    assert len(set(values.tolist())) == SAMPLED
    assert np.mean(values) == pytest.approx(100_000, rel=5 / np.sqrt(12 * SAMPLED))


def test_sketches_of_many_values_are_bounded() -> None:
    sketch = Sketch(1 << 8)
    for start in range(0, 100_000, 5_000):
        sketch.add(hashes_of(pa.array(np.arange(start, start + 5_000))))
    assert len(sketch._hashes) == 1 << 8
    assert len(sketch._frequent[0]) <= COUNTERS
    assert len(sketch.most_frequent(MOST_COMMON)[0]) <= MOST_COMMON

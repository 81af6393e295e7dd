"""Joins and repeated edges by joint statistics, and the errors of estimates against data."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.logical import (
    AntiJoin,
    Filter,
    LeftJoin,
    Path,
    Pattern,
    Project,
    Union,
    WScan,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.catalog import Catalog, LabelStatistics, Stream, measure
from headrace.catalog.joint import joint_of
from headrace.catalog.model import End, Joint, RateHistogram
from headrace.costmodel import Characteristics, CostModel
from headrace.costmodel.joint import distinct_pairs_within

A_SRC: End = ("s", "a", "src")
A_TRG: End = ("s", "a", "trg")
B_SRC: End = ("s", "b", "src")
LABELS = {
    "a": LabelStatistics(2.0, 50.0, 40.0, 60.0, degree_skew=16.0),
    "b": LabelStatistics(4.0, 80.0, 30.0, 90.0, degree_skew=1.0),
}
JOINT = (Joint(A_TRG, B_SRC, 0.02, 35.0), Joint(B_SRC, B_SRC, 0.05, 80.0))
CATALOG = Catalog({"s": Stream("s", LABELS)}, joint=JOINT)
CHAIN = Pattern(((0, 1), (1, 2)), (0, 1, 2))
WINDOW = Window(100)


def scan(model: CostModel, label: str) -> Characteristics:
    return model.characteristics(WScan("s", label, WINDOW), ())


def selectivity(result: Characteristics, *inputs: Characteristics) -> float:
    return result.population / (inputs[0].population * inputs[1].population)


def test_a_join_of_scans_has_the_measured_selectivity() -> None:
    model = CostModel(catalog=CATALOG)
    a, b = scan(model, "a"), scan(model, "b")
    joined = model.characteristics(CHAIN, (a, b))
    assert selectivity(joined, a, b) == pytest.approx(0.02)
    assert joined.distinct == (50.0, 35.0, 30.0)
    turned = model.characteristics(Pattern(((1, 2), (0, 1)), (0, 1, 2)), (b, a))
    assert selectivity(turned, a, b) == pytest.approx(0.02)


def test_columns_keep_their_ends_through_operators() -> None:
    model = CostModel(catalog=CATALOG)
    a, b = scan(model, "a"), scan(model, "b")
    filtered = model.characteristics(Filter(Predicate("c0 = 'x'")), (a,))
    assert filtered.columns[0] is None
    turned = model.characteristics(Project((1, 0)), (filtered,))
    joined = model.characteristics(Pattern(((1, 0), (1, 2)), (0, 1, 2)), (turned, b))
    assert selectivity(joined, turned, b) == pytest.approx(0.02)
    further = model.characteristics(Pattern(((0, 1, 2), (1, 3)), (0, 1, 2, 3)), (joined, b))
    # Column 1 still is an end of a: a vertex of a meets 0.02 of the edges of b.
    assert selectivity(further, joined, b) == pytest.approx(0.02)


def test_a_union_has_the_mean_selectivity_of_its_inputs() -> None:
    model = CostModel(catalog=CATALOG)
    a, b = scan(model, "a"), scan(model, "b")
    turned = model.characteristics(Project((1, 0)), (a,))
    union = model.characteristics(Union(), (turned, b))
    joined = model.characteristics(Pattern(((0, 1), (0, 2)), (0, 1, 2)), (union, b))
    mean = (a.population * 0.02 + b.population * 0.05) / (a.population + b.population)
    assert selectivity(joined, union, b) == pytest.approx(mean)


def test_closures_continue_edges_by_the_measured_selectivity() -> None:
    """Hubs at both ends continue more edges than System R's rule says, over fewer vertices."""
    plus = Path(regex.plus(regex.Symbol(0)))
    edges = {"a": replace(LABELS["a"], rate=0.2, distinct_src=500.0, distinct_trg=500.0)}

    def closure(selectivity: float, rate: float = 0.2) -> Characteristics:
        joint = (Joint(A_TRG, A_SRC, selectivity, 500.0),)
        streams = {"s": Stream("s", {"a": replace(edges["a"], rate=rate)})}
        model = CostModel(catalog=Catalog(streams, joint=joint))
        return model.characteristics(plus, (scan(model, "a"),))

    steps = sum(20 * (0.02 * 20) ** i for i in range(10))
    assert closure(0.02).population == pytest.approx(steps)
    assert closure(0.002).population < closure(0.02).population
    # Of 200 edges each is continued by 4: the giant component is one of 50 vertices.
    assert closure(0.02, rate=2.0).population < 50**2
    # Of 60 edges each is continued by 1.2 by the measured degrees, of which hubs count most, and by
    # 0.12 by uniform ones: no giant component, and the sum of formula 7 at the threshold.
    assert closure(0.02, rate=0.6).population == pytest.approx(60 * 10)


def test_without_joint_statistics_the_skew_of_degrees_counts() -> None:
    model = CostModel(catalog=replace(CATALOG, joint=()))
    a, b = scan(model, "a"), scan(model, "b")
    joined = model.characteristics(CHAIN, (a, b))
    assert selectivity(joined, a, b) == pytest.approx(16**0.25 / 80)
    without = {name: replace(one, degree_skew=None) for name, one in LABELS.items()}
    plain = CostModel(catalog=Catalog({"s": Stream("s", without)}))
    a, b = scan(plain, "a"), scan(plain, "b")
    assert a.columns == b.columns == ()
    assert selectivity(plain.characteristics(CHAIN, (a, b)), a, b) == pytest.approx(1 / 80)


def test_the_model_of_the_thesis_reads_no_measured_distributions() -> None:
    frequent = {n: replace(s, frequent_src=(("x", 0.5),)) for n, s in LABELS.items()}
    measured = CostModel("thesis", replace(CATALOG, streams={"s": Stream("s", frequent)}))
    plain = CostModel("thesis", Catalog({"s": Stream("s", LABELS)}))
    filtered = WScan("s", "a", WINDOW, Predicate("c0 = 'x'"))
    for model in (measured, plain):
        a, b = scan(model, "a"), scan(model, "b")
        assert a == Characteristics(2.0, 100.0, 200.0, (50.0, 40.0), None, 60.0)
        assert selectivity(model.characteristics(CHAIN, (a, b)), a, b) == pytest.approx(1 / 80)
        assert model.characteristics(filtered, ()).population == pytest.approx(200 / 50)


def test_scan_predicates_on_frequent_vertices() -> None:
    labels = {"a": replace(LABELS["a"], frequent_src=(("hub", 0.1),))}
    model = CostModel(catalog=Catalog({"s": Stream("s", labels)}))
    for name, share in (("hub", 0.1), ("other", 0.9 / 49)):
        filtered = WScan("s", "a", WINDOW, Predicate(f"c0 = '{name}'"))
        assert model.characteristics(filtered, ()).population == pytest.approx(200 * share)


def of_repeats(edges: float, pairs: float) -> LabelStatistics:
    rates = RateHistogram(0, 100, (edges / 100,))
    return LabelStatistics(1.0, pairs, pairs, pairs, distinct_pairs=pairs, rates=rates)


def test_repeated_edges_count_once_in_a_join() -> None:
    """Ten pairs told a thousand times: at most ten of them are valid at an instant."""
    labels = {"a": of_repeats(10_000, 10), "b": of_repeats(10_000, 9_999)}
    model = CostModel(catalog=Catalog({"s": Stream("s", labels)}))
    a, b = scan(model, "a"), scan(model, "b")
    assert (a.population, b.population) == (100, 100)
    assert a.most_values == pytest.approx(10, rel=1e-3)
    assert b.most_values == inf
    joined = model.characteristics(CHAIN, (a, b))
    assert joined.population == pytest.approx(10 * 100 / 9_999, rel=1e-3)
    with_property = WScan("s", "a", WINDOW, properties=("ts",))
    assert model.characteristics(with_property, ()).most_values == inf


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 1e7))
def test_distinct_pairs_within_a_window_are_between_their_limits(
    pairs: int, repeats: int, edges: float
) -> None:
    statistics = of_repeats(float(pairs * repeats), float(pairs))
    within = distinct_pairs_within(statistics, edges)
    assert within >= 1
    assert within <= max(edges, 1) * (1 + 1e-9) or within == inf
    if within < inf:
        same = distinct_pairs_within(statistics, float(pairs * repeats))
        assert same == pytest.approx(pairs, rel=1e-3)


def test_distinct_pairs_of_random_edges_are_near_the_counts() -> None:
    dice = np.random.default_rng(3)
    drawn = dice.integers(0, 5_000, 20_000)
    statistics = of_repeats(20_000.0, float(len(set(drawn.tolist()))))
    for edges in (100, 1_000, 5_000):
        exact = np.mean([len(set(drawn[k : k + edges].tolist())) for k in range(0, 15_000, 500)])
        assert distinct_pairs_within(statistics, edges) == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.1])
def test_estimated_joins_in_windows_are_near_the_counts(exponent: float) -> None:
    """Two labels with the same hubs, whose edges are mixed at all times."""
    dice = np.random.default_rng(9)
    weights = 1 / np.arange(1, 2_001) ** exponent
    weights /= weights.sum()
    count, length = 20_000, 2_000
    ends = {label: dice.choice(2_000, count, p=weights) for label in "ab"}
    other = {label: dice.integers(0, 2_000, count) for label in "ab"}
    edges: dict[str, Any] = {
        "src": np.concatenate([other["a"], ends["b"]]),
        "trg": np.concatenate([ends["a"], other["b"]]),
        "label": ["a"] * count + ["b"] * count,
        "ts": np.tile(np.arange(count), 2),
    }
    measured = measure([pa.RecordBatch.from_pydict(edges)])
    stream = Stream("s", measured.statistics, vertex_type="integer")
    joint = joint_of([stream], {"s": measured.ends})
    model = CostModel(catalog=Catalog({"s": stream}, joint=joint))
    a, b = (model.characteristics(WScan("s", n, Window(length)), ()) for n in "ab")
    exact = np.mean(
        [
            sum(
                times * Counter(ends["b"][k : k + length].tolist())[vertex]
                for vertex, times in Counter(ends["a"][k : k + length].tolist()).items()
            )
            for k in range(0, count - length, 4_000)
        ]
    )
    assert model.characteristics(CHAIN, (a, b)).population == pytest.approx(exact, rel=0.15)


def of_ends(edges: dict[str, Any], count: int) -> CostModel:
    """A model with measured ends: ``a`` has the targets given, ``b`` the sources."""
    dice = np.random.default_rng(9)
    rows: dict[str, Any] = {
        "src": np.concatenate([dice.integers(0, 10**6, count), edges["b"]]),
        "trg": np.concatenate([edges["a"], dice.integers(0, 10**6, count)]),
        "label": ["a"] * count + ["b"] * count,
        "ts": np.tile(np.arange(count), 2),
    }
    measured = measure([pa.RecordBatch.from_pydict(rows)])
    stream = Stream("s", measured.statistics, vertex_type="integer")
    joint = joint_of([stream], {"s": measured.ends})
    return CostModel(catalog=Catalog({"s": stream}, joint=joint))


def unmatched(model: CostModel, length: int) -> tuple[Characteristics, Characteristics]:
    """The scan of ``a``, and its rows whose target is no source of ``b``."""
    a, b = (model.characteristics(WScan("s", n, Window(length)), ()) for n in "ab")
    keys = model.characteristics(Project((0,)), (b,))
    return a, model.characteristics(AntiJoin.on(2, (1,)), (a, keys))


@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("apart", [0, 1_000])
def test_estimated_anti_joins_in_windows_are_near_the_counts(exponent: float, apart: int) -> None:
    """The ends of ``a`` and ``b`` have the same hubs, or half of their vertices in common."""
    dice = np.random.default_rng(9)
    weights = 1 / np.arange(1, 2_001) ** exponent
    weights /= weights.sum()
    count, length = 20_000, 2_000
    vertices = dice.permutation(2_000)
    a = vertices[dice.choice(2_000, count, p=weights)]
    b = vertices[dice.choice(2_000, count, p=weights)] + apart
    scan_of_a, alone = unmatched(of_ends({"a": a, "b": b}, count), length)
    starts = range(0, count - length, 4_000)
    exact = np.mean(
        [np.isin(a[k : k + length], b[k : k + length], invert=True).mean() for k in starts]
    )
    assert alone.population / scan_of_a.population == pytest.approx(exact, rel=0.25)


def test_rows_whose_keys_never_meet_are_all_unmatched() -> None:
    dice = np.random.default_rng(2)
    ends = {"a": dice.integers(0, 50, 1_000), "b": dice.integers(50, 100, 1_000)}
    a, alone = unmatched(of_ends(ends, 1_000), 400)
    assert alone.population > 0.95 * a.population
    b = of_ends(ends, 1_000).characteristics(WScan("s", "b", Window(400)), ())
    left = of_ends(ends, 1_000).characteristics(LeftJoin(((0, 1), (1, 2))), (a, b))
    assert left.population == pytest.approx(a.population, rel=0.05)


def test_without_statistics_the_keys_of_one_input_contain_those_of_the_other() -> None:
    rows = Characteristics(10.0, 10.0, 100.0, (200.0, 50.0))
    for keys, share in ((25.0, 0.5), (50.0, 1.0)):
        of_right = Characteristics(1.0, keys, keys, (50.0,))
        result = CostModel().characteristics(AntiJoin.on(2, (1,)), (rows, of_right))
        assert result.population == pytest.approx(100 * (1 - share), abs=1e-6)
    result = CostModel().characteristics(AntiJoin.on(2, (0,)), (rows, of_right))
    assert result.population == pytest.approx(75.0), "50 of 200 values"

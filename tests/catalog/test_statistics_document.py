"""The documents of measured statistics: round trips, and errors with their place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from headrace.catalog import Catalog, CatalogError, LabelStatistics, Stream, dumps, loads
from headrace.catalog.model import End, Joint, PropertyStatistics, RateHistogram
from headrace.catalog.statistics_document import MOST_ENTRIES

shares = st.floats(0, 0.1, exclude_min=True)
texts = st.text(max_size=5)
finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(texts, st.booleans(), st.integers(-(2**63), 2**63 - 1), finite)
frequent_values = st.lists(st.tuples(values, shares), max_size=8).map(tuple)
frequent_vertices = st.lists(st.tuples(texts, shares), max_size=8).map(tuple)
quantiles = st.one_of(
    st.lists(st.one_of(st.integers(-100, 100), finite), min_size=2, max_size=9),
    st.lists(texts, min_size=2, max_size=9),
).map(lambda some: tuple(sorted(some)))
distributions = st.builds(PropertyStatistics, shares, frequent_values, quantiles)
rates = st.builds(
    RateHistogram,
    st.integers(-(2**40), 2**40),
    st.integers(1, 2**40),
    st.lists(st.floats(0, 1e9), min_size=1, max_size=9).map(tuple),
)
statistics = st.builds(
    LabelStatistics,
    rate=st.floats(0, 1e9),
    distinct_src=st.just(3.0),
    distinct_trg=st.just(4.0),
    vertices=st.just(5.0),
    rates=st.none() | rates,
    frequent_src=frequent_vertices,
    frequent_trg=frequent_vertices,
    properties=st.dictionaries(st.sampled_from("pq"), distributions).map(MappingProxyType),
)
ENDS: tuple[End, ...] = (("s", "a", "src"), ("s", "a", "trg"), ("t", "b", "src"))
joint = st.lists(
    st.builds(
        Joint, st.sampled_from(ENDS), st.sampled_from(ENDS), st.floats(0, 1), st.floats(0, 1e9)
    ),
    unique_by=lambda one: frozenset((one.left, one.right)),
    max_size=6,
).map(tuple)


@settings(max_examples=50)
@given(statistics, statistics, joint)
def test_catalogs_with_measured_statistics_read_as_themselves(
    one: LabelStatistics, other: LabelStatistics, joint: tuple[Joint, ...]
) -> None:
    typed: Mapping[str, PropertyType] = MappingProxyType({"p": "number", "q": "string"})
    streams = {
        "s": Stream("s", {"a": one}, properties=typed),
        "t": Stream("t", {"b": other}, properties=typed),
    }
    catalog = Catalog(streams, joint=joint)
    assert loads(dumps(catalog)) == catalog


def test_an_entry_of_joint_statistics_is_one_line() -> None:
    streams = {"s": Stream("s", {"a": LabelStatistics(1.0, 2.0, 3.0, 4.0)})}
    text = dumps(Catalog(streams, joint=(Joint(ENDS[0], ENDS[1], 0.25, 2.0),)))
    assert "- {left: [s, a, src], right: [s, a, trg], selectivity: 0.25, shared: 2}\n" in text


LABEL = (
    "streams: {s: {properties: {p: number}, labels: {a: {rate: 1, distinct_src: 1, distinct_trg: 1"
)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("frequent_src: [[x, 1.5]]", "expected at most 1"),
        ("frequent_src: [[x, 0.6], [y, 0.6]]", "shares of at most 1 in all"),
        ("frequent_trg: [x]", "frequent_trg"),
        ("properties: {p: {nulls: 0.5, common: [[1, 0.6]]}}", "at most 1 in all"),
        ("properties: {p: {quantiles: [2, 1]}}", "expected ascending values"),
        ("properties: {p: {quantiles: [1]}}", "the smallest and the largest value"),
        ("properties: {p: {quantiles: [1, b]}}", "expected all numbers, or all text"),
        ("properties: {p: {quantiles: [1, .inf]}}", "quantiles"),
        ("properties: {p: {nuls: 0}}", "did you mean nulls?"),
        ("properties: {pp: {nulls: 0}}", "not among the properties of the stream"),
        ("rates: {start: 0, part: 0, rates: [1]}", "expected at least 1"),
        ("rates: {start: 0, part: 1, rates: [-1]}", "expected at least 0"),
        (f"rates: {{start: 0, part: 1, rates: {[1] * (MOST_ENTRIES + 1)}}}", "at most"),
    ],
)
def test_errors_of_statistics_have_their_place(entry: str, message: str) -> None:
    with pytest.raises(CatalogError, match=r"streams\.s\.labels\.a") as error:
        loads(f"{LABEL}, {entry}}}}}}}}}")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("left: [ss, a, src], right: [s, a, src]", "ss is not a stream; did you mean s?"),
        ("left: [s, a, src], right: [s, aa, src]", "aa is not a label of s; did you mean a?"),
        ("left: [s, a, from], right: [s, a, src]", "expected src or trg"),
        ("left: [s, a, src], right: [t, b, src]", "different types"),
    ],
)
def test_errors_of_joint_statistics_have_their_place(entry: str, message: str) -> None:
    other = "t: {vertex_type: integer, labels: {b: {rate: 1, distinct_src: 1, distinct_trg: 1}}}"
    text = f"{LABEL}}}}}}}, {other}}}\njoint:\n- {{{entry}, selectivity: 0.5, shared: 1}}\n"
    with pytest.raises(CatalogError, match=r"catalog:3: joint\.0") as error:
        loads(text)
    assert message in str(error.value)


def test_a_pair_of_ends_is_given_once() -> None:
    line = "- {left: [s, a, src], right: [s, a, trg], selectivity: 0.5, shared: 1}\n"
    turned = "- {left: [s, a, trg], right: [s, a, src], selectivity: 0.5, shared: 1}\n"
    with pytest.raises(CatalogError, match=r"joint\.1: these two ends are given twice"):
        loads(f"{LABEL}}}}}}}}}\njoint:\n{line}{turned}")


def test_catalogs_without_the_new_statistics_are_still_read(tmp_path: Path) -> None:
    catalog = loads(f"{LABEL}, degree_skew: 2, distinct_properties: {{p: 5}}}}}}}}}}")
    statistics = catalog.streams["s"].labels["a"]
    assert (statistics.rates, statistics.frequent_src, catalog.joint) == (None, (), ())
    assert loads(dumps(catalog)) == catalog

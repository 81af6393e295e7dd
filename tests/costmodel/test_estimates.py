"""Formulas 1-7: worked numbers, laws, and the limits of the saturating model."""

from __future__ import annotations

import math
from dataclasses import replace
from math import exp, inf, isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from headrace.algebra import regex
from headrace.algebra.logical import (
    Empty,
    Filter,
    LogicalOperator,
    Path,
    Pattern,
    Project,
    Union,
    WScan,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.catalog import Catalog, LabelStatistics, Stream
from headrace.catalog.model import PropertyType
from headrace.costmodel import Assumptions, Characteristics, CostModel, CostModelError, estimates
from headrace.costmodel.characteristics import LARGEST
from headrace.costmodel.model import Kind

KINDS: tuple[Kind, ...] = ("thesis", "saturating")
UNCAPPED = Assumptions(longest_path=3, cap_distinct=False)
THESIS = CostModel("thesis", assumptions=UNCAPPED)
SATURATING = CostModel("saturating", assumptions=UNCAPPED)

A = Characteristics(2.0, 100.0, 200.0, (50.0, 40.0), vertices=60.0)
B = Characteristics(4.0, 50.0, 200.0, (80.0, 30.0), vertices=90.0)
STORED = Characteristics(0.0, inf, 1000.0, (100.0, 20.0), vertices=100.0)

CHAIN = Pattern(((0, 1), (1, 2)), (0, 2))
CROSS = Pattern(((0, 1), (2, 3)), (0, 1, 2, 3))

a, b, c, d = (regex.Symbol(i) for i in range(4))


def close(x: float, y: float) -> bool:
    return isclose(x, y, rel_tol=1e-12)


def stream(rate: float = 0.0, population: float | None = None) -> Catalog:
    label = LabelStatistics(rate, 50.0, 40.0, 60.0, population=population)
    return Catalog({"s": Stream("s", {"a": label}, stored=population is not None)})


@pytest.mark.parametrize(("kind", "validity"), [("thesis", 100.0), ("saturating", 95.5)])
def test_scan(kind: Kind, validity: float) -> None:
    model = CostModel(kind, stream(rate=2.0))
    scan = model.characteristics(WScan("s", "a", Window(100, 10)), ())
    assert scan == Characteristics(2.0, validity, 2 * validity, (50.0, 40.0), None, 60.0)


def test_scan_with_properties() -> None:
    label = LabelStatistics(2.0, 50.0, 40.0, 60.0, distinct_properties={"known": 7.0})
    types: dict[str, PropertyType] = {"known": "integer", "open": "string", "flag": "boolean"}
    catalog = Catalog({"s": Stream("s", {"a": label}, properties=types)})
    names = ("flag", "known", "open", "ts")

    def distinct(window: Window, rate: float = 2.0) -> tuple[float, ...]:
        some = Catalog({"s": Stream("s", {"a": replace(label, rate=rate)}, properties=types)})
        scan = WScan("s", "a", window, properties=names)
        return CostModel("thesis", some).characteristics(scan, ()).distinct

    assert distinct(Window(100)) == (50.0, 40.0, 2.0, 7.0, 100.0, 100.0)
    assert distinct(Window(100), rate=0.5)[-1] == 50.0
    assert distinct(Window(100), rate=0.0)[-1] == 1.0
    filtered = WScan("s", "a", Window(100), Predicate("c3 = 1"), names)
    assert CostModel("thesis", catalog).characteristics(filtered, ()).arrival_rate == 2.0 / 7


@pytest.mark.parametrize("kind", KINDS)
def test_scan_of_a_stored_graph_is_always_valid(kind: Kind) -> None:
    model = CostModel(kind, stream(population=1000.0))
    scan = model.characteristics(WScan("s", "a", None), ())
    assert scan == Characteristics(0.0, inf, 1000.0, (50.0, 40.0), None, 60.0)
    unknown = model.characteristics(WScan("s", "new", None), ())
    assert (unknown.arrival_rate, unknown.validity) == (0.0, inf)
    assert unknown.population > 1


def test_scan_of_a_label_without_statistics() -> None:
    catalog = Catalog({"s": Stream("s", {}, open_labels=True)})
    scan = CostModel("thesis", catalog).characteristics(WScan("s", "new", Window(10)), ())
    assert scan.arrival_rate > 0
    assert min(scan.distinct) > 1


def test_scan_of_an_unknown_stream_names_the_existing_ones() -> None:
    with pytest.raises(CostModelError, match=r"no stream 't' .* it has: s"):
        CostModel("thesis", stream()).characteristics(WScan("t", "a", Window(1)), ())


def test_an_unknown_kind_of_cost_model_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'saturating' or 'thesis'"):
        CostModel("guess")  # type: ignore[arg-type]  # the test passes a wrong kind


@pytest.mark.parametrize("model", [THESIS, SATURATING])
def test_filter(model: CostModel) -> None:
    out = model.characteristics(Filter(Predicate("c0 = '7'")), (A,))
    assert close(out.arrival_rate, 2.0 / 50)
    assert out.validity == 100.0
    assert close(out.population, 4.0)
    assert out.distinct == (1.0, 40.0)


@pytest.mark.parametrize("model", [THESIS, SATURATING])
def test_union(model: CostModel) -> None:
    out = model.characteristics(Union(), (A, B))
    assert out.arrival_rate == 6.0
    assert close(out.validity, (2 * 100 + 4 * 50) / 6)
    assert out.population == 400.0
    assert out.distinct == (80.0, 40.0)


def test_rows_that_repeat_others_are_no_more_different_ones() -> None:
    rows = Characteristics(2.0, 10.0, 20.0, (9.0, 9.0), most_values=15.0)
    assert rows.emitted(3.0).most_values == 15
    assert replace(rows, most_values=inf).emitted(3.0).most_values == 20
    assert rows.share(5).most_values == 3
    both = estimates.union((rows, replace(rows, most_values=inf)), SATURATING.reading)
    assert both.most_values == 15 + 20


def test_union_with_a_stored_graph() -> None:
    out = THESIS.characteristics(Union(), (A, STORED))
    assert (out.arrival_rate, out.population, out.validity) == (2.0, 1200.0, 600.0)
    both = THESIS.characteristics(Union(), (STORED, STORED))
    assert (both.arrival_rate, both.population, both.validity) == (0.0, 2000.0, inf)


def test_pattern() -> None:
    out = THESIS.characteristics(CHAIN, (A, B))
    f = 1 / max(40.0, 80.0)
    assert close(out.arrival_rate, f * 200 * 2 + f * 200 * 4)
    assert close(out.validity, 100 * 50 / 150)
    assert close(out.population, out.arrival_rate * out.validity)
    assert out.distinct == (50.0, 30.0)


def test_pattern_keeps_the_smaller_count_of_a_join_column() -> None:
    out = THESIS.characteristics(Pattern(((0, 1), (1, 2)), (1, 2, 0)), (A, B))
    assert out.distinct == (40.0, 30.0, 50.0)


def test_pattern_over_two_shared_variables() -> None:
    out = THESIS.characteristics(Pattern(((0, 1), (1, 0)), (0, 1)), (A, B))
    assert close(out.population, 200 * 200 / (max(50, 30) * max(40, 80)))
    assert out.distinct == (30.0, 40.0)


def test_cross_product() -> None:
    out = THESIS.characteristics(CROSS, (A, B))
    assert out.population == 200 * 200
    assert out.arrival_rate == 200 * 2 + 200 * 4
    assert out.distinct == (50.0, 40.0, 80.0, 30.0)


def test_pattern_with_a_stored_graph_has_its_rate_from_the_stream() -> None:
    out = THESIS.characteristics(CHAIN, (A, STORED))
    f = 1 / 100
    assert close(out.arrival_rate, f * 1000 * 2)
    assert close(out.population, f * 1000 * 200)
    assert out.validity == 100.0
    stored = THESIS.characteristics(CHAIN, (STORED, STORED))
    assert (stored.arrival_rate, stored.population) == (0.0, 1000 * 1000 / 100)
    assert stored.validity == inf


def test_many_inputs_join_from_left_to_right() -> None:
    three = Pattern(((0, 1), (1, 2), (2, 3)), (0, 3))
    at_once = THESIS.characteristics(three, (A, B, STORED))
    first = THESIS.characteristics(CHAIN, (A, B))
    assert at_once == THESIS.characteristics(CHAIN, (first, STORED))


def test_star_of_three_keeps_the_centre_until_the_last_join() -> None:
    star = Pattern(((0, 1), (0, 2), (0, 3)), (1, 3))
    pair = THESIS.characteristics(Pattern(((0, 1), (0, 2)), (0, 1)), (A, B))
    last = THESIS.characteristics(Pattern(((0, 1), (0, 2)), (1, 2)), (pair, STORED))
    assert THESIS.characteristics(star, (A, B, STORED)) == last


def test_pattern_of_one_input_projects() -> None:
    out = THESIS.characteristics(Pattern(((0, 1),), (1,)), (A,))
    assert (out.arrival_rate, out.distinct) == (2.0, (40.0,))


def test_projection() -> None:
    out = THESIS.characteristics(Project((1, 0, 1)), (A,))
    assert (out.arrival_rate, out.validity, out.population) == (2.0, 100.0, 200.0)
    assert out.distinct == (40.0, 50.0, 40.0)


def test_projection_onto_one_column_saturates() -> None:
    out = SATURATING.characteristics(Project((1, 1)), (A,))
    assert close(out.population, 40 * (1 - exp(-200 / 40)))
    assert close(out.arrival_rate, out.population / 100)
    assert out.validity == 100.0
    assert close(out.derivation_rate, 2.0)


def test_the_result_of_a_join_counts_pairs_of_several_derivations_once() -> None:
    """The join derives 100 · 200/80 = 500 pairs, drawn from 50 · 30 pairs."""
    left, right = replace(A, population=100.0, arrival_rate=1.0), B
    out = SATURATING.characteristics(CHAIN, (left, right))
    derived = THESIS.characteristics(CHAIN, (left, right))
    combinations = 50.0 * 30.0
    assert close(out.population, combinations * (1 - exp(-derived.population / combinations)))
    assert close(out.derivation_rate, derived.arrival_rate)
    assert close(out.arrival_rate * out.validity, out.population)


def test_a_join_that_keeps_its_join_column_has_no_repeats() -> None:
    out = SATURATING.characteristics(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (A, B))
    assert out.repeats == 1
    assert SATURATING.characteristics(CHAIN, (A, B)).repeats > 1.1


@pytest.mark.parametrize(
    ("edges", "output"),
    [
        ((2_000, 800), (0, 1)),
        ((2_000, 800), (0,)),
        ((500, 3_000), (0, 1)),
        ((500, 3_000), (1,)),
        ((3_000, 3_000), (0, 1)),
        ((3_000, 3_000), (1, 2)),
    ],
)
def test_joins_that_drop_a_variable_are_near_the_counts(
    edges: tuple[int, int], output: tuple[int, ...]
) -> None:
    """a(x, y), b(x, z) over uniform edges: several b of one x give the same (x, y)."""
    dice, values = np.random.default_rng(4), (1_000, 40, 300)
    counts = []
    for _ in range(10):
        a = dice.integers((values[0], values[1]), size=(edges[0], 2))
        b = dice.integers((values[0], values[2]), size=(edges[1], 2))
        joined = DataFrame({*map(tuple, a.tolist())}, columns=[0, 1]).merge(
            DataFrame({*map(tuple, b.tolist())}, columns=[0, 2])
        )
        counts.append(len(joined[list(output)].drop_duplicates()))
    left, right = (
        SATURATING.characteristics(
            Project((0, 1)), (Characteristics(n / 100, 100.0, n, (1_000.0, v)),)
        )
        for n, v in zip(edges, values[1:], strict=True)
    )
    out = SATURATING.characteristics(Pattern(((0, 1), (0, 2)), output), (left, right))
    assert out.population == pytest.approx(np.mean(counts), rel=0.05)
    assert close(out.arrival_rate * out.validity, out.population)
    whole = SATURATING.characteristics(Pattern(((0, 1), (0, 2)), (0, 1, 2)), (left, right))
    assert close(out.derivation_rate, whole.arrival_rate)


def test_thesis_has_one_rate() -> None:
    assert THESIS.characteristics(CHAIN, (A, B)).repeats == 1
    assert THESIS.characteristics(Project((1, 1)), (A,)).repeats == 1


def test_a_condition_that_no_row_satisfies_leaves_no_row() -> None:
    statistics = LabelStatistics(2.0, 10, 10, 10)
    stream = Stream("s", {"a": statistics}, properties={"p": "integer"})
    model = CostModel(catalog=Catalog({"s": stream}))
    scan = model.characteristics(WScan("s", "a", Window(100), None, ("p",)), ())
    assert scan.most_values == inf
    none = model.characteristics(Filter(Predicate("FALSE")), (scan,))
    assert (none.arrival_rate, none.population, none.most_values) == (0, 0, 1)


def test_a_filter_passes_repeats_on() -> None:
    pairs = SATURATING.characteristics(CHAIN, (A, B))
    kept = SATURATING.characteristics(Filter(Predicate("c0 = '7'")), (pairs,))
    assert kept.repeats >= pairs.repeats


def test_a_path_has_no_more_repeats_after_a_closure() -> None:
    closed = SATURATING.characteristics(Path(regex.plus(regex.concat([a, b]))), (A, B))
    assert closed.repeats == 1


@pytest.mark.parametrize("model", [THESIS, SATURATING])
def test_empty_inputs_have_empty_results(model: CostModel) -> None:
    nothing = model.characteristics(Empty(2), ())
    assert (nothing.arrival_rate, nothing.population) == (0.0, 0.0)
    for operator in (CHAIN, CROSS, Path(regex.concat([a, b])), Path(regex.plus(a))):
        out = model.characteristics(operator, (nothing, nothing))
        assert (out.arrival_rate, out.population) == (0.0, 0.0)


def test_closure_by_hand() -> None:
    out = THESIS.characteristics(Path(regex.plus(a)), (A,))
    g = 200 / 50
    rates = [1 * 2.0, 2 * 2.0 * g, 3 * 2.0 * g**2]
    assert close(out.arrival_rate, sum(rates))
    assert close(out.validity, sum(100 / i * r for i, r in enumerate(rates, 1)) / sum(rates))
    assert out.distinct == (50.0, 40.0)


def test_closure_sums_up_to_the_longest_path_of_its_input() -> None:
    longest = Characteristics(2.0, 100.0, 200.0, (500.0, 400.0), longest_path=1)
    assert THESIS.characteristics(Path(regex.plus(a)), (longest,)).arrival_rate == 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_closure_of_a_huge_relation_is_finite(kind: Kind) -> None:
    """Powers that overflow a float gave a rate that is not a number, and the search no plan."""
    huge = Characteristics(7e33, 0.05, 3e32, (15.0, 3.5))
    out = CostModel(kind).characteristics(Path(regex.plus(regex.Symbol(0))), (huge,))
    assert 0 < out.arrival_rate <= LARGEST
    assert 0 < out.validity < inf


def test_closure_levels_off_when_the_pairs_are_used_up() -> None:
    dense = Characteristics(1e3, 1e3, 1e6, (1e3, 1e3), longest_path=20)
    thesis = THESIS.characteristics(Path(regex.plus(a)), (dense,))
    saturating = SATURATING.characteristics(Path(regex.plus(a)), (dense,))
    assert thesis.population > 1e60
    assert saturating.population == 1e6
    # A pair is prolonged by each edge of its source and its target, if they expire in order.
    assert close(saturating.arrival_rate, 1e6 * 2 * sqrt(1e3) / 1e3)
    scanned = replace(dense, in_order=True)
    in_order = SATURATING.characteristics(Path(regex.plus(a)), (scanned,))
    assert close(in_order.arrival_rate, 1e6 * 2 * 1e3 / 1e3)


@pytest.mark.parametrize(("degree", "share"), [(1.0, 0.0), (1.5, 0.5828), (2.0, 0.7968)])
def test_closure_reaches_the_pairs_of_the_giant_component(degree: float, share: float) -> None:
    """The shares solve 1 - g = e^(-c·g); the pairs outside are few."""
    edges = degree * 1e6
    graph = Characteristics(edges / 100, 100.0, edges, (1e6, 1e6), longest_path=100)
    closed = SATURATING.characteristics(Path(regex.plus(a)), (graph,))
    giant = share * share * 1e12
    assert giant * (1 - 1e-3) <= closed.population <= giant * (1 + 1e-3) + 1e8
    assert close(closed.population, closed.arrival_rate * closed.validity)


def test_closure_of_short_paths_connects_no_more_pairs_than_its_powers() -> None:
    graph = Characteristics(20.0, 100.0, 2e3, (1e3, 1e3), longest_path=2)
    closed = SATURATING.characteristics(Path(regex.plus(a)), (graph,))
    assert closed.population <= 2e3 + 4e3 + 2e3
    sparse = replace(graph, arrival_rate=5.0, population=500.0, longest_path=20)
    one, other = (m.characteristics(Path(regex.plus(a)), (sparse,)) for m in (THESIS, SATURATING))
    assert close(one.population, other.population)
    assert close(one.arrival_rate, other.arrival_rate)


def test_complex_path_expression() -> None:
    """Example 15: ((a|(b·c))*·d)*, formula by formula."""
    inputs = (A, B, STORED, Characteristics(1.0, 10.0, 10.0, (20.0, 20.0)))

    def path(r: regex.Regex, *sources: Characteristics) -> Characteristics:
        return THESIS.characteristics(Path(r), sources)

    alternation = regex.alternation([a, regex.concat([b, c])])
    whole = regex.star(regex.concat([regex.star(alternation), d]))
    step1 = path(regex.concat([a, b]), inputs[1], inputs[2])
    step2 = path(regex.alternation([a, b]), inputs[0], step1)
    step3 = path(regex.star(a), step2)
    step4 = path(regex.concat([a, b]), step3, inputs[3])
    step5 = path(regex.star(a), step4)
    assert path(whole, *inputs) == step5


@pytest.mark.parametrize("model", [THESIS, SATURATING])
def test_concatenation_is_the_pattern_of_a_chain(model: CostModel) -> None:
    assert model.characteristics(Path(regex.concat([a, b])), (A, B)) == model.characteristics(
        CHAIN, (A, B)
    )


def test_an_inverse_step_swaps_source_and_target() -> None:
    backwards = Path(regex.concat([a, regex.Symbol(1, inverse=True)]))
    swapped = THESIS.characteristics(Project((1, 0)), (B,))
    assert THESIS.characteristics(backwards, (A, B)) == THESIS.characteristics(CHAIN, (A, swapped))


def test_the_empty_word_counts_only_in_the_saturating_model() -> None:
    either = regex.concat([a, regex.star(b)])
    alone = THESIS.characteristics(Path(regex.concat([a, regex.plus(b)])), (A, B))
    assert THESIS.characteristics(Path(either), (A, B)) == alone
    closed = SATURATING.characteristics(Path(regex.plus(a)), (B,))
    both = SATURATING.characteristics(CHAIN, (A, closed))
    assert SATURATING.characteristics(Path(either), (A, B)) == SATURATING.characteristics(
        Union(), (both, A)
    )
    optional = SATURATING.characteristics(
        Path(regex.concat([regex.optional(a), regex.optional(b)])), (A, B)
    )
    chain = SATURATING.characteristics(CHAIN, (A, B))
    assert close(optional.population, chain.population + A.population + B.population)


def test_distinct_counts_are_capped_by_the_population() -> None:
    few = Characteristics(1.0, 5.0, 5.0, (1000.0, 1000.0))
    capped = CostModel("thesis")
    uncapped = CostModel("thesis", assumptions=Assumptions(cap_distinct=False))
    assert capped.characteristics(Project((0, 1)), (few,)).distinct == (5.0, 5.0)
    assert uncapped.characteristics(Project((0, 1)), (few,)).distinct == (1000.0, 1000.0)


def test_saturating_keeps_the_domain_of_a_column_of_few_rows() -> None:
    """The five valid sources are any of a thousand vertices, so few targets are sources."""
    few = Characteristics(1.0, 5.0, 5.0, (1000.0, 1000.0))
    passed = CostModel("saturating").characteristics(Project((0, 1)), (few,))
    assert passed.distinct == (1000.0, 1000.0)
    plus = Path(regex.plus(a))
    closure = CostModel("saturating").characteristics(plus, (passed,))
    assert closure.population == pytest.approx(5.0, rel=0.01)


def test_results_inherit_longest_paths_and_vertices_of_inputs() -> None:
    known = Characteristics(1.0, 1.0, 1.0, (50.0, 50.0), longest_path=4, vertices=70.0)
    out = THESIS.characteristics(CHAIN, (known, A))
    assert out.longest_path == 4
    assert out.vertices == 70.0


counts = st.just(0.0) | st.floats(1e-6, 1e12) | st.floats(1e12, 1e90)
rates = st.just(0.0) | st.floats(1e-9, 1e9) | st.floats(1e9, 1e80)
some_distinct = st.floats(0, 1e9)


@st.composite
def relations(draw: st.DrawFn) -> Characteristics:
    distinct = (draw(some_distinct), draw(some_distinct))
    if draw(st.booleans()):
        return Characteristics(0.0, inf, draw(counts), distinct)
    rate, validity = draw(rates), draw(st.floats(1, 1e9))
    return Characteristics(
        rate, validity, rate * validity, distinct, draw(st.none() | st.integers(1, 30))
    )


REGEXES = st.recursive(
    st.builds(regex.Symbol, st.integers(0, 1), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(regex.concat),
        st.lists(inner, min_size=2, max_size=3).map(regex.alternation),
        inner.map(regex.star),
        inner.map(regex.plus),
        inner.map(regex.optional),
    ),
    max_leaves=6,
)
OPERATORS: st.SearchStrategy[LogicalOperator] = st.one_of(
    st.builds(Path, REGEXES),
    st.sampled_from(
        [
            CHAIN,
            CROSS,
            Pattern(((0, 1), (1, 0)), (0,)),
            Pattern(((0, 1), (0, 2)), (1, 2)),
            Union(),
            Filter(Predicate("c0 = c1 AND c0 <> 'x'")),
            Project((1,)),
        ]
    ),
)


@given(OPERATORS, relations(), relations(), st.sampled_from(KINDS), st.booleans())
def test_estimates_are_finite_and_never_negative(
    operator: LogicalOperator,
    left: Characteristics,
    right: Characteristics,
    kind: Kind,
    cap: bool,
) -> None:
    model = CostModel(kind, assumptions=Assumptions(cap_distinct=cap))
    out = model.characteristics(operator, (left, right))
    for number in (out.arrival_rate, out.population, *out.distinct):
        assert 0 <= number <= LARGEST
    assert out.validity >= 0
    assert not math.isnan(out.validity)
    if out.arrival_rate > 0 and out.population < LARGEST and out.arrival_rate < LARGEST:
        assert out.validity < inf
        assert isclose(
            out.population, out.arrival_rate * out.validity, rel_tol=1e-6, abs_tol=1e-300
        )


@given(OPERATORS, relations(), relations())
def test_saturating_never_exceeds_the_combinations_of_distinct_values(
    operator: LogicalOperator, left: Characteristics, right: Characteristics
) -> None:
    # A leaf may hold parallel edges; projected, it is a set of pairs as every result is.
    inputs = tuple(SATURATING.characteristics(Project((0, 1)), (i,)) for i in (left, right))
    thesis = THESIS.characteristics(operator, inputs)
    out = SATURATING.characteristics(operator, inputs)
    assert out.population <= math.prod(max(v, 1.0) for v in out.distinct) * (1 + 1e-9)
    if not isinstance(operator, Path):  # where the empty word counts, it adds rows
        assert out.population <= thesis.population * (1 + 1e-9)


@given(relations(), relations(), st.sampled_from(KINDS))
def test_commuting_a_pattern_changes_no_bit(
    left: Characteristics, right: Characteristics, kind: Kind
) -> None:
    model = CostModel(kind)
    one = model.characteristics(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (left, right))
    other = model.characteristics(Pattern(((0, 1), (2, 0)), (2, 0, 1)), (right, left))
    assert one == other


# --- vertices -------------------------------------------------------------------------


def vertices(rate: float, population: float | None = None) -> CostModel:
    """Likes of 50 of 80 people, where the people are a stream or a stored graph."""
    likes = LabelStatistics(2.0, 50.0, 40.0, 60.0)
    people = LabelStatistics(rate, 80.0, 80.0, 80.0, population=population)
    streams = {
        "s": Stream("s", {"likes": likes}),
        "v": Stream("v", {"Person": people}, stored=population is not None, vertices=True),
    }
    return CostModel("saturating", Catalog(streams), assumptions=UNCAPPED)


@pytest.mark.parametrize(
    ("model", "window", "people"),
    [
        (vertices(0.0, 80.0), None, 80.0),
        (vertices(0.4), Window(100), 40.0),
        (vertices(3.0), Window(100), 80.0),
    ],
    ids=["stored", "half of them told", "told again and again"],
)
def test_a_vertex_atom_keeps_its_share_of_the_edges(
    model: CostModel, window: Window | None, people: float
) -> None:
    """Containment: everyone who likes is one of the people, of whom a population is valid."""
    edges = model.characteristics(WScan("s", "likes", Window(100)), ())
    tested = model.characteristics(WScan("v", "Person", window), ())
    one = model.characteristics(Project((0,)), (tested,))
    for binding, of_vertices in (((0,), one), ((0, 2), tested)):
        join = Pattern(((0, 1), binding), (0, 1))
        found = model.characteristics(join, (edges, of_vertices))
        assert close(found.population, edges.population * people / 80)

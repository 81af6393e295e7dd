"""Formulas 8-12: worked numbers, shapes that the thesis measured, and explanations."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from math import inf, isclose, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import physical, regex
from headrace.algebra.aggregates import Function
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.logical import BoundPath, Path, Pattern
from headrace.algebra.predicate import Predicate
from headrace.catalog import default_catalog
from headrace.costmodel import COSTS, Assumptions, Characteristics, Constants, CostModel, formulas
from headrace.costmodel.model import Kind
from headrace.costmodel.operator_costs import row_width
from headrace.costmodel.path_costs import minimal_states, path_inputs
from headrace.costmodel.tree_nodes import tree_nodes

C = Constants(
    push=2, evaluate=3, hash_update=5, hash_probe=7, queue_update=11, queue_probe=13, network=17
)
MODEL = CostModel("thesis", constants=C)
OUT = Characteristics(10.0, 20.0, 200.0, (5.0, 5.0))
A = Characteristics(2.0, 64.0, 128.0, (50.0, 40.0), vertices=60.0)
B = Characteristics(4.0, 8.0, 32.0, (80.0, 30.0), vertices=90.0)

a, b, c, d = (regex.Symbol(i) for i in range(4))
JOIN = physical.HashJoin(((0, 1), (1, 2)), (0, 2))
FILTER = physical.FilterRows("c0 = '1'")


def pair_path(r: regex.Regex) -> physical.PairPath:
    path = s_path(r)
    return physical.PairPath(path.states, path.transitions, path.accepting)


def s_path(r: regex.Regex) -> physical.SPath:
    dfa = minimal_dfa(regex.nonempty(r)).with_fresh_start()
    return physical.SPath(dfa.states, dfa.transitions, dfa.accepting)


def test_scan_union_and_projection_pay_per_result_row() -> None:
    for operator in (
        physical.WindowScan("s", "a", 10, 1),
        physical.MergeUnion(),
        physical.ProjectColumns((0,)),
    ):
        assert MODEL.cost(operator, OUT, ()) == 10 * 2


def test_filter() -> None:
    assert MODEL.cost(FILTER, OUT, (A,)) == 2 * 3 + 10 * 2


def test_empty_costs_nothing() -> None:
    assert MODEL.cost(physical.EmptyRelation(2), OUT, ()) == 0


def test_pattern() -> None:
    keep_a, keep_b = 5 + 11 * 7, 5 + 11 * 5  # log 128 = 7, log 32 = 5
    expected = 2 * (keep_a + 7 + keep_b) + 4 * (keep_b + 7 + keep_a) + 10 * 2
    assert MODEL.cost(JOIN, OUT, (A, B)) == expected


def test_path() -> None:
    # n: the largest domain has 90 vertices, 160 valid edges have no more than 320.
    n, k = 90.0, 2
    insertion = 7 * n * k**2 + 11 * n * k * log2(n * k) + 5 * k
    expiration = 7 * n**2 * k + 13 * n * log2(n) + 11 * n * k * log2(n * k) + 5 * k
    expected = (2 + 4) * (insertion + expiration) + 10 * 2
    cost = MODEL.cost(s_path(regex.plus(regex.alternation([a, b]))), OUT, (A, B))
    assert isclose(cost, expected, rel_tol=1e-12)


def test_an_edge_that_repeats_a_valid_one_enters_no_table() -> None:
    """Of 128 valid edges 16 differ; the paths are as many either way."""
    model = CostModel("saturating", constants=C)
    path, repeated = s_path(regex.plus(a)), replace(A, most_values=16.0)
    different = model.cost(path, OUT, (A,)) - model.cost(path, OUT, (repeated,))
    assert isclose(different, (1 - 16 / 128) * (2 * 12 * 5 + 10 * 3 * 5), rel_tol=1e-12)


def test_the_states_of_a_bounded_path_hold_the_pairs_of_its_prefixes() -> None:
    model = CostModel("saturating", constants=C)
    path = s_path(regex.concat([a, b, a]))
    prefix = model.characteristics(Path(regex.concat([a, b])), (A, B))
    nodes = tree_nodes(model, path, OUT, (A, B))
    assert isclose(nodes.rate, A.arrival_rate + prefix.arrival_rate + OUT.arrival_rate)
    assert isclose(nodes.labels, A.arrival_rate + prefix.arrival_rate), "one follows each prefix"
    assert isclose(nodes.population, A.population + prefix.population + OUT.population)


def test_each_label_behind_a_node_is_looked_up() -> None:
    model = CostModel("saturating", constants=C)
    one, two = s_path(regex.plus(a)), s_path(regex.plus(regex.alternation([a, b])))
    assert tree_nodes(model, one, OUT, (A, B)).labels == OUT.arrival_rate
    assert tree_nodes(model, two, OUT, (A, B)).labels == 2 * OUT.arrival_rate
    assert model.cost(two, OUT, (A, B)) - model.cost(one, OUT, (A, B)) == 10 * 7 / 2


def test_path_of_some_sources_grows_their_share_of_the_trees() -> None:
    """One of the 50 sources of A is bound; every edge enters the state still."""
    path, n, k = s_path(regex.plus(a)), 60.0, 2
    whole = MODEL.cost(path, OUT, (A,)) - 10 * 2
    bound = MODEL.cost(replace(path, sources="c0 = 7"), OUT, (A,))
    assert path_inputs(MODEL, path, (A,)) == (2.0, n, k)
    assert isclose(bound, whole / 50 + 2 * 5 * k + 10 * 2, rel_tol=1e-12)


@pytest.mark.parametrize("sources", ["c0 = 7", "c0 < 7", None])
def test_bound_paths_have_no_more_results_and_cost_no_more(sources: str | None) -> None:
    """Of a condition, or of a relation of one source."""
    model, r = CostModel("saturating"), regex.plus(a)
    every = model.characteristics(Path(r), (A,))
    if sources is None:
        one = Characteristics(0.1, 64.0, 1.0, (1.0, 1.0))
        bound = model.characteristics(BoundPath(regex.concat([b, r])), (A, one))
        cost = model.cost(s_path(regex.concat([b, r])), bound, (A, one))
    else:
        bound = model.characteristics(BoundPath(r, sources=Predicate(sources)), (A,))
        cost = model.cost(replace(s_path(r), sources=sources), bound, (A,))
    assert bound.population < every.population
    assert bound.arrival_rate < every.arrival_rate
    assert cost < model.cost(s_path(r), every, (A,))


def test_a_path_of_pairs_pays_for_all_pairs_that_it_reaches_but_emits_its_results() -> None:
    """Over A, for the pairs of B; two states, so that a tree has one node for each pair."""
    model = CostModel("saturating", constants=C)
    path, reached = pair_path(regex.plus(a)), model.characteristics(Path(regex.plus(a)), (A,))
    edge = 4 * 7 + 12 * 5 + 2 * 13 * (1 + reached.population / 60)
    pair = 2 * (5 + 11 * log2(B.population)) + 2 * 7
    node = 2.5 * 7 + 3 * 5 + 7 / 2
    expected = 2 * edge + 4 * pair + reached.arrival_rate * (node + 7) + 10 * 2
    assert isclose(model.cost(path, OUT, (A, B)), expected, rel_tol=1e-12)


def test_a_path_of_few_pairs_costs_less_than_a_join_with_all_pairs() -> None:
    model = CostModel("saturating")
    few = Characteristics(0.1, 64.0, 6.4, (6.0, 6.0))
    every = model.characteristics(Path(regex.plus(a)), (A,))
    bound = BoundPath(regex.plus(a), pairs=True)
    of_few = model.characteristics(bound, (A, few))
    assert of_few.population < min(few.population, every.population)
    both_ends = replace(JOIN, bindings=((0, 1), (0, 1)), output=(0, 1))
    joined = model.cost(s_path(regex.plus(a)), every, (A,))
    joined += model.cost(both_ends, of_few, (few, every))
    assert model.cost(pair_path(regex.plus(a)), of_few, (A, few)) < joined


def test_coalesce() -> None:
    assert MODEL.cost(physical.Coalesce(), OUT, (A,)) == 2 * (2 * (5 + 11 * 7) + 7) + 10 * 2


def test_aggregates_pay_for_changes_trees_and_encoded_values() -> None:
    """Rates 2 and 10, 128 rows valid, so that a logarithm is 7; G = 7 + a · (7 + 5) + o · 7 · 7."""
    table = 2 * (2 * 5 + 2 * 11 * 7)
    count: tuple[Function, int | None] = ("count", None)
    least: tuple[Function, int | None] = ("min", 1)
    for calls, ordered in (((count,), 0), ((count, least), 1), ((least, least), 2)):
        aggregates = physical.AggregateRows((0,), calls, (0, 1))
        change = 7 + len(calls) * (7 + 5) + ordered * 7 * 7
        results = 10 * (len(calls) * (3 + 7) + 2)
        assert MODEL.cost(aggregates, OUT, (A,)) == 2 * (table + 2 * change) + results


def test_lists_are_written_with_each_result() -> None:
    out = replace(OUT, population=A.population / 4)
    once: tuple[Function, int | None] = ("collect_distinct", 1)
    again: tuple[Function, int | None] = ("collect", 1)
    for calls, lists in (((once,), 1), ((once, again), 2)):
        collected = physical.AggregateRows((0,), calls, (0, 1))
        compared = physical.AggregateRows((0,), (("min", 1),) * lists, (0, 1))
        more = MODEL.cost(collected, out, (A,)) - MODEL.cost(compared, out, (A,))
        assert more == pytest.approx(out.arrival_rate * lists * 4 * 3)


def test_a_deviation_is_computed_with_each_result() -> None:
    mean = physical.AggregateRows((0,), (("avg", 1),), (0, 1))
    for function in ("stddev", "stddev_pop_partial"):
        calls: tuple[tuple[Function, int | None], ...] = ((function, 1),)
        deviation = physical.AggregateRows((0,), calls, (0, 1))
        more = MODEL.cost(deviation, OUT, (A,)) - MODEL.cost(mean, OUT, (A,))
        assert more == pytest.approx(OUT.arrival_rate * 20 * 3)


def test_a_percentile_keeps_its_values_in_order() -> None:
    median = physical.AggregateRows((0,), (("percentile_disc", 1, 0.5),), (0, 1))
    least = physical.AggregateRows((0,), (("min", 1),), (0, 1))
    assert MODEL.cost(median, OUT, (A,)) == MODEL.cost(least, OUT, (A,))


def test_a_report_pays_for_rows_and_results() -> None:
    report = physical.ReportRows("snapshot", 5)
    assert MODEL.cost(report, OUT, (A,)) == 2 * (2 * (5 + 11 * 7) + 2 * 7) + 10 * (3 + 2)


def test_each_result_of_a_join_visits_a_row() -> None:
    model = CostModel(constants=C)
    twice = replace(OUT, arrival_rate=20.0)
    assert model.cost(JOIN, twice, (A, B)) - model.cost(JOIN, OUT, (A, B)) == 10 * (7 + 2)


def test_vertices_of_the_snapshot_graph() -> None:
    few = Characteristics(1.0, 4.0, 4.0, (50.0, 50.0), vertices=60.0)
    unknown = Characteristics(1.0, 900.0, 900.0, (50.0, 40.0))
    plus = s_path(regex.plus(a))
    assert path_inputs(MODEL, plus, (few,)) == (1.0, 8.0, 2)
    assert path_inputs(MODEL, plus, (A,)) == (2.0, 60.0, 2)
    assert path_inputs(MODEL, plus, (unknown,)) == (1.0, 90.0, 2)
    given_cap = CostModel("thesis", assumptions=Assumptions(vertices=10.0))
    assert path_inputs(given_cap, plus, (A,)) == (2.0, 10.0, 2)


@pytest.mark.parametrize(
    ("expression", "states"),
    [
        (regex.plus(a), 2),
        (regex.star(a), 2),
        (regex.concat([a, b]), 3),
        (regex.plus(regex.concat([a, b])), 3),
        (regex.plus(regex.concat([a, b, c])), 4),
        (regex.concat([a, regex.star(b)]), 2),
        (regex.concat([a, regex.star(b), c]), 3),
        (regex.concat([regex.star(a), b]), 2),
        (regex.concat([regex.star(regex.concat([a, b])), c]), 3),
        (regex.plus(regex.alternation([a, b, c])), 2),
    ],
)
def test_states_of_the_minimal_automaton(expression: regex.Regex, states: int) -> None:
    assert minimal_states(s_path(expression)) == states


REGEXES = st.recursive(
    st.builds(regex.Symbol, st.integers(0, 2), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(regex.concat),
        st.lists(inner, min_size=2, max_size=3).map(regex.alternation),
        inner.map(regex.star),
        inner.map(regex.plus),
        inner.map(regex.optional),
    ),
    max_leaves=7,
)


@given(REGEXES)
def test_states_are_those_of_the_language_without_the_empty_word(r: regex.Regex) -> None:
    counted = minimal_states(s_path(r))
    if not regex.nullable(regex.nonempty(r)):
        assert counted == minimal_dfa(regex.nonempty(r)).states
    else:
        # A nullable rest, as a?·b*: its own automaton accepts the empty word besides.
        assert 0 <= counted - minimal_dfa(r).states <= 1


def test_no_population_has_a_negative_logarithm() -> None:
    rare = Characteristics(0.01, 10.0, 0.1, (5.0, 5.0))
    nothing = Characteristics(0.0, inf, 0.0, (0.0, 0.0))
    assert MODEL.cost(JOIN, OUT, (rare, rare)) == 0.02 * (2 * 5 + 7) + 20
    assert MODEL.cost(JOIN, OUT, (nothing, nothing)) == 20
    assert MODEL.cost(s_path(regex.plus(a)), OUT, (nothing,)) == 20


def test_pattern_is_dearest_where_its_inputs_are_equal() -> None:
    """Figure 6.4: two rates that add up to 1000."""

    def cost(rate: float, window: float) -> float:
        inputs = tuple(
            Characteristics(r, window, r * window, (1e4, 1e4)) for r in (rate, 1000 - rate)
        )
        output = MODEL.characteristics(Pattern(((0, 1), (1, 2)), (0, 2)), inputs)
        return MODEL.cost(JOIN, output, inputs)

    for window in (10.0, 100.0):
        half = [cost(rate, window) for rate in range(100, 501, 100)]
        assert half == sorted(half)
        assert [cost(1000 - rate, window) for rate in range(100, 501, 100)] == half
    assert cost(500, 10) < cost(500, 100)


def test_path_grows_with_rate_and_window() -> None:
    """Figure 6.5: a+."""

    def cost(rate: float, window: float) -> float:
        source = Characteristics(rate, window, rate * window, (1e6, 1e6))
        output = MODEL.characteristics(Path(regex.plus(a)), (source,))
        return MODEL.cost(s_path(regex.plus(a)), output, (source,))

    rates = [cost(rate, 100) for rate in (10, 100, 1000)]
    windows = [cost(100, window) for window in (10, 100, 1000)]
    assert rates == sorted(set(rates))
    assert windows == sorted(set(windows))


def test_moving_rows_costs_their_bytes() -> None:
    assert row_width(3) == 40
    assert formulas.EXCHANGE.cost(C, 10.0, row_width(3)) == 10 * 40 * 17


def test_broadcasting_to_n_partitions_costs_n_times_as_much_as_hashing() -> None:
    source = Characteristics(80.0, 10.0, 800.0, (5.0, 5.0))
    spread = source.share(8)
    hashed = MODEL.cost(physical.Exchange("hash", (0,)), spread, (spread,))
    assert MODEL.cost(physical.Exchange("broadcast"), source, (spread,)) == 8 * hashed
    assert MODEL.cost(physical.Exchange("single"), source, (spread,)) == 8 * hashed


@pytest.mark.parametrize("value", [-1.0, inf, math.nan])
def test_constants_are_finite_and_not_negative(value: float) -> None:
    with pytest.raises(ValueError, match=r"cost constant push is .* finite and not negative"):
        Constants(push=value)


def test_assumptions_are_checked() -> None:
    with pytest.raises(ValueError, match="a path has at least one edge"):
        Assumptions(longest_path=0)
    with pytest.raises(ValueError, match="vertices is 0: it must be at least 1"):
        Assumptions(vertices=0)


def relation(draw: st.DrawFn) -> Characteristics:
    rate, validity = draw(st.floats(0, 1e9)), draw(st.floats(1, 1e6))
    distinct = (draw(st.floats(0, 1e9)), draw(st.floats(0, 1e9)))
    return Characteristics(rate, validity, rate * validity, distinct)


relations = st.composite(relation)()
OPERATORS = st.one_of(
    st.sampled_from(
        [
            physical.WindowScan("s", "a", 10, 1),
            FILTER,
            physical.MergeUnion(),
            physical.ProjectColumns((1,)),
            JOIN,
            physical.Coalesce(),
            physical.EmptyRelation(2),
        ]
    ),
    st.builds(s_path, REGEXES).filter(
        lambda path: all(ref < 2 for _, ref, _, _ in path.transitions)
    ),
)
MODELS = st.builds(
    CostModel,
    st.sampled_from(["thesis", "saturating"]),
    constants=st.sampled_from([C, Constants()]),
)


@given(OPERATORS, relations, relations, relations, MODELS)
def test_costs_are_finite_and_never_negative(
    operator: physical.PhysicalOperator,
    output: Characteristics,
    left: Characteristics,
    right: Characteristics,
    model: CostModel,
) -> None:
    assert 0 <= model.cost(operator, output, (left, right)) < inf


@given(OPERATORS, relations, relations, relations, MODELS)
def test_an_explanation_is_the_cost_and_can_be_recomputed(
    operator: physical.PhysicalOperator,
    output: Characteristics,
    left: Characteristics,
    right: Characteristics,
    model: CostModel,
) -> None:
    explanation = model.explain(operator, output, (left, right))
    assert explanation.cost == model.cost(operator, output, (left, right))
    for line in explanation.lines:
        assert isclose(_calculated(line.numbers), line.value, rel_tol=1e-9, abs_tol=1e-9)


def _calculated(numbers: str) -> float:
    """The value of a line on a pocket calculator: only numbers, + - · / ( ) and log."""
    tree = ast.parse(numbers.replace("·", "*"), mode="eval")
    allowed = (
        ast.Expression,
        ast.BinOp,
        ast.Add,
        ast.Sub,
        ast.Mult,
        ast.Div,
        ast.Constant,
        ast.Call,
        ast.Name,
    )
    assert all(isinstance(node, (*allowed, ast.Load)) for node in ast.walk(tree)), numbers
    logarithm = {"log": lambda x: log2(x) if x > 1 else 0.0, "__builtins__": {}}
    return float(eval(compile(tree, "numbers", "eval"), logarithm))


def test_an_explanation_reads_as_text_and_as_a_document() -> None:
    explanation = MODEL.explain(JOIN, OUT, (A, B))
    assert str(explanation).splitlines() == [
        "PATTERN (formula 11)",
        "I1 = Uh + Upq · log(p1) = 5 + 11 · log(128) = 82",
        "I2 = Uh + Upq · log(p2) = 5 + 11 · log(32) = 60",
        "P1 = Ph = 7 = 7",
        "P2 = Ph = 7 = 7",
        "E1 = Uh + Upq · log(p1) = 5 + 11 · log(128) = 82",
        "E2 = Uh + Upq · log(p2) = 5 + 11 · log(32) = 60",
        "cost = r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1) + rO · CO"
        " = 2 · (82 + 7 + 60) + 4 · (60 + 7 + 82) + 10 · 2 = 914",
    ]
    document = explanation.to_document()
    assert document["formula"] == 11
    assert document["cost"] == 914
    assert MODEL.explain(physical.Coalesce(), OUT, (A,)).number is None


PLUS = s_path(regex.plus(a))
AUTOMATON = (PLUS.states, PLUS.transitions, PLUS.accepting)
EACH = (
    physical.WindowScan("input", "a", 10, 1, "c0 = 1"),
    physical.WindowScanUnion("input", (("a", None), ("b", "c0 = 1")), 10, 1),
    FILTER,
    physical.MergeUnion(),
    physical.MultiwayJoin((0, 1, 0), ((0, 1), (1, 2), (2, 0)), (0, 1), ((2,), (0,), (1,))),
    physical.ProjectColumns((1,)),
    JOIN,
    physical.SemiJoin(((0, 1), (1, 2)), (0, 1)),
    physical.SemiJoin(((0, 1), (1, 2)), (0, 1), update_pattern="with_deletions"),
    physical.AntiJoin(((0, 1), (0, 1))),
    physical.LeftJoin(((0, 1), (1, 2))),
    replace(JOIN, residual="c0 < c2"),
    PLUS,
    replace(PLUS, roots="own"),
    replace(PLUS, sources="c0 = 7"),
    physical.PairPath(*AUTOMATON),
    physical.SimplePath(*AUTOMATON),
    physical.TrailPath(*AUTOMATON, relations=(0,)),
    physical.ShortestPath(*AUTOMATON, every=7),
    physical.ShortestPath(*AUTOMATON, every=7, values=("node", "place"), labels=("a",)),
    physical.SlidePath(*AUTOMATON, period=7),
    physical.WitnessPaths((0,), (0, 2), 0, 1, *AUTOMATON, ("a",)),
    physical.Coalesce(),
    physical.Rewindow(10, 2),
    physical.Retract(),
    physical.Exchange("hash", (0,)),
    physical.ToKernel(),
    physical.EmptyRelation(2),
    physical.ComputeColumns(("c0", "c0 + 1")),
    physical.AggregateRows((0,), (("count", None),), (0, 1)),
    physical.AggregateRows((0,), (("collect", 1),), (0, 1)),
    physical.TopRows(((1, "desc"),), 7),
    physical.TopRows(((1, "desc"),), 7, partial=True),
    physical.ReportRows("entering", 5),
    physical.EventReportRows("entering", 5),
)


@pytest.mark.parametrize("kind", ["thesis", "saturating"])
@pytest.mark.parametrize("operator", EACH, ids=lambda operator: operator.op)
def test_the_formula_of_every_operator_becomes_a_document(
    operator: physical.PhysicalOperator, kind: Kind
) -> None:
    model = CostModel(kind, default_catalog(["a", "b"]), constants=C)
    found = model.explain(operator, OUT, (A, B))
    assert found.cost == model.cost(operator, OUT, (A, B))
    assert found.to_document()["cost"] == found.cost


def test_every_operator_has_a_cost() -> None:
    assert {type(operator) for operator in EACH} == set(COSTS) == set(physical.OPERATORS.values())


@pytest.mark.parametrize("names", [("A", "B"), ("B", "A")])
def test_a_join_costs_the_same_whichever_input_comes_first(names: tuple[str, str]) -> None:
    model = CostModel()
    rows = {"A": A, "B": replace(B, population=33.3)}
    left, right = (rows[name] for name in names)
    assert model.cost(JOIN, OUT, (left, right)) == model.cost(JOIN, OUT, (right, left))


@pytest.mark.parametrize("kind", ["thesis", "saturating"])
def test_cost_models_are_values(kind: Kind) -> None:
    assert CostModel(kind) == CostModel(kind)
    assert CostModel(kind) != CostModel(kind, constants=C)

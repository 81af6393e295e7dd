"""Estimates from a sample against exact counts on the same edges."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

from headrace.algebra import regex
from headrace.algebra.logical import FilteredPattern, Pattern, Project, Union, WScan
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream, StreamSample
from headrace.costmodel import CostModel
from headrace.costmodel.sampling.arrays import FOREVER, Ints
from headrace.costmodel.sampling.building import relation_of
from headrace.costmodel.sampling.drawing import draw
from headrace.costmodel.sampling.estimator import (
    FEW_VALUES,
    FEWEST_STEPS,
    STEPS,
    Sampler,
    sampler_of,
)
from headrace.costmodel.sampling.evaluation import Evaluation
from headrace.costmodel.sampling.parts import one_way, overlapping, parts_of, path_of, reach
from headrace.costmodel.sampling.relations import (
    Edges,
    Either,
    Join,
    Reach,
    Relation,
    Scanned,
    Wide,
)
from headrace.costmodel.sampling.rows import OverBudgetError, Steps
from headrace.costmodel.sampling.sampled import Sampled, chained
from headrace.costmodel.sampling.snapshot import TimePoints, snapshot_of
from headrace.planning.conditions import checking

RANGE = 100
WINDOW = Window(RANGE)
A, B = Edges((Scanned("s", "a", WINDOW),)), Edges((Scanned("s", "b", WINDOW),))
PLUS = Reach(regex.plus(regex.Symbol(0)), (A,))
BOTH = Reach(
    regex.plus(regex.alternation([regex.Symbol(0), regex.Symbol(1, inverse=True)])), (A, B)
)
PATH = Reach(regex.concat([regex.Symbol(0), regex.star(regex.Symbol(1))]), (A, B))
CHAIN = Join(((0, 1), (1, 2)), (0, 1, 2), (A, B))
ENDS = Join(((0, 1), (1, 2)), (0, 2), (A, B))
CYCLE = Join(((0, 1), (1, 2), (2, 0)), (0, 1, 2), (A, B, A))
CLOSED = Join(((0, 1), (1, 0)), (0, 1), (PLUS, B))
RELATIONS: dict[str, Relation] = {
    "a+": PLUS,
    "(a|b-)+": BOTH,
    "a/b*": PATH,
    "a/b": CHAIN,
    "a/b ends": ENDS,
    "cycle": CYCLE,
    "closed path": CLOSED,
    "union": Either((PLUS, ENDS)),
}
Pairs = Sequence[tuple[int, int]]
Told = tuple[int, int, int, int]
"""The time of an edge, the number of its label, its source and its target."""


def catalog_of(a: Pairs, b: Pairs, seed: int = 0) -> Catalog:
    """A stream of five windows in which each label repeats its pairs once a window."""
    random = np.random.default_rng(seed)
    told = [
        (window * RANGE + int(random.integers(RANGE)), code, *pairs[number])
        for code, pairs in enumerate((a, b))
        for window in range(5)
        for number in random.permutation(len(pairs))
    ]
    return catalog_with(told, {"a": len(a), "b": len(b)})


def catalog_with(told: list[Told], pairs: Mapping[str, int]) -> Catalog:
    """A stream of five windows with some edges; ``pairs`` has the different ones of each label."""
    told = sorted(told, key=lambda edge: edge[0])
    ts, label, src, trg = (np.array(column) for column in zip(*told, strict=True))
    sample = StreamSample(
        ("a", "b"),
        src.astype(np.uint64),
        trg.astype(np.uint64),
        label.astype(np.int32),
        ts.astype(np.int64),
        0,
        5 * RANGE - 1,
    )
    counts = {name: int((label == code).sum()) / 5 for code, name in enumerate(pairs)}
    statistics = {
        name: LabelStatistics(counts[name] / RANGE, different, different, different)
        for name, different in pairs.items()
    }
    return Catalog({"s": Stream("s", statistics)}, samples={"s": sample})


def sampler(catalog: Catalog, seed: int = 0) -> Sampler:
    built = sampler_of(catalog, (*A.scans, *B.scans), seed=seed)
    assert built is not None
    return built


def count(evaluation: Evaluation, relation: Relation) -> float:
    """The mean number of rows over time, of all values and without a bound on steps."""
    rows = evaluation.rows(relation, 0, values_of(evaluation, relation))
    held = rows.versions.replaced == FOREVER
    return float(evaluation.snapshot.weights[rows.columns[0]][held].sum())


def values_of(evaluation: Evaluation, relation: Relation) -> Ints:
    return np.flatnonzero(evaluation.candidates(relation, 0))


def evaluation_of(catalog: Catalog, steps: int = 10**9, moment: int | None = None) -> Evaluation:
    """An evaluation at the sampler's instants, or at one moment."""
    built = sampler(catalog)
    points = built.points
    if moment is not None:
        points = TimePoints(np.array([moment]), np.ones(1), points.since, 1)
    samples = tuple(catalog.samples.items())
    return Evaluation(snapshot_of(samples, built.scans, points).of_query({}), Steps(steps))


def uniform(seed: int, vertices: int = 60, edges: int = 90) -> Pairs:
    random = np.random.default_rng(seed)
    return [(int(x), int(y)) for x, y in random.integers(vertices, size=(edges, 2))]


def zipf(seed: int) -> Pairs:
    random = np.random.default_rng(seed)
    ends = np.minimum(random.zipf(1.6, size=(300, 2)), 200)
    return [(int(x), int(y)) for x, y in ends]


def grid(seed: int, side: int = 9) -> Pairs:
    graph = nx.grid_2d_graph(side, side, create_using=nx.DiGraph)
    return [(x * side + y, u * side + v) for (x, y), (u, v) in graph.edges if (x, y) < (u, v)]


def clique(seed: int, size: int = 14) -> Pairs:
    return [(x, y) for x in range(size) for y in range(size) if x != y]


GRAPHS: dict[str, Callable[[int], Pairs]] = {
    "uniform": uniform,
    "zipf": zipf,
    "grid": grid,
    "clique": clique,
}


def pairs_of(evaluation: Evaluation, edges: Edges, moment: int = 0) -> set[tuple[int, int]]:
    """The pairs of the edges that are valid at a moment, among those of a snapshot."""
    sources, targets, _, expiry, _ = evaluation.snapshot.edges[edges.scans[0]]
    ends = zip(sources.tolist(), targets.tolist(), expiry.tolist(), strict=True)
    return {(x, y) for x, y, e in ends if e > moment}


def test_reach_gives_the_pairs_of_the_transitive_closure() -> None:
    for name, graph in GRAPHS.items():
        evaluation = evaluation_of(catalog_of(graph(1), graph(2)), moment=350)
        edges = nx.DiGraph(list(pairs_of(evaluation, A)))
        closure = nx.transitive_closure(edges, reflexive=False)
        first, second = evaluation.rows(PLUS, 0, values_of(evaluation, PLUS)).columns
        assert set(zip(first.tolist(), second.tolist(), strict=True)) == set(closure.edges), name


def test_instants_do_not_mix() -> None:
    catalog = catalog_of(uniform(1), uniform(2))
    evaluation = evaluation_of(catalog)
    instant = evaluation.snapshot.instant
    assert instant[-1] > 3
    for relation in RELATIONS.values():
        first, *others = evaluation.rows(relation, 0, values_of(evaluation, relation)).columns
        assert len(first)
        assert all(np.array_equal(instant[first], instant[other]) for other in others)


def test_a_pair_expires_with_the_path_that_lasts_longest() -> None:
    evaluation = evaluation_of(catalog_of(uniform(3), uniform(4)), moment=350)
    rows = evaluation.rows(BOTH, 0, values_of(evaluation, BOTH))
    last = rows.versions.replaced == FOREVER
    for moment in sorted({*rows.versions.expiry.tolist()})[::7]:
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_edges_from(pairs_of(evaluation, A, moment - 1))
        graph.add_edges_from((y, x) for x, y in pairs_of(evaluation, B, moment - 1))
        late = last & (rows.versions.expiry >= moment)
        pairs = zip(rows.columns[0][late].tolist(), rows.columns[1][late].tolist(), strict=True)
        assert set(pairs) == set(nx.transitive_closure(graph, reflexive=False).edges)


def test_joins_agree_with_nested_loops() -> None:
    evaluation = evaluation_of(catalog_of(uniform(5), uniform(6)), moment=350)
    a, b = pairs_of(evaluation, A), pairs_of(evaluation, B)
    chain = {(x, y, z) for x, y in a for v, z in b if y == v}
    cycle = {(x, y, z) for x, y, z in chain if (z, x) in a}
    assert count(evaluation, CHAIN) == len(chain)
    assert count(evaluation, ENDS) == len({(x, z) for x, _, z in chain})
    assert count(evaluation, CYCLE) == len(cycle)


CONDITIONS = ("c2 < c4", "c4 - c2 = 1", "c2 <> c4 AND c0 <> c3", "c2 = 1 OR c4 = 2 AND c2 < 5")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("output", [(0, 1, 3), (0, 3), (0, 2, 3, 4)])
def test_joins_with_conditions_agree_with_nested_loops(
    condition: str, output: tuple[int, ...]
) -> None:
    catalog = catalog_of(uniform(5), uniform(6))
    sample = catalog.samples["s"]
    values = np.random.default_rng(1).integers(0, 6, len(sample.ts))
    sample = replace(sample, properties={"p": pa.array([None if v == 3 else v for v in values])})
    catalog = replace(catalog, samples={"s": sample})
    pattern = FilteredPattern(((0, 1, 2), (1, 3, 4)), output, Predicate(condition))
    relation = relation_of(pattern, [Wide(A, ("p",)), Wide(B, ("p",))])
    assert relation is not None
    evaluation = replace(evaluation_of(catalog, moment=350), check=checking(catalog))
    a, b = (
        [(int(x), int(y), int(values[row])) for x, y, _, _, row in zip(*valid, strict=True)]
        for valid in (evaluation.snapshot.edges[each.scans[0]] for each in (A, B))
    )
    holds: dict[str, Callable[[int, int, int, int], bool]] = {
        CONDITIONS[0]: lambda x, p, z, q: 3 not in (p, q) and p < q,
        CONDITIONS[1]: lambda x, p, z, q: 3 not in (p, q) and q - p == 1,
        CONDITIONS[2]: lambda x, p, z, q: 3 not in (p, q) and p != q and x != z,
        CONDITIONS[3]: lambda x, p, z, q: p == 1 or (q == 2 and p != 3 and p < 5),
    }
    expected = {
        tuple((x, y, p, z, q)[v] for v in output)
        for x, y, p in a
        for v, z, q in b
        if y == v and holds[condition](x, p, z, q)
    }
    rows = evaluation.rows(relation, 0, values_of(evaluation, relation))
    held = np.flatnonzero(rows.versions.replaced == FOREVER)
    found = [
        tuple(
            int(values[c[k]]) if v in (2, 4) else int(c[k])
            for v, c in zip(output, rows.columns, strict=True)
        )
        for k in held
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert expected


def test_a_union_of_edges_with_properties_is_the_edges_of_several_labels() -> None:
    wide = [Wide(A, ("p",)), Wide(B, ("p",))]
    both = Wide(Edges((*A.scans, *B.scans)), ("p",))
    assert relation_of(Union(), wide) == relation_of(Union(), [both, *wide]) == both
    assert relation_of(Union(), [Wide(A, ("p",)), Wide(B, ("q",))]) is None
    of_other_stream = Edges((Scanned("t", "b", WINDOW),))
    assert relation_of(Union(), [Wide(A, ("p",)), Wide(of_other_stream, ("p",))]) is None
    catalog = catalog_of(uniform(3), uniform(4))
    sample = catalog.samples["s"]
    values = np.random.default_rng(1).integers(0, 6, len(sample.ts))
    sample = replace(sample, properties={"p": pa.array(values)})
    catalog = replace(catalog, samples={"s": sample})
    evaluation = replace(evaluation_of(catalog, moment=350), check=checking(catalog))
    pattern = FilteredPattern(((0, 1, 2), (1, 3, 4)), (0, 1, 2, 3, 4), Predicate("c2 < c4"))
    found: list[set[tuple[int, ...]]] = []
    for first in (*wide, both):
        relation = relation_of(pattern, [first, wide[1]])
        assert relation is not None
        rows = evaluation.rows(relation, 0, values_of(evaluation, relation))
        found.append(set(zip(*(column.tolist() for column in rows.columns), strict=True)))
    assert found[0] | found[1] == found[2]
    assert found[0] != found[2] != found[1]


def test_a_condition_that_the_sample_does_not_decide_leaves_the_formula() -> None:
    catalog = catalog_of(uniform(5), uniform(6))
    built = sampler_of(catalog, (*A.scans, *B.scans), checking=checking(catalog))
    assert built is not None
    for condition in ("c0 < c3", "c2 < c4", "c0 <> c3 OR c2 = 1"):
        pattern = FilteredPattern(((0, 1, 2), (1, 3, 4)), (0, 3), Predicate(condition))
        relation = relation_of(pattern, [Wide(A, ("p",)), Wide(B, ("p",))])
        assert relation is not None
        assert built.estimate(relation) is None, "vertices have no order, and p no values"
    shown = relation_of(Pattern(((0, 1, 2), (1, 3)), (0, 2)), [Wide(A, ("p",)), B])
    assert shown is not None
    assert built.estimate(shown) is None, "p is in the output, and has no values"


def test_few_rows_are_likely_where_no_sampled_value_has_one() -> None:
    catalog = catalog_of(uniform(5), uniform(6))
    sample = catalog.samples["s"]
    ones = replace(sample, properties={"p": pa.array([1] * len(sample.ts))})
    catalog = replace(catalog, samples={"s": ones})
    built = sampler_of(catalog, (*A.scans, *B.scans), checking=checking(catalog))
    assert built is not None
    pattern = FilteredPattern(((0, 1, 2), (1, 3, 4)), (0, 3), Predicate("c2 <> c4"))
    relation = relation_of(pattern, [Wide(A, ("p",)), Wide(B, ("p",))])
    assert relation is not None
    found = built.estimate(relation)
    assert found is not None
    assert (found.population, found.standard_error) == (0, 1), "some values were not looked at"
    assert 0 < found.unseen < 60 / FEW_VALUES


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_estimates_are_near_exact_counts(graph: str, name: str) -> None:
    catalog = catalog_of(GRAPHS[graph](7), GRAPHS[graph](8))
    built = sampler(catalog)
    built.steps = Steps(10**7)
    estimate = built.estimate(RELATIONS[name])
    assert estimate is not None
    exact = count(evaluation_of(catalog), RELATIONS[name])
    assert abs(estimate.population - exact) <= 4 * estimate.standard_error * exact + 1e-9
    assert all(0 <= distinct <= 300 for distinct in estimate.distinct)


def test_the_mean_over_many_samples_is_the_exact_count() -> None:
    evaluation = evaluation_of(catalog_of(zipf(9), zipf(10)), moment=350)
    values = values_of(evaluation, ENDS)
    rows = evaluation.rows(ENDS, 0, values)
    held = (rows.versions.replaced == FOREVER).astype(np.float64)
    counts = np.bincount(rows.columns[0], held, minlength=values.max() + 1)
    estimates = []
    for seed in range(400):
        drawn, probability = draw(evaluation.candidates(ENDS, 0)[values], 8, seed)
        estimates.append(float((counts[values[drawn]] / probability).sum()))
    error = np.std(estimates, ddof=1) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - counts.sum()) < 4 * error
    assert error < 0.05 * counts.sum()


def test_the_number_of_derivations_tells_which_vertices_have_rows() -> None:
    evaluation = evaluation_of(catalog_of(uniform(5), uniform(6)))
    for name, relation in RELATIONS.items():
        there = np.unique(evaluation.rows(relation, 0, values_of(evaluation, relation)).columns[0])
        every = np.arange(evaluation.snapshot.vertices)
        assert np.array_equal(np.unique(evaluation.rows(relation, 0, every).columns[0]), there), (
            name
        )


def test_edges_that_repeat_once_a_window_are_renewed_once_a_window() -> None:
    catalog = catalog_of(uniform(11, edges=400), uniform(12))
    single = Join(((0, 1), (2, 2)), (0, 1), (A, B))
    estimate = sampler(catalog).estimate(Reach(regex.Symbol(0, inverse=True), (A,)))
    assert estimate is not None
    assert 0.7 < estimate.rate * RANGE / estimate.population < 1.5
    assert sampler(catalog).estimate(single) is None, "a product is not sampled"


def test_rows_have_the_rate_of_their_renewals_where_most_slides_renew_them() -> None:
    """Each pair is told in most slides, so that versions are kept for a part of the window."""
    window, random = Window(RANGE, 10), np.random.default_rng(5)
    a, b = [Edges((Scanned("s", label, window),)) for label in ("a", "b")]
    pairs = uniform(3, 12, 20), uniform(4, 12, 20)
    told: list[Told] = [
        (start + int(random.integers(10)), code, *pair)
        for start in range(0, 5 * RANGE, 10)
        for code in (0, 1)
        for pair in dict.fromkeys(pairs[code])
        if random.random() < 0.8
    ]
    built = sampler_of(catalog_with(told, {"a": 20, "b": 20}), (*a.scans, *b.scans))
    assert built is not None
    estimate = built.estimate(Join(((0, 1), (1, 2)), (0, 1, 2), (a, b)))
    assert estimate is not None

    expiry: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, ...], int] = {}
    renewed = 0
    for ts, code, x, y in sorted(told, key=lambda edge: edge[0]):
        expiry[code, x, y] = ts // 10 * 10 + RANGE
        for other, *ends in list(expiry):
            joined = (x, y, ends[1]) if code == 0 else (ends[0], x, y)
            if other == code or ends[1 - other] != joined[1]:
                continue
            until = min(expiry[code, x, y], expiry[other, ends[0], ends[1]])
            if until > max(rows.get(joined, 0), ts):
                rows[joined] = until
                renewed += ts >= RANGE
    assert estimate.rate == pytest.approx(renewed / (4 * RANGE), rel=0.1)


def test_shorter_paths_that_overlap_estimate_a_longer_one() -> None:
    """Pairs of independent steps, all counted exactly."""
    known = catalog_of(uniform(3, 40, 60), uniform(4, 40, 60))
    steps = [regex.Symbol(0), regex.Symbol(1), regex.plus(regex.Symbol(0)), regex.Symbol(1)]
    path = reach(regex.concat(steps), (A, B))
    shorter = overlapping(path)
    assert shorter == (
        reach(regex.concat(steps[:3]), (A, B)),
        reach(regex.concat(steps[1:]), (A, B)),
        reach(regex.concat(steps[1:3]), (A, B)),
    )
    exact = sampler(known)
    exact.steps = Steps(10**8)
    whole = exact.estimate(path)
    first, last, common = map(exact.estimate, shorter)
    assert whole is not None
    assert first is not None
    assert last is not None
    assert common is not None
    found = chained(first, last, common)
    assert found is not None
    assert found.population == pytest.approx(whole.population, rel=0.4)
    assert found.rate == pytest.approx(whole.rate, rel=0.5)
    assert chained(replace(first, population=0.0), last, common) is None


def test_joins_one_behind_the_other_are_a_path() -> None:
    inner = Join(((1, 0), (1, 2)), (0, 2), (A, B))
    path = path_of(Join(((0, 1), (2, 1)), (0, 2), (inner, A)))
    steps = [regex.Symbol(0, inverse=True), regex.Symbol(1), regex.Symbol(0, inverse=True)]
    assert path == reach(regex.concat(steps), (A, B))


def test_a_path_over_another_relation_has_shorter_paths_that_overlap() -> None:
    steps = [regex.Symbol(0), regex.Symbol(1), regex.Symbol(2, inverse=True)]
    sources = Join(((0, 1),), (0, 0), (A,))
    assert overlapping(reach(regex.concat(steps), (sources, A, B))) == (
        reach(regex.concat(steps[:2]), (sources, A, B)),
        reach(regex.concat(steps[1:]), (sources, A, B)),
        A,
    )


@pytest.mark.parametrize(
    "join",
    [
        Join(((0, 1), (1, 2)), (0, 1), (A, B)),
        Join(((0, 1), (1, 2), (1, 3)), (0, 2), (A, B, A)),
        Join(((0, 1), (0, 1)), (0, 1), (A, B)),
        Join(((0, 1), (1, 1), (1, 2)), (0, 2), (A, B, A)),
        Join(((0, 1), (1, 2)), (0, 1, 2), (A, B)),
        Join(((0, 1), (1, 2)), (0, 2), (A, B), Predicate.columns_equal(0, 1)),
    ],
)
def test_other_joins_are_no_path(join: Join) -> None:
    assert path_of(join) == join


def test_a_path_and_its_inverse_have_one_estimate() -> None:
    known = sampler(catalog_of(uniform(3), uniform(4)))
    path = reach(regex.concat([regex.Symbol(0), regex.plus(regex.Symbol(1))]), (A, B))
    assert isinstance(path, Reach)
    inverse = reach(regex.inverse(path.regex), path.inputs)
    assert one_way(path) == one_way(inverse)
    estimate, other = known.estimate(path), known.estimate(inverse)
    assert estimate is not None
    assert other is not None
    assert known.estimated == 2, "the path, and the closure in it"
    assert other == replace(estimate, distinct=estimate.distinct[::-1])


@pytest.mark.parametrize("other", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_joins_that_differ_in_the_numbers_of_variables_are_equal(other: list[int]) -> None:
    bindings = [(0, 1), (0, 2), (2, 1)]
    inputs: list[Relation] = [PLUS, A, B]
    moved = {0: 5, 1: 9, 2: 7}
    again = tuple(tuple(moved[v] for v in bindings[k]) for k in other)
    one = relation_of(Pattern(tuple(bindings), (0, 1)), inputs)
    assert one is not None
    assert relation_of(Pattern(again, (5, 9)), [inputs[k] for k in other]) == one
    swapped = relation_of(Pattern(again, (9, 5)), [inputs[k] for k in other])
    assert swapped is not None
    assert one_way(swapped) == one_way(one)
    assert relation_of(Project((1, 0)), [one]) == swapped


def test_the_last_steps_still_estimate_what_takes_few() -> None:
    """A path of three steps follows from its parts, of which the last steps count the edges."""
    known = sampler(catalog_of(uniform(3, 40, 60), uniform(4, 40, 60)))
    path = reach(regex.concat([regex.Symbol(0), regex.Symbol(1), regex.Symbol(0)]), (A, B))
    shorter = overlapping(path)
    assert shorter is not None
    for part in shorter[:2]:
        known.estimate(part)
    known.steps.take(known.steps.left - FEWEST_STEPS)
    assert known.estimate(B) is not None
    known.steps.take(known.steps.left)
    assert known.estimate(path) is not None


@pytest.mark.parametrize(
    "steps",
    [
        [regex.Symbol(0), regex.Symbol(1)],
        [regex.Symbol(0), regex.optional(regex.Symbol(1)), regex.Symbol(0)],
        [regex.Symbol(0), *[regex.star(regex.Symbol(1))] * 2, regex.Symbol(0)],
    ],
)
def test_paths_overlap_in_steps_that_are_never_empty(steps: list[regex.Regex]) -> None:
    assert overlapping(reach(regex.concat(steps), (A, B))) is None
    assert overlapping(A) is None


@pytest.mark.parametrize("times", [1, 4])
def test_the_sample_tells_how_many_valid_edges_differ(times: int) -> None:
    """Each pair is told several times in a window."""
    known = catalog_of([pair for pair in uniform(1) for _ in range(times)], ())
    built, sample = sampler(known), known.samples["s"]
    edges = different = 0.0
    for moment, weight in zip(built.points.moments, built.points.weights, strict=True):
        valid = (sample.ts > moment - RANGE) & (sample.ts <= moment)
        pairs = set(
            zip(sample.sources[valid].tolist(), sample.targets[valid].tolist(), strict=True)
        )
        edges, different = edges + weight * valid.sum(), different + weight * len(pairs)
    model = CostModel("saturating", known, sampler=built)
    found = model.characteristics(WScan("s", "a", Window(RANGE, 1)), ())
    assert found.most_values / found.population == pytest.approx(different / edges)


def test_relations_without_rows_have_estimates_of_zero() -> None:
    catalog = catalog_of([(1, 2), (3, 4)], [(5, 6)])
    evaluation = evaluation_of(catalog)
    for relation in (*RELATIONS.values(), Join(((0, 1), (1, 2)), (0, 2), (ENDS, PLUS))):
        nothing = evaluation.rows(relation, 0, np.empty(0, np.int64))
        assert len(nothing.emitted) == 0
    empty = sampler(catalog).estimate(Join(((0, 1), (1, 2)), (0, 2), (ENDS, PLUS)))
    assert empty is not None
    assert empty.population == empty.rate == 0


def test_steps_bound_an_evaluation() -> None:
    dense = clique(0, size=60)
    catalog = catalog_of(dense, dense)
    evaluation = evaluation_of(catalog, 1000)
    with pytest.raises(OverBudgetError):
        evaluation.rows(PLUS, 0, values_of(evaluation, PLUS))
    built = sampler(catalog)
    for relation in RELATIONS.values():
        built.estimate(relation)
    assert built.steps.taken <= STEPS


def test_a_path_takes_no_steps_if_its_closure_takes_too_many() -> None:
    dense = clique(0, size=60)
    built = sampler(catalog_of(dense, dense))
    built.steps = Steps(40_000)
    assert built.estimate(BOTH) is None
    taken = built.steps.taken
    longer = Reach(regex.concat([regex.Symbol(1), BOTH.regex]), BOTH.inputs)
    join = Join(((0, 1), (1, 2)), (0, 2), (B, longer))
    assert [built.estimate(one) for one in (longer, join, Either((BOTH, ENDS)))] == [None] * 3
    assert built.steps.taken == taken
    alone = sampler(catalog_of(dense, dense))
    alone.steps = Steps(40_000)
    assert alone.estimate(longer) is None
    assert alone.steps.taken == taken


def test_the_closures_of_a_path_are_paths_of_their_own() -> None:
    a, b = regex.Symbol(0), regex.Symbol(1)
    inner = regex.concat([b, regex.star(a)])
    path = Reach(regex.concat([regex.star(b), a, regex.plus(inner)]), (A, B))
    assert list(parts_of(path)) == [
        Reach(regex.plus(a), (B,)),
        Reach(regex.plus(regex.concat([a, regex.star(b)])), (B, A)),
    ]
    back = Reach(regex.plus(regex.Symbol(0, inverse=True)), (A,))
    assert list(parts_of(Join(((0, 1), (1, 2)), (0, 2), (A, back)))) == [PLUS]
    assert list(parts_of(Either((PATH, ENDS)))) == [PATH, ENDS, Reach(regex.plus(a), (B,))]


def test_queries_share_the_snapshots_of_their_scans() -> None:
    catalog = catalog_of(uniform(13), uniform(14))
    first, second = sampler(catalog), sampler(catalog)
    assert first.estimate(PLUS) == second.estimate(PLUS)
    assert first.points is second.points
    one, other = first._snapshot, second._snapshot
    assert one is not None
    assert other is not None
    assert one.links(A, False) is other.links(A, False)
    assert one.known_candidates is not other.known_candidates


def test_a_sample_shorter_than_the_window_gives_no_estimates() -> None:
    catalog = catalog_of(uniform(13), uniform(14))
    long = Scanned("s", "a", Window(5 * RANGE))
    assert sampler_of(catalog, [long]) is None
    assert sampler_of(Catalog(catalog.streams), A.scans) is None


CODE = """
from tests.costmodel.test_sampling import *
catalog = catalog_of(zipf(15), zipf(16))
print(repr([sampler(catalog).estimate(relation) for relation in RELATIONS.values()]))
"""


@pytest.mark.long
def test_two_processes_estimate_equally() -> None:
    done = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    ]
    assert Sampled.__name__ in done[0]
    assert done[0] == done[1]

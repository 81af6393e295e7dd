"""Costs of stored graphs: loading them once, and each row of a stream that joins them."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isclose

import pytest

from headrace.algebra import physical
from headrace.algebra.logical import Path, Pattern, WScan
from headrace.algebra.regex import Concat, Symbol, plus
from headrace.algebra.window import Window
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import Assumptions, Constants, CostModel
from headrace.costmodel.model import Kind
from tests.costmodel.test_costs import s_path

KINDS: tuple[Kind, ...] = ("thesis", "saturating")
LIVE = LabelStatistics(2.0, 100.0, 100.0, 150.0)
GRAPH = LabelStatistics(0.0, 1000.0, 1000.0, 1500.0, population=5000.0)
CATALOG = Catalog(
    {
        "s": Stream("s", {"a": LIVE, "b": LIVE}),
        "g": Stream("g", {"k": GRAPH, "l": GRAPH}, stored=True),
    }
)
A = WScan("s", "a", Window(50))
K = WScan("g", "k", None)
JOIN = Pattern(((0, 1), (1, 2)), (0, 2))
HASH_JOIN = physical.HashJoin(((0, 1), (1, 2)), (0, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_pays_for_the_stored_graph_that_it_meets(kind: Kind) -> None:
    model = CostModel(kind, CATALOG, Constants(), Assumptions(loading=1e12))
    stream, graph = model.characteristics(A, ()), model.characteristics(K, ())
    out = model.characteristics(JOIN, (stream, graph))
    assert isclose(out.derivation_rate, 5000 / 1000 * 2)  # f · N · r
    cost = model.cost(HASH_JOIN, out, (stream, graph))
    per_result = Constants().push + (Constants().hash_probe if kind == "saturating" else 0.0)
    assert isclose(model.cost(HASH_JOIN, out, (replace(stream, arrival_rate=4.0), graph)) - cost,
                   cost - out.arrival_rate * per_result, rel_tol=1e-6)  # fmt: skip
    assert cost > 2.0 * Constants().hash_probe


@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_of_loading_is_spread_over_time(kind: Kind) -> None:
    scan = physical.WindowScan("g", "k", None, None)
    one, half = (CostModel(kind, CATALOG, assumptions=Assumptions(loading=t)) for t in (1e6, 2e6))
    graph = one.characteristics(K, ())
    assert graph.arrival_rate == 0.0
    assert isclose(one.cost(scan, graph, ()), 5000 / 1e6 * Constants().push)
    both = one.characteristics(JOIN, (graph, graph))
    assert (both.arrival_rate, both.validity) == (0.0, inf)
    cost = one.cost(HASH_JOIN, both, (graph, graph))
    assert isclose(half.cost(HASH_JOIN, both, (graph, graph)), cost / 2)
    assert cost > 5000 / 1e6 * Constants().hash_probe
    assert one.explain(HASH_JOIN, both, (graph, graph)).cost == cost
    filtered = replace(scan, predicate="c0 = '1'")
    assert (
        one.cost(filtered, replace(graph, population=5.0), ()) > 5000 / 1e6 * Constants().evaluate
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inputs", [(A, K), (K, A), (K, K)])
def test_paths_over_stored_graphs_have_finite_costs(kind: Kind, inputs: tuple[WScan, ...]) -> None:
    model = CostModel(kind, CATALOG)
    of = tuple(model.characteristics(scan, ()) for scan in inputs)
    for regex in (Concat((Symbol(0), plus(Symbol(1)))), plus(Concat((Symbol(0), Symbol(1))))):
        out = model.characteristics(Path(regex), of)
        assert (out.arrival_rate == 0.0) == (inputs == (K, K)) == (out.validity == inf)
        cost = model.cost(s_path(regex), out, of)
        assert 0 < cost < inf
        assert model.explain(s_path(regex), out, of).cost == cost


def test_loading_time_must_be_positive() -> None:
    with pytest.raises(ValueError, match="loading is 0"):
        Assumptions(loading=0)

"""Which atoms without a cycle the search joins at once."""

from __future__ import annotations

from random import Random

import pytest

from headrace.algebra.logical import MultiwayPattern
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.intermediates import LargeIntermediates
from tests.optimizer.shapes import chain, pattern, query, star

VERTICES = 1_000.0
WINDOW = 100


def searched(edges: tuple[tuple[int, int], ...], fan_out: float, **options: object) -> SearchResult:
    """The search over labels with as many edges per vertex and window."""
    statistics = LabelStatistics(
        rate=fan_out * VERTICES / WINDOW,
        distinct_src=VERTICES,
        distinct_trg=VERTICES,
        vertices=VERTICES,
    )
    labels = {f"l{k}": statistics for k in range(len(edges))}
    model = CostModel("saturating", Catalog({"s": Stream("s", labels)}))
    return Optimizer(model, Options(**options)).optimize(query(pattern(edges)))  # type: ignore[arg-type]  # names of options


@pytest.mark.parametrize(
    ("edges", "kept"), [(chain(3), (0, 1, 2, 3)), (star(3), (0, 1, 2, 3)), (star(4), (1, 4))]
)
def test_the_cheapest_plan_is_hardly_ever_left_out(
    edges: tuple[tuple[int, int], ...], kept: tuple[int, ...]
) -> None:
    """Over labels of random rates, with few or many edges per vertex."""
    for seed in range(8):
        random = Random(seed)
        labels = {
            f"l{k}": LabelStatistics(
                rate=10 ** random.uniform(0, 2),
                distinct_src=10 ** random.uniform(1.5, 4),
                distinct_trg=10 ** random.uniform(1.5, 4),
                vertices=1e4,
            )
            for k in range(len(edges))
        }
        model = CostModel("saturating", Catalog({"s": Stream("s", labels)}))
        asked = query(pattern(edges, kept))
        some, every = (Optimizer(model, Options(prune=p)).optimize(asked) for p in (True, False))
        assert some.cost <= 1.1 * every.cost


def joined_at_once(found: SearchResult) -> list[int]:
    """The numbers of atoms of the joins at once in the memo."""
    operators = [expression.operator for expression in found.memo.expressions]
    return sorted(len(o.bindings) for o in operators if isinstance(o, MultiwayPattern))


@pytest.mark.parametrize("edges", [chain(3), star(3)])
def test_a_forest_is_joined_at_once_where_intermediate_results_are_large(
    edges: tuple[tuple[int, int], ...],
) -> None:
    assert joined_at_once(searched(edges, 2.0)) == [3]


@pytest.mark.parametrize("edges", [chain(3), star(3), chain(5)])
def test_small_intermediate_results_are_held(edges: tuple[tuple[int, int], ...]) -> None:
    assert joined_at_once(searched(edges, 0.5)) == []


def test_a_result_much_larger_than_the_intermediate_results_costs_the_same_in_every_plan() -> None:
    assert joined_at_once(searched(chain(3), 20.0)) == []


@pytest.mark.parametrize("edges", [chain(4), chain(6)])
def test_a_join_at_once_that_costs_too_much_in_every_order_is_left_out(
    edges: tuple[tuple[int, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same plan is chosen if no join is left out for its cost."""
    bounded = searched(edges, 1.3)
    monkeypatch.setattr(LargeIntermediates, "may_pay", lambda *_: True)
    unbounded = searched(edges, 1.3)
    assert len(joined_at_once(bounded)) < len(joined_at_once(unbounded))
    assert bounded.plan.digest == unbounded.plan.digest


def test_an_exhaustive_search_joins_every_part_at_once() -> None:
    found = searched(chain(5), 0.5, prune=False)
    assert joined_at_once(found) == [3, 3, 3, 4, 4, 5]


def test_a_join_at_once_is_chosen_where_it_costs_less() -> None:
    found = searched(star(3), 2.5)
    assert any(node.operator.op == "MULTIWAY_JOIN" for node in found.plan.nodes)
    binary = searched(star(3), 2.5, disabled_rules=frozenset({"ForestToMultiway"}))
    assert found.cost < binary.cost

"""Counting, ranking and sampling of plans, compared with a list of all plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headrace.memo import Alternative, PlanSpace, PlanTree
from tests.strategies.amount import examples

Graph = dict[int, list[tuple[str, tuple[int, ...], float]]]
"""Goal to its alternatives: a name, input goals, own cost."""


def space(graph: Graph) -> PlanSpace[int, str]:
    return PlanSpace(
        lambda goal: [Alternative(name, inputs, cost) for name, inputs, cost in graph[goal]]
    )


def everything(
    graph: Graph, goal: int, above: frozenset[int] = frozenset()
) -> Iterator[PlanTree[int, str]]:
    """All complete plans in which no goal stands below itself."""
    if goal in above:
        return
    for name, inputs, cost in graph[goal]:
        below = [list(everything(graph, i, above | {goal})) for i in inputs]
        for chosen in product(*below):
            yield PlanTree(goal, name, chosen, sum([t.cost for t in chosen], cost))


@st.composite
def graphs(draw: st.DrawFn, circles: bool) -> Graph:
    """And/or graphs; without circles a goal reads larger ones only."""
    n = draw(st.integers(1, 5))
    graph: Graph = {}
    for goal in range(n):
        others = [g for g in range(n) if g != goal and (circles or g > goal)]
        rows: list[tuple[str, tuple[int, ...], float]] = []
        for k in range(draw(st.integers(0, 3))):
            size = draw(st.integers(0, 2)) if others else 0
            inputs = tuple(draw(st.sampled_from(others)) for _ in range(size))
            rows.append((f"{goal}{'abc'[k]}", inputs, float(draw(st.integers(1, 4)))))
        graph[goal] = rows
    return graph


def check(graph: Graph) -> None:
    plans = space(graph)
    wanted = list(everything(graph, 0))
    count = plans.count(0)
    assert count == len(wanted)
    assert Counter(plans.unrank(0, k) for k in range(count)) == Counter(wanted)
    ranked = list(plans.ranked(0))
    assert [t.cost for t in ranked] == sorted(t.cost for t in wanted)
    assert Counter(ranked) == Counter(wanted)


@examples(200)
@given(graphs(circles=False))
def test_plans_of_an_acyclic_graph_are_counted_and_ranked_as_by_listing(graph: Graph) -> None:
    check(graph)


@examples(200)
@given(graphs(circles=True))
def test_plans_of_a_cyclic_graph_are_counted_and_ranked_as_by_listing(graph: Graph) -> None:
    check(graph)


def chain(length: int) -> Graph:
    graph: Graph = {k: [("x", (k + 1, k + 1), 1.0), ("y", (k + 1,), 2.0)] for k in range(length)}
    graph[length] = [("leaf", (), 0.0)]
    return graph


def test_counts_are_exact_where_floats_are_not() -> None:
    plans = space(chain(12))
    count = plans.count(0)
    expected = 1
    for _ in range(12):
        expected = expected * expected + expected
    assert count == expected
    assert count > 10**300
    last = plans.unrank(0, count - 1)
    assert last.choice == "y"


def test_the_cheapest_come_first_without_listing_all() -> None:
    ranked = space(chain(12)).ranked(0)
    costs = [next(ranked).cost for _ in range(50)]
    cheapest = 0.0
    for _ in range(12):
        cheapest = min(1.0 + 2 * cheapest, 2.0 + cheapest)
    assert costs[0] == cheapest
    assert costs == sorted(costs)


def test_a_sample_is_uniform_and_repeatable() -> None:
    graph: Graph = {
        0: [("x", (1,), 1.0), ("y", (2,), 1.0)],
        1: [("a", (), 1.0)],
        2: [("b", (), 1.0), ("c", (), 1.0), ("d", (), 1.0)],
    }
    plans = space(graph)
    drawn = plans.sample(0, 4000, Random(5))
    assert drawn == plans.sample(0, 4000, Random(5))
    counts = Counter(drawn)
    assert len(counts) == 4
    assert all(850 < n < 1150 for n in counts.values())


def test_sampling_without_a_plan_gives_none() -> None:
    assert space({0: []}).sample(0, 5, Random(1)) == []

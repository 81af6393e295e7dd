"""The cheapest plans of goals that read each other in a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from headrace.memo.cheapest import Priced, Settled, cheapest
from tests.strategies.amount import examples

Graph = Mapping[int, Sequence[Priced[int]]]


@st.composite
def graphs(draw: st.DrawFn) -> dict[int, list[Priced[int]]]:
    """Goals with up to four alternatives each, over any goals, their own included."""
    size = draw(st.integers(1, 7))
    costs = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.7, 1.0, 1e-9, 1e16, inf])
    inputs = st.lists(st.integers(0, size - 1), max_size=3).map(tuple)
    ways = st.lists(st.tuples(costs, inputs), max_size=4)
    return {goal: draw(ways) for goal in range(size)}


def relaxed(graph: Graph) -> dict[int, float]:
    """The reference: lowers costs repeatedly until no cost falls."""
    costs = dict.fromkeys(graph, inf)
    changed = True
    while changed:
        changed = False
        for goal, ways in graph.items():
            for local, inputs in ways:
                total = sum([costs[below] for below in inputs], local)
                if total < costs[goal]:
                    costs[goal], changed = total, True
    return costs


@given(graphs())
@examples(300)
def test_every_goal_settles_once_at_its_least_cost(graph: dict[int, list[Priced[int]]]) -> None:
    settled = list(cheapest(graph))
    assert len({one.goal for one in settled}) == len(settled)
    finite = {goal: cost for goal, cost in relaxed(graph).items() if cost < inf}
    assert {one.goal: one.cost for one in settled} == finite
    before: set[int] = set()
    for one in settled:
        assert one.alternative is not None
        local, inputs = graph[one.goal][one.alternative]
        assert before.issuperset(inputs), "a plan reads itself"
        assert one.cost == sum([finite[below] for below in inputs], local)
        before.add(one.goal)


def test_a_circle_of_free_alternatives_needs_an_alternative_from_outside() -> None:
    circle: Graph = {0: [(0.0, (1,))], 1: [(0.0, (0,))]}
    assert list(cheapest(circle)) == []
    entered: Graph = {**circle, 2: [(3.0, ())], 1: [(0.0, (0,)), (1.0, (2,))]}
    assert list(cheapest(entered)) == [Settled(2, 3.0, 0), Settled(1, 4.0, 1), Settled(0, 4.0, 0)]


def test_costs_from_the_caller_are_read_and_not_settled_again() -> None:
    graph: Graph = {0: [(1.0, (7, 8)), (1.0, (9,))]}
    settled = list(cheapest(graph, {7: 2.0, 8: 0.5, 9: inf}))
    assert settled == [Settled(8, 0.5, None), Settled(7, 2.0, None), Settled(0, 3.5, 0)]

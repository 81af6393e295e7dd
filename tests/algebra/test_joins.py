"""Joins of several atoms as graphs."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.joins import is_connected, is_forest
from tests.strategies.amount import examples

ATOMS = st.lists(
    st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True).map(tuple), min_size=1
)


def graph(bindings: list[tuple[int, ...]]) -> nx.Graph[object]:
    """The atoms and their variables, with an edge between an atom and each of its variables."""
    edges = [(f"atom {k}", v) for k, binding in enumerate(bindings) for v in binding]
    return nx.Graph(edges)


@given(bindings=ATOMS)
@examples(200)
def test_connected_atoms_are_a_connected_graph(bindings: list[tuple[int, ...]]) -> None:
    assert is_connected(bindings) == nx.is_connected(graph(bindings))


@given(bindings=ATOMS)
@examples(200)
def test_a_forest_is_a_graph_without_a_cycle(bindings: list[tuple[int, ...]]) -> None:
    assert is_forest(bindings) == nx.is_forest(graph(bindings))


def test_a_long_cycle_is_connected() -> None:
    for n in range(3, 12):
        assert is_connected([(k, (k + 1) % n) for k in range(n)])

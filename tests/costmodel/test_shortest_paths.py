"""Estimates of shortest paths, with a row for each path or for each of its vertices or steps."""

from __future__ import annotations

import pytest

from headrace.algebra.logical import Shortest
from headrace.algebra.path_values import PathValue
from headrace.algebra.regex import Symbol, plus
from headrace.costmodel import Characteristics, estimates

PAIRS = Characteristics(2.0, 100.0, 200.0, (50.0, 40.0), vertices=64.0)
LENGTHS = 7.0  # 1 + log2(64)


@pytest.mark.parametrize(
    ("values", "rows", "distinct"),
    [
        (("length", "path"), 1.0, (LENGTHS, 200.0)),
        (("start", "end", "nodes"), 4.0, (64.0, 64.0, 200.0)),
        (("node", "place"), 5.0, (64.0, LENGTHS)),
    ],
)
def test_a_path_has_as_many_rows_as_members(
    values: tuple[PathValue, ...], rows: float, distinct: tuple[float, ...]
) -> None:
    path = Shortest(plus(Symbol(0)), values, ("a",), every=5)
    found = estimates.at_instants(PAIRS, path)
    assert (found.population, found.arrival_rate) == (200.0 * rows, 40.0 * rows)
    assert found.distinct == (50.0, 40.0, *distinct)


@pytest.mark.parametrize("values", [("node", "start"), ("place",), ("length", "place")])
def test_rows_are_of_vertices_or_of_steps(values: tuple[PathValue, ...]) -> None:
    with pytest.raises(ValueError, match=r"a vertex or of a step|not for both"):
        Shortest(plus(Symbol(0)), values, ("a",))

"""The work of multiway joins, and the orders that the cost model chooses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.algebra.joins import first_orders
from headrace.algebra.physical import MultiwayJoin
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.costmodel.multiway import Extensions, arranged, held, work

TRIANGLE = ((0, 1), (1, 2), (2, 0))
SQUARE = ((0, 1), (1, 2), (2, 3), (3, 0))


def join(bindings: tuple[tuple[int, ...], ...], reads: tuple[int, ...]) -> MultiwayJoin:
    return MultiwayJoin(reads, bindings, (0, 1), first_orders(bindings))


def edges(rate: float, population: float, vertices: float) -> Characteristics:
    return Characteristics(rate, population / rate, population, (vertices, vertices))


def test_the_work_of_a_triangle_over_uniform_edges() -> None:
    """1,000 edges among 100 vertices: lists of 10 edges, and one pair in ten is an edge."""
    extensions = Extensions(join(TRIANGLE, (0, 0, 0)), (edges(5.0, 1_000.0, 100.0),))
    effort = extensions.effort(0, (2,))
    # Two lists are found, one is walked, and each of its rows is looked up in the other atom.
    assert effort.work == pytest.approx(5 * (2 + 10 + 10))
    assert effort.rows == pytest.approx(5 * 10 * 0.1)
    assert extensions.effort(0, (2,), closing=4.0).rows == pytest.approx(5 * 10 * 0.4)


def test_look_ups_succeed_as_often_as_the_estimate_of_the_result_says() -> None:
    triangle, one = join(TRIANGLE, (0, 0, 0)), (edges(5.0, 1_000.0, 100.0),)
    sparse, dense = (edges(rate, 1_000.0, 100.0) for rate in (15.0, 60.0))
    assert work(triangle, sparse, one) == pytest.approx(3 * 5 * 22)
    # A triangle is complete after its only look-up, so more results are no more work.
    assert work(triangle, dense, one) == pytest.approx(3 * 5 * 22)
    clique = join(((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)), (0,) * 6)
    assert work(clique, dense, one) > work(clique, sparse, one)


def test_the_shorter_list_is_walked_first() -> None:
    """From an edge of a square, the vertex with the shorter list comes first."""
    few, many = edges(1.0, 100.0, 1_000.0), edges(1.0, 100_000.0, 1_000.0)
    square = join(SQUARE, (0, 1, 2, 3))
    output = edges(1.0, 10.0, 1_000.0)
    beside_3 = arranged(square, output, (few, many, many, few))
    beside_2 = arranged(square, output, (few, few, many, many))
    assert beside_3.orders[0] == (3, 2)
    assert beside_2.orders[0] == (2, 3)
    for inputs in ((few, many, many, few), (few, few, many, many)):
        best = arranged(square, output, inputs)
        orders = list(Extensions(square, inputs).orders(0))
        others = [replace(best, orders=(order, *best.orders[1:])) for order in orders]
        assert work(best, output, inputs) == min(work(o, output, inputs) for o in others)


def test_horizons_bound_the_rows_that_are_held() -> None:
    one = (edges(5.0, 1_000.0, 100.0),)
    triangle = join(TRIANGLE, (0, 0, 0))
    bounded = replace(triangle, horizons=((0, 3), (0, 9), (0, -2)))
    assert held(bounded, one)[0].population == pytest.approx(50)
    assert held(replace(triangle, horizons=((0, 3), None, None)), one)[0].population == 1_000
    assert work(bounded, one[0], one) < work(triangle, one[0], one)


def test_each_partition_does_its_part_of_the_work_by_own_values() -> None:
    one, output = (edges(5.0, 1_000.0, 100.0),), edges(3.0, 900.0, 100.0)
    triangle = join(TRIANGLE, (0, 0, 0))
    whole = CostModel().cost(triangle, output, one)
    part = CostModel(parallelism=4).cost(replace(triangle, own=0), output.share(4), one)
    assert whole / 4 < part < whole

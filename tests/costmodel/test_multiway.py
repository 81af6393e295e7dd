"""The work of multiway joins, and the orders that the cost model chooses."""

from __future__ import annotations

from dataclasses import replace
from math import exp, factorial

import numpy as np
import pytest

from headrace.algebra.joins import first_orders
from headrace.algebra.physical import HashJoin, MultiwayJoin
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.costmodel.columns import Column
from headrace.costmodel.hypercube import with_shares
from headrace.costmodel.multiway import Extensions, RowList, arranged, effort, held, shortest

TRIANGLE = ((0, 1), (1, 2), (2, 0))
SQUARE = ((0, 1), (1, 2), (2, 3), (3, 0))


def join(bindings: tuple[tuple[int, ...], ...], reads: tuple[int, ...]) -> MultiwayJoin:
    """A join whose result has all variables."""
    output = tuple(sorted(set().union(*bindings)))
    return MultiwayJoin(reads, bindings, output, first_orders(bindings))


def work(of: MultiwayJoin, output: Characteristics, inputs: tuple[Characteristics, ...]) -> float:
    return effort(of, output, inputs).work


def edges(rate: float, population: float, vertices: float) -> Characteristics:
    return Characteristics(rate, population / rate, population, (vertices, vertices))


def least_of_two(mean: float) -> float:
    """The mean of the lesser of two Poisson numbers that are not 0."""
    chances = [exp(-mean) * mean**k / factorial(k) for k in range(100)]
    at_least = [sum(chances[k:]) for k in range(1, 100)]
    return sum(chance**2 for chance in at_least) / at_least[0] ** 2


@pytest.mark.parametrize("lists", [2, 3, 4])
@pytest.mark.parametrize("mean", [0.3, 1.0, 3.0, 10.0, 40.0])
@pytest.mark.parametrize("phases", [1.0, 1.3, 2.0, 4.0, 10.0, None])
def test_the_shortest_of_several_lists(lists: int, mean: float, phases: float | None) -> None:
    """Poisson numbers whose means have a gamma distribution, drawn with a fixed seed."""
    random = np.random.default_rng(1)
    excess = 0.0 if phases is None else mean / phases
    drawn = np.full((lists, 50_000), mean)
    if phases is not None:
        drawn = random.gamma(phases, excess, drawn.shape)
    drawn = random.poisson(drawn)
    one = RowList(mean, excess)
    assert (drawn > 0).mean() == pytest.approx(one.filled, rel=0.02)
    least = drawn.min(axis=0)
    assert shortest([one] * lists) == pytest.approx(least[least > 0].mean(), rel=0.12)


def test_the_work_of_a_triangle_over_uniform_edges() -> None:
    """1,000 edges among 100 vertices: lists of 10 edges, and one pair in ten is an edge."""
    extensions = Extensions(join(TRIANGLE, (0, 0, 0)), (edges(5.0, 1_000.0, 100.0),))
    found = extensions.effort(0, (2,))
    walked = least_of_two(10.0)
    assert 8 < walked < 8.5
    # Two lists are found, the shorter is walked, and each of its rows is looked up in the other
    # atom, which has one in ten.
    assert found.looked_up == pytest.approx(5 * (2 + walked), rel=0.02)
    assert found.visited == pytest.approx(5 * (walked + walked / 10), rel=0.02)
    assert found.work == found.looked_up + found.visited
    assert found.rows == pytest.approx(5 * walked * 0.1, rel=0.02)
    more = extensions.effort(0, (2,), closing=4.0)
    assert more.rows == pytest.approx(5 * walked * 0.4, rel=0.02)


def test_the_lists_of_hubs_are_walked_less_than_their_mean_length_says() -> None:
    """Where a search comes to hubs, the shorter of two lists is the list of another vertex."""
    even = edges(5.0, 1_000.0, 100.0)
    ends = [Column(((("s", "a", end), 1.0),), skew=100.0) for end in ("src", "trg")]
    # The fourth root of the product of both skews is 10, so all lists have 10 rows on average.
    hubs = replace(even, distinct=(1_000.0, 1_000.0), columns=tuple(ends))
    efforts = [Extensions(join(TRIANGLE, (0, 0, 0)), (i,)).effort(0, (2,)) for i in (hubs, even)]
    assert efforts[0].visited < 0.7 * efforts[1].visited


def test_a_set_holds_each_edge_once_and_a_bag_all_of_them() -> None:
    repeated = replace(edges(5.0, 1_000.0, 100.0), most_values=400.0)
    triangle = join(TRIANGLE, (0, 0, 0))
    assert held(triangle, (repeated,))[0].population == 400
    bag = replace(triangle, update_pattern="with_deletions")
    assert held(bag, (repeated,))[0].population == 1_000


def test_look_ups_succeed_as_often_as_the_estimate_of_the_result_says() -> None:
    triangle, one = join(TRIANGLE, (0, 0, 0)), (edges(5.0, 1_000.0, 100.0),)
    sparse, dense = (edges(rate, 1_000.0, 100.0) for rate in (15.0, 60.0))
    walked = least_of_two(10.0)
    assert work(triangle, sparse, one) == pytest.approx(3 * 5 * (2 + 2 * walked + 1), rel=0.02)
    # A triangle is complete after its only look-up, so more results only cost their visits.
    assert work(triangle, dense, one) == pytest.approx(3 * 5 * (2 + 2 * walked + 4), rel=0.02)
    clique = join(((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)), (0,) * 6)
    assert work(clique, dense, one) > work(clique, sparse, one)


def test_results_without_some_variables_count_once_for_each_match() -> None:
    """A star of four atoms: each edge of 10 of a vertex takes the place of each atom."""
    star, one = join(((0, 1), (0, 2), (0, 3), (0, 4)), (0,) * 4), (edges(5.0, 1_000.0, 100.0),)
    ends = replace(star, output=(1, 4))
    few = edges(40.0, 8_000.0, 100.0)
    assert effort(ends, few, one).rows == pytest.approx(4 * 5 * 10**3, rel=1e-2)
    assert effort(star, few, one).rows == 40.0
    model = CostModel()
    assert model.cost(ends, few, one) > 10 * model.cost(star, few, one)


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


@pytest.mark.parametrize(
    ("rates", "partitions", "shares"),
    [
        ((5.0, 5.0, 5.0), 8, ((0, 2), (1, 2), (2, 2))),
        ((5.0, 5.0, 5.0), 27, ((0, 3), (1, 3), (2, 3))),
        # The variables of a large relation divide it; a small one has copies.
        ((500.0, 5.0, 5.0), 16, ((0, 4), (1, 4))),
        ((5.0, 500.0, 5.0), 16, ((1, 4), (2, 4))),
        # Five partitions: four cells.
        ((5.0, 500.0, 5.0), 5, ((1, 2), (2, 2))),
    ],
)
def test_shares_send_each_partition_few_rows(
    rates: tuple[float, ...], partitions: int, shares: tuple[tuple[int, int], ...]
) -> None:
    inputs = [edges(rate, 1_000.0, 100.0) for rate in rates]
    chosen = with_shares(join(TRIANGLE, (0, 1, 2)), inputs, partitions)
    assert chosen.shares == shares


def test_cells_do_less_than_all_work_at_each_partition() -> None:
    inputs = tuple([edges(5.0, 1_000.0, 100.0)] * 3)
    output, triangle = edges(3.0, 900.0, 100.0), join(TRIANGLE, (0, 1, 2))
    cells = replace(triangle, shares=((0, 2), (1, 2)))
    model = CostModel(parallelism=4)
    divided = tuple([i.share(1 / cells.cells(k).copied) for k, i in enumerate(inputs)])
    part = model.cost(cells, output.share(4), divided)
    assert part < CostModel().cost(triangle, output, inputs)
    idle = CostModel(parallelism=8).cost(cells, output.share(8), divided)
    assert idle == pytest.approx(part), "four of eight partitions have all results"


def test_rows_of_an_atom_with_columns_of_its_own_are_all_joined() -> None:
    """From an edge of a star of 1,000 edges at 100 vertices: ten others twice."""
    star = Extensions(join(((0, 1), (0, 2), (0, 3)), (0, 0, 0)), (edges(5.0, 1_000.0, 100.0),))
    reached = star.effort(0, ())
    assert reached.rows == pytest.approx(5 * 10 * 10)
    # Two lists are found, one is walked, each of its rows is looked up in the second atom again,
    # and all rows that it has there are visited.
    assert reached.looked_up == pytest.approx(5 * (2 + 10), rel=1e-3)
    assert reached.visited == pytest.approx(5 * (10 + 100), rel=1e-3)


def test_a_search_ends_at_a_list_without_rows() -> None:
    """From an edge of a star of 100 edges at 1,000 vertices: a tenth of the others have a list."""
    star = Extensions(join(((0, 1), (0, 2), (0, 3)), (0, 0, 0)), (edges(5.0, 100.0, 1_000.0),))
    reached, found = star.effort(0, ()), 1 - exp(-0.1)
    assert reached.looked_up == pytest.approx(5 * (1 + found + found * 0.1))
    assert reached.visited == pytest.approx(5 * (found * 0.1 + 0.1 * 0.1))
    assert reached.rows == pytest.approx(5 * 0.1 * 0.1)


def test_multiway_joins_without_a_cycle_cost_more_than_two_hash_joins() -> None:
    """Such a chain once cost 8 % less than its hash joins, and ran 1.45 times as long."""
    side = edges(4.0, 1_000.0, 2_000.0)
    chain = join(((0, 1), (1, 2), (2, 3)), (0, 1, 2))
    between = Characteristics(4.0, 125.0, 500.0, (2_000.0,) * 3)
    output = Characteristics(3.0, 83.0, 250.0, (2_000.0,) * 4)
    model = CostModel()
    binary = model.cost(HashJoin(((0, 1), (1, 2)), (0, 1, 2)), between, (side, side))
    binary += model.cost(HashJoin(((0, 1, 2), (2, 3)), (0, 1, 2, 3)), output, (between, side))
    at_once = model.cost(arranged(chain, output, (side,) * 3), output, (side,) * 3)
    assert at_once > 1.2 * binary


def test_multiway_joins_of_cliques_cost_a_fraction_of_hash_joins() -> None:
    """Triangles of 5,000 edges among 500 vertices: two edges in a row are 50,000 rows."""
    side = edges(4.0, 5_000.0, 500.0)
    between = Characteristics(80.0, 625.0, 50_000.0, (500.0,) * 3)
    output = Characteristics(2.4, 416.0, 1_000.0, (500.0,) * 3)
    model = CostModel()
    binary = model.cost(HashJoin(((0, 1), (1, 2)), (0, 1, 2)), between, (side, side))
    binary += model.cost(HashJoin(((0, 1, 2), (2, 0)), (0, 1, 2)), output, (between, side))
    at_once = model.cost(join(TRIANGLE, (0, 0, 0)), output, (side,))
    assert at_once < 0.5 * binary


@pytest.mark.parametrize("bindings", [SQUARE, ((0, 1), (1, 2), (2, 3)), TRIANGLE])
def test_the_cheapest_order_is_the_cheapest_of_all(bindings: tuple[tuple[int, ...], ...]) -> None:
    reads = tuple(range(len(bindings)))
    inputs = [edges(1.0, 10.0 ** (2 + k), 1_000.0 / (1 + k)) for k in reads]
    extensions = Extensions(join(bindings, reads), inputs)
    for delta in reads:
        orders = list(extensions.orders(delta))
        least = min(extensions.effort(delta, order).work for order in orders)
        chosen = extensions.cheapest_order(delta)
        assert chosen in orders
        assert extensions.effort(delta, chosen).work == least


@pytest.mark.parametrize("population", [0.0, 3.0, 2_000.0])
@pytest.mark.parametrize("variant", [{}, {"own": 1}, {"shares": ((0, 2), (1, 2))}])
def test_the_least_cost_bounds_the_cost_of_the_join_in_every_order(
    variant: dict[str, object], population: float
) -> None:
    triangle = replace(join(((0, 1), (1, 2), (2, 0)), (0, 0, 0)), **variant)  # type: ignore[arg-type]  # fields of the join
    model = CostModel(parallelism=4 if variant else 1)
    below = (edges(1 + population / 10, population, 100.0),)
    output = edges(1 + population / 20, population / 2, 100.0)
    least = model.least_cost(triangle, output, below)
    orders = Extensions(triangle, below)
    each = [list(orders.orders(delta)) for delta in range(3)]
    costs = [
        model.cost(replace(triangle, orders=(one, two, three)), output, below)
        for one in each[0]
        for two in each[1]
        for three in each[2]
    ]
    assert least <= min(costs)
    assert least <= model.cost(model.arranged(triangle, output, below), output, below)


def test_the_least_cost_of_an_operator_without_arrangements_is_its_cost() -> None:
    pairs = HashJoin(((0, 1), (1, 2)), (0, 2))
    below = edges(2.0, 20.0, 10.0), edges(3.0, 30.0, 10.0)
    model = CostModel()
    assert model.least_cost(pairs, below[0], below) == model.cost(pairs, below[0], below)

"""Greedy join orders: the start of a search that may be cut, and their costs."""

from __future__ import annotations

from random import Random

import pytest

from bench.queries import catalog as bench_catalog
from bench.queries import cost_model
from bench.search import best_known
from headrace.algebra import regex
from headrace.algebra.logical import LogicalExpression, LogicalQuery, Pattern, Union
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.regex import Symbol
from headrace.costmodel.model import Kind
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.entry import Joins, written_joins
from headrace.optimizer.greedy import greedy_joins, has_more_joins, may_be_cut
from tests.optimizer.shapes import (
    CLIQUE_4,
    Edges,
    SetCosts,
    chain,
    cycle,
    optimize,
    path,
    pattern,
    query,
    star,
    thesis_model,
)
from tests.properties.algebra import rows_of, rows_of_plan

MOST_TIMES_DEARER = 1.2
"""The aim for a budgeted search, compared with the best plan known."""

TREE: Edges = (
    (0, 1), (0, 2), (1, 3), (1, 4), (4, 5), (2, 6), (6, 7), (6, 8), (8, 9), (3, 10), (10, 11),
    (11, 12), (12, 13), (0, 14), (14, 15),
)  # fmt: skip
LARGE: dict[str, LogicalExpression] = {
    "star, all kept": pattern(star(16)),
    "star, two kept": pattern(star(16), (1, 16)),
    "larger star": pattern(star(20)),
    "chain, all kept": pattern(chain(16)),
    "chain, ends kept": pattern(chain(16), (0, 16)),
    "cycle": pattern(cycle(16)),
    "graph clique": pattern(tuple((i, j) for i in range(6) for j in range(i + 1, 6))),
    "tree": pattern(TREE, (0, 5, 15)),
}


def benched(
    expression: LogicalExpression, kind: Kind, budget_expressions: int = 50_000
) -> SearchResult:
    """Under the rates of the benchmark, which neither rise nor fall in written order."""
    model = cost_model(kind, bench_catalog())
    options = Options(budget_expressions=budget_expressions)
    return Optimizer(model, options).optimize(query(expression))


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("kind", ["saturating", "thesis"])
def test_a_search_that_is_cut_at_once_has_a_good_plan(name: str, kind: Kind) -> None:
    large = LARGE[name]
    outcome = benched(large, kind, budget_expressions=50)
    assert outcome.stop_reason == "budget_expressions"
    assert outcome.memo.expression_count < 60
    assert outcome.cost < outcome.canonical_cost / 1.2
    known = best_known(LogicalQuery(large, ()), cost_model(kind, bench_catalog()), outcome.cost, 1)
    assert outcome.cost <= MOST_TIMES_DEARER * known


@pytest.mark.parametrize("edges", [chain(16), cycle(12)], ids=["chain", "cycle"])
@pytest.mark.parametrize("kind", ["saturating", "thesis"])
def test_a_greedy_plan_costs_nearly_as_little_as_the_best(edges: Edges, kind: Kind) -> None:
    cut = benched(pattern(edges), kind, budget_expressions=50)
    whole = benched(pattern(edges), kind)
    assert whole.stop_reason == "complete"
    assert whole.cost <= cut.cost <= MOST_TIMES_DEARER * whole.cost


@pytest.mark.parametrize("edges", [star(7), chain(7), cycle(7), CLIQUE_4], ids=len)
def test_few_joins_are_ordered_at_the_least_cost(edges: Edges) -> None:
    """The estimates here depend on the set of atoms alone, without saturating caps."""
    backwards = tuple(reversed(edges))
    cut, whole = (optimize(pattern(backwards), budget_expressions=b) for b in (1, 50_000))
    assert (cut.stop_reason, whole.stop_reason) == ("budget_expressions", "complete")
    assert cut.cost == pytest.approx(whole.cost)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kept", [(), (0, 10)], ids=["all kept", "two kept"])
def test_greedy_joins_give_the_answer(kept: tuple[int, ...], seed: int) -> None:
    random = Random(seed)
    edges = tuple((random.randrange(k + 1), k + 1) for k in range(10))
    whole = pattern(edges, kept or None)
    outcome = optimize(whole, SetCosts(seed), budget_expressions=25)
    assert may_be_cut(10, Options(budget_expressions=25))
    vertices = ("u", "v", "w")
    snapshot = {
        f"l{k}": frozenset(
            {("u", "u"), ("u", "v"), (random.choice(vertices), random.choice(vertices))}
        )
        for k in range(10)
    }
    answer = rows_of(whole, snapshot)
    assert len(answer) > 1
    assert rows_of_plan(outcome.plan, snapshot) == answer


def joins_of(expression: LogicalExpression, stopped: bool = False) -> Joins:
    operator, model = expression.operator, thesis_model()
    assert isinstance(operator, Pattern)
    estimates = [model.characteristics(scan.operator, ()) for scan in expression.inputs]
    return greedy_joins(operator, estimates, model, lambda: stopped)


def test_no_time_gives_the_written_order() -> None:
    edges = ((0, 1), (2, 3), (1, 2), (3, 4))
    assert (
        joins_of(pattern(edges), stopped=True) == written_joins(edges) == ((0, 2), (4, 1), (5, 3))
    )


def test_unconnected_parts_are_joined_last() -> None:
    edges = ((0, 1), (5, 6), (1, 2), (6, 7), (8, 9))
    for joins in (joins_of(pattern(edges)), written_joins(edges)):
        variables = [set(edge) for edge in edges]
        shared = []
        for left, right in joins:
            shared.append(not variables[left].isdisjoint(variables[right]))
            variables.append(variables[left] | variables[right])
        assert shared == [True, True, False, False]


CLOSED = path(regex.plus(Symbol(0)), pattern(chain(12), (0, 12)))
"""A closure over a join."""
UNITED = LogicalExpression(Union(), (CLOSED, pattern(star(12), (1, 12))))


@pytest.mark.parametrize("whole", [CLOSED, UNITED], ids=["closure", "union"])
def test_patterns_start_greedily_wherever_they_stand(whole: LogicalExpression) -> None:
    outcome = benched(whole, "saturating", budget_expressions=1)
    assert join_cost(outcome.plan) < join_cost(outcome.canonical_plan) / 1.5


def join_cost(plan: PhysicalPlan) -> float:
    return sum(node.estimate.cost for node in plan.nodes if node.operator.op == "HASH_JOIN")


def test_a_query_within_the_budget_starts_in_written_order() -> None:
    assert not may_be_cut(9, Options())
    assert may_be_cut(10, Options())
    assert not may_be_cut(5, Options(budget_ms=1000.0))
    assert may_be_cut(8, Options(budget_ms=1000.0))
    assert not may_be_cut(20, Options(budget_expressions=None))


def test_greedy_ordering_is_deterministic() -> None:
    one, other = (benched(LARGE["tree"], "saturating", budget_expressions=200) for _ in range(2))
    assert one.plan.to_json() == other.plan.to_json()


@pytest.mark.parametrize(
    ("edges", "joins"),
    [
        # A part of k atoms of a chain has an atom beside it at each of its ends within the chain.
        (chain(6), 2 * sum((6 - k) * 2 for k in range(1, 6))),
        # All atoms of a star are beside each of its parts.
        (star(6), 2 * 6 * (2**5 - 1)),
    ],
)
def test_joins_with_one_atom_are_counted(edges: tuple[tuple[int, int], ...], joins: int) -> None:
    assert has_more_joins(edges, joins - 1)
    assert not has_more_joins(edges, joins)


def test_only_some_large_patterns_exceed_the_budget_for_sure() -> None:
    clique = tuple((i, j) for i in range(8) for j in range(i))
    assert has_more_joins(clique, 50_000)
    assert has_more_joins(star(14), 50_000)
    assert not has_more_joins(chain(60), 50_000)

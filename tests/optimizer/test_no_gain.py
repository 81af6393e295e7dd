"""Searches that cannot be complete end when more expressions bring no cheaper plan."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.algebra import regex
from headrace.algebra.logical import Filter, LogicalExpression, MultiwayPattern
from headrace.algebra.predicate import Predicate
from headrace.costmodel import CostModel
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.entry import Entry
from headrace.optimizer.greedy import StartOrder
from headrace.optimizer.search import FIRST, LEAST_GAIN, Search
from tests.optimizer.shapes import (
    A,
    B,
    Edges,
    catalog,
    chain,
    cycle,
    path,
    pattern,
    query,
    scan,
    star,
)

CLIQUE_6: Edges = tuple((i, j) for i in range(6) for j in range(i))
DIGRAPH_4: Edges = tuple((i, j) for i in range(4) for j in range(4) if i != j)


def searched(expression: LogicalExpression, **options: Any) -> SearchResult:
    model = CostModel("saturating", catalog())
    return Optimizer(model, Options(check=True, **options)).optimize(query(expression))


@pytest.mark.parametrize("edges", [CLIQUE_6, star(14), star(10), DIGRAPH_4])
def test_a_search_that_brings_no_cheaper_plan_ends(edges: Edges) -> None:
    found = searched(pattern(edges))
    assert found.stop_reason == "no_gain"
    assert FIRST <= found.memo.expression_count < 2 * FIRST
    start = searched(pattern(edges), budget_expressions=FIRST // 4)
    assert found.cost <= start.cost
    assert found.cost >= start.cost * (1 - LEAST_GAIN)


@pytest.mark.parametrize("edges", [chain(12), star(7), cycle(9)])
def test_a_search_of_few_joins_is_complete(edges: Edges) -> None:
    assert searched(pattern(edges)).stop_reason == "complete"


def test_a_search_that_ends_without_gain_costs_nearly_as_little_as_a_complete_one() -> None:
    model, whole = CostModel("saturating", catalog()), Options(budget_expressions=None)
    found = searched(pattern(star(8)))
    assert found.stop_reason == "no_gain"
    complete = Optimizer(model, whole).optimize(query(pattern(star(8))))
    assert complete.stop_reason == "complete"
    assert found.memo.expression_count < complete.memo.expression_count / 2
    assert found.cost <= complete.cost * (1 + LEAST_GAIN)


@pytest.mark.parametrize(
    ("tenth", "many"),
    [
        (scan("l9"), True),
        (LogicalExpression(Filter(Predicate("c0 < c1")), (scan("l9"),)), True),
        (path(regex.concat([regex.star(A), B]), scan("l9"), scan("l10")), False),
    ],
)
def test_rules_may_rewrite_a_path_together_with_a_pattern(
    tenth: LogicalExpression, many: bool
) -> None:
    """So the search of its joins ends later."""
    whole = pattern(star(10))
    edges = LogicalExpression(whole.operator, (*whole.inputs[:-1], tenth))
    search = Search(CostModel("saturating", catalog()), Options())
    order = StartOrder(search.coster, search.options, search.budget)
    Entry(search.memo, search.algebra.flat, order).insert(edges)
    assert order.reordered
    assert order.has_many_joins == many


def test_a_budget_of_expressions_cuts_before_plans_are_compared() -> None:
    found = searched(pattern(CLIQUE_6), budget_expressions=FIRST // 2)
    assert found.stop_reason == "budget_expressions"


def at_once(found: SearchResult) -> list[int]:
    """The numbers of atoms of the joins at once of the root."""
    members = found.memo.group(found.root).members(MultiwayPattern)
    operators = [member.operator for member in members]
    return [len(o.bindings) for o in operators if isinstance(o, MultiwayPattern)]


@pytest.mark.parametrize("edges", [CLIQUE_6, cycle(13), star(13)])
def test_a_whole_pattern_of_many_atoms_can_be_joined_at_once(edges: Edges) -> None:
    few = {"budget_expressions": 50}
    assert at_once(searched(pattern(edges), **few)) == [len(edges)]
    without = frozenset({"PatternToMultiway"})
    assert at_once(searched(pattern(edges), disabled_rules=without, **few)) == []

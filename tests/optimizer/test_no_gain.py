"""Searches that cannot be complete end when more expressions bring no cheaper plan."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.algebra.logical import LogicalExpression, MultiwayPattern
from headrace.costmodel import CostModel
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.search import FIRST, LEAST_GAIN
from tests.optimizer.shapes import Edges, catalog, chain, cycle, pattern, query, star

CLIQUE_6: Edges = tuple((i, j) for i in range(6) for j in range(i))


def searched(expression: LogicalExpression, **options: Any) -> SearchResult:
    model = CostModel("saturating", catalog())
    return Optimizer(model, Options(check=True, **options)).optimize(query(expression))


@pytest.mark.parametrize("edges", [CLIQUE_6, star(14)])
def test_a_search_that_brings_no_cheaper_plan_ends(edges: Edges) -> None:
    found = searched(pattern(edges))
    assert found.stop_reason == "no_gain"
    assert FIRST <= found.memo.expression_count < 2 * FIRST
    start = searched(pattern(edges), budget_expressions=FIRST // 4)
    assert found.cost <= start.cost
    assert found.cost >= start.cost * (1 - LEAST_GAIN)


def test_a_search_that_can_be_complete_is_complete() -> None:
    found = searched(pattern(chain(12)))
    assert found.stop_reason == "complete"


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

"""The search finds exactly the plans that theory counts, from any start plan."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import comb, factorial
from random import Random

import pytest

from headrace.algebra import regex
from headrace.algebra.logical import LogicalExpression, Path, Pattern
from headrace.memo import Alternative, GroupExpression, PlanSpace
from headrace.optimizer import SearchResult
from headrace.rules.pattern_rules import AT_ONCE
from tests.optimizer.shapes import (
    CLIQUE_4,
    Edges,
    SetCosts,
    chain,
    cycle,
    optimize,
    path,
    pattern,
    scan,
    star,
    variables,
)


def catalan(n: int) -> int:
    return comb(2 * n, n) // (n + 1)


def joins(outcome: SearchResult) -> int:
    return sum(isinstance(e.operator, Pattern) for e in outcome.memo.expressions)


def explored(expression: LogicalExpression, **options: object) -> SearchResult:
    """The outcome of a search for binary joins alone, as theory counts."""
    options.setdefault("disabled_rules", AT_ONCE)
    outcome = optimize(expression, SetCosts(), **options)
    assert outcome.stop_reason == "complete"
    assert outcome.plans.logical_count > 0  # explores what pruning left out
    return outcome


Count = Callable[[int], int]

FORMS: dict[str, tuple[Callable[[int], Edges], Count, Count, Count]] = {
    "chain": (
        chain,
        lambda n: n * (n + 1) // 2,
        lambda n: (n**3 - n) // 3,
        lambda n: 2 ** (n - 1) * catalan(n - 1),
    ),
    # A star of edges has a clique as its join graph.
    "star": (
        star,
        lambda n: 2**n - 1,
        lambda n: 3**n - 2 ** (n + 1) + 1,
        lambda n: factorial(2 * n - 2) // factorial(n - 1),
    ),
    "cycle": (
        cycle,
        lambda n: n * n - n + 1,
        lambda n: n * (n - 1) ** 2,
        lambda n: 2 ** (n - 2) * comb(2 * n - 2, n - 1),
    ),
}


def closed_by_semi_join(n: int) -> int:
    """The plans whose last join only asks for the edge that closes the cycle: any plan of the chain
    of the others, and the edge as the second input."""
    chains: int = 2 ** (n - 2) * catalan(n - 2)
    return n * chains


@pytest.mark.parametrize("reference", [False, True], ids=["duplicate-free", "reference"])
@pytest.mark.parametrize("shape", FORMS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_counts_are_those_of_theory(shape: str, n: int, reference: bool) -> None:
    edges_of, groups, expressions, plans = FORMS[shape]
    if shape == "cycle" and n < 3:
        return
    outcome = explored(pattern(edges_of(n)), duplicate_free=not reference)
    assert outcome.memo.group_count == groups(n)
    assert joins(outcome) == expressions(n)
    assert outcome.plans.logical_count == plans(n)
    assert outcome.plans.count == plans(n) + (closed_by_semi_join(n) if shape == "cycle" else 0)
    assert outcome.memo.merges == 0, "the fingerprint makes twins impossible"


@pytest.mark.long
@pytest.mark.parametrize("shape", FORMS)
@pytest.mark.parametrize("n", [7, 8])
def test_counts_are_those_of_theory_for_large_queries(shape: str, n: int) -> None:
    edges_of, groups, expressions, plans = FORMS[shape]
    outcome = explored(pattern(edges_of(n)), budget_expressions=None)
    assert outcome.memo.group_count == groups(n)
    assert joins(outcome) == expressions(n)
    assert outcome.plans.logical_count == plans(n)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_counts_with_cross_products_are_those_of_a_clique(n: int) -> None:
    outcome = explored(pattern(chain(n)), cross_products=True)
    assert outcome.memo.group_count == 2**n - 1
    assert joins(outcome) == 3**n - 2 ** (n + 1) + 1
    assert outcome.plans.logical_count == factorial(2 * n - 2) // factorial(n - 1)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_each_binding_is_tried_once(n: int) -> None:
    outcome = explored(pattern(star(n)), duplicate_free=False)
    each_direction = 4**n - 3 * 3**n + 3 * 2**n - 1
    assert outcome.rules["PatternCommute"].bindings == joins(outcome)
    assert outcome.rules["PatternAssociate"].bindings == each_direction
    assert outcome.rules["PatternAssociateInverse"].bindings == each_direction


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_a_concatenation_has_the_plans_of_a_bracketing(n: int) -> None:
    r = regex.concat([regex.Symbol(k) for k in range(n)])
    expression = path(r, *(scan(f"l{k}") for k in range(n)))
    without = frozenset({"PatternCommute", "PatternToConcat"}) | AT_ONCE
    outcome = explored(expression, disabled_rules=without)
    assert outcome.memo.group_count == n * (n + 1) // 2
    assert joins(outcome) == (n**3 - n) // 6

    def only_joins(group: int) -> list[Alternative[int, GroupExpression]]:
        members = outcome.memo.group(group).expressions
        return [
            Alternative(e, e.inputs)
            for e in members
            if not e.inputs or isinstance(e.operator, Pattern)
        ]

    assert PlanSpace(only_joins).count(outcome.root) == catalan(n - 1)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_concatenation_may_be_cut_anywhere(n: int) -> None:
    """Every bracketing, each part as a join or an automaton over any parts of it."""
    r = regex.concat([regex.Symbol(k) for k in range(n)])
    outcome = explored(path(r, *(scan(f"l{k}") for k in range(n))))
    plans = [0, 1]
    for m in range(2, n + 1):
        # A path over k >= 2 consecutive parts that cover m symbols.
        by_parts = {(0, 0): 1}
        for size in range(1, m + 1):
            for k in range(1, size + 1):
                by_parts[size, k] = sum(
                    by_parts.get((size - last, k - 1), 0) * plans[last]
                    for last in range(1, size + 1)
                    if last < m
                )
        ordered_joins = 2 * sum(plans[k] * plans[m - k] for k in range(1, m))
        plans.append(ordered_joins + sum(by_parts[m, k] for k in range(2, m + 1)))
    assert outcome.plans.logical_count == plans[n]


SHAPES: dict[str, Edges] = {
    "chain": chain(4),
    "star": star(4),
    "cycle": cycle(4),
    "two triangles": ((0, 1), (1, 2), (2, 0), (2, 3), (3, 0)),
    "paw": ((0, 1), (1, 2), (2, 0), (2, 3)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_written_order_does_not_matter(shape: str) -> None:
    edges = SHAPES[shape]
    everything = explored(pattern(edges))
    expected = sizes(everything)
    for order in list(permutations(range(len(edges))))[:24]:
        moved = LogicalExpression(
            Pattern(tuple(edges[k] for k in order), variables(edges)),
            tuple(scan(f"l{k}") for k in order),
        )
        assert sizes(explored(moved)) == expected, order


@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_tree_does_not_matter(shape: str) -> None:
    edges = SHAPES[shape]
    expected = sizes(explored(pattern(edges)))
    random = Random(shape)
    for _ in range(12):
        assert sizes(explored(random_tree(edges, random))) == expected


def sizes(outcome: SearchResult) -> tuple[int, ...]:
    return (
        outcome.memo.group_count,
        joins(outcome),
        outcome.memo.expression_count,
        outcome.plans.logical_count,
        outcome.plans.count,
    )


def random_tree(edges: Edges, random: Random) -> LogicalExpression:
    """The same pattern, written as nested joins in some order, columns in any order."""
    parts: list[tuple[LogicalExpression, tuple[int, ...]]] = [
        (scan(f"l{k}"), edge) for k, edge in enumerate(edges)
    ]
    while len(parts) > 1:
        pairs = [
            (i, j)
            for i in range(len(parts))
            for j in range(len(parts))
            if i != j and not set(parts[i][1]).isdisjoint(parts[j][1])
        ]
        i, j = random.choice(pairs)
        (left, a), (right, b) = parts[i], parts[j]
        kept = list(dict.fromkeys((*a, *b)))
        random.shuffle(kept)
        if len(parts) == 2:
            kept = list(variables(edges))
        joined = LogicalExpression(Pattern((a, b), tuple(kept)), (left, right))
        parts = [p for k, p in enumerate(parts) if k not in (i, j)] + [(joined, tuple(kept))]
    return parts[0][0]


@pytest.mark.parametrize("n", [5, 6])
def test_random_connected_patterns_lose_no_plan(n: int) -> None:
    """The duplicate-free exploration finds all plans of the plain exploration."""
    random = Random(n)
    for _ in range(10):
        edges: list[tuple[int, int]] = [(0, 1)]
        while len(edges) < n:
            known = sorted({v for edge in edges for v in edge})
            start = random.choice(known)
            end = random.choice([*known, len(known)])
            if start != end:
                edges.append(random.choice([(start, end), (end, start)]))
        kept = tuple(sorted(random.sample(list(variables(tuple(edges))), 2)))
        expression = pattern(tuple(edges), output=kept)
        quick, plain = (explored(expression, duplicate_free=d) for d in (True, False))
        assert sizes(quick) == sizes(plain), edges


@pytest.mark.parametrize("duplicate_free", [True, False])
def test_many_joins_of_a_group_do_not_cost_it_paths(duplicate_free: bool) -> None:
    """Two double edges, and an edge at each end: a path of four steps among many joins.

    Each cut of the path into single steps and joins is a PATH. When a group had 42 members, the
    cost decided which further paths it had, in the order in which rules happened to make them.
    """
    edges: Edges = ((0, 1), (2, 0), (0, 1), (0, 2), (1, 3), (2, 4))
    outcome = explored(pattern(edges, output=(3, 4)), duplicate_free=duplicate_free)
    members = outcome.memo.group(outcome.root).expressions
    assert sum(isinstance(e.operator, Path) for e in members) == 2**3 - 1


def test_an_octahedron() -> None:
    outcome = explored(pattern(CLIQUE_4))
    plain = explored(pattern(CLIQUE_4), duplicate_free=False)
    # All sets of edges but the three pairs of opposite ones are connected.
    assert outcome.memo.group_count == 2**6 - 1 - 3
    assert sizes(outcome) == sizes(plain)


def test_a_disconnected_pattern_has_cross_products_between_components_only() -> None:
    edges: Edges = ((0, 1), (1, 2), (3, 4), (5, 6))
    outcome = explored(pattern(edges))
    # Components {0,1}, {2}, {3}: 3 groups of the first, 1 + 1, and unions of whole components.
    assert outcome.memo.group_count == 3 + 1 + 1 + 4
    assert sizes(outcome) == sizes(explored(pattern(edges), duplicate_free=False))

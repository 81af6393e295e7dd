"""The chosen plan is the cheapest: compared with brute force, and with all plans of the memo."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import pytest

from headrace.algebra.joins import is_connected, is_cyclic
from headrace.algebra.logical import LogicalExpression, Pattern
from headrace.algebra.physical import Coalesce, HashJoin, MultiwayJoin, SemiJoin, WindowScan
from headrace.algebra.plan import PhysicalPlan
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.optimizer import SearchResult
from headrace.optimizer.plan_atoms import Joins
from headrace.rules.multiway_rules import MOST_NESTED
from tests.optimizer.shapes import (
    CLIQUE_4,
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    TERNARY_PLUS,
    Edges,
    SetCosts,
    catalog,
    chain,
    cycle,
    optimize,
    pattern,
    star,
    variables,
)

SHAPES: dict[str, Edges] = {
    "chain": chain(6),
    "star": star(5),
    "cycle": cycle(6),
    "octahedron": CLIQUE_4,
    "two triangles": ((0, 1), (1, 2), (2, 0), (2, 3), (3, 0)),
}


Parts = frozenset[frozenset[int]]

MULTIWAY = MultiwayJoin((0, 1, 2), ((0, 1), (1, 2), (2, 0)), (0,), ((2,), (0,), (1,)))


def joined_at_once(inputs: tuple[tuple[frozenset[int], tuple[int, ...]], ...]) -> set[Parts]:
    """The sets of atoms that a multiway join may read: all single atoms, or two inputs with a
    variable of their own as one, as long as the inputs form a cycle."""
    bindings = [variables for _, variables in inputs]
    shared = [{v for v in b if sum(v in other for other in bindings) > 1} for b in bindings]
    if not (all(1 <= len(s) <= 2 for s in shared) and is_connected(bindings)):
        return set()
    if not is_cyclic(bindings):
        return set()
    found = {frozenset(atoms for atoms, _ in inputs)}
    if not 3 < len(inputs) <= MOST_NESTED:
        return found
    for variable in {v for b in bindings for v in b}:
        pair = [k for k, b in enumerate(bindings) if variable in b]
        if len(pair) == 2:
            (one, left), (other, right) = (inputs[k] for k in pair)
            joined = (one | other, tuple(dict.fromkeys((*left, *right))))
            rest = [each for k, each in enumerate(inputs) if k not in pair]
            found |= joined_at_once((joined, *rest))
    return found


def brute_force(edges: Edges, model: SetCosts) -> float:
    """The least cost over all ordered join trees without a cross product, in which cyclic parts may
    be joined at once; no memo."""
    n = len(edges)

    def relation(atoms: frozenset[int]) -> Characteristics:
        rate = float(sum(2**k for k in atoms))
        return Characteristics(rate, 1.0, rate, (1.0,))

    def connected(one: frozenset[int], other: frozenset[int]) -> bool:
        return not {v for k in one for v in edges[k]}.isdisjoint(v for k in other for v in edges[k])

    @cache
    def cheapest(atoms: frozenset[int]) -> float:
        if len(atoms) == 1:
            return model.cost(WindowScan("s", "l", 1, 1), relation(atoms), ())
        best = float("inf")
        for size in range(1, len(atoms)):
            for chosen in combinations(sorted(atoms), size):
                left = frozenset(chosen)
                right = atoms - left
                if not connected(left, right):
                    continue
                below = (cheapest(left), cheapest(right))
                if float("inf") in below:
                    continue
                own = model.cost(
                    HashJoin(((0,), (0,)), (0,)), relation(atoms), (relation(left), relation(right))
                )
                best = min(best, sum(below, own))
        for parts in joined_at_once(tuple((frozenset([k]), edges[k]) for k in sorted(atoms))):
            own = model.cost(MULTIWAY, relation(atoms), tuple(map(relation, parts)))
            best = min(best, sum(map(cheapest, parts), own))
        return best

    whole = relation(frozenset(range(n)))
    return sum([cheapest(frozenset(range(n)))], model.cost(Coalesce(), whole, (whole,)))


WITHOUT = frozenset({"ForestToMultiway"})
"""Without pruning the rule applies to all forests, otherwise to few."""


@pytest.mark.parametrize("prune", [True, False], ids=["pruned", "unpruned"])
@pytest.mark.parametrize("seed", [None, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_cost_is_that_of_brute_force(shape: str, seed: int | None, prune: bool) -> None:
    model = SetCosts(seed)
    outcome = optimize(pattern(SHAPES[shape]), model, prune=prune, disabled_rules=WITHOUT)
    assert outcome.cost == pytest.approx(brute_force(SHAPES[shape], model), rel=1e-12)


QUERIES: dict[str, LogicalExpression] = {
    "Qs": QS,
    "Qp": CONCAT_PLUS,
    "paper": TERNARY_PLUS,
    **TABLE_4_2,
}


def recomputed(plan: PhysicalPlan) -> float:
    """The tree cost of a plan, from the own costs of its nodes."""
    cost: list[float] = []
    for node in plan.nodes:
        cost.append(sum([cost[i] for i in node.inputs], node.estimate.cost))
        assert cost[-1] == node.estimate.cumulative_cost
    return cost[-1]


@pytest.mark.parametrize("model", ["thesis", "saturating", "random"])
@pytest.mark.parametrize("name", QUERIES)
def test_no_plan_of_the_memo_is_cheaper(name: str, model: str) -> None:
    costs = SetCosts(7) if model == "random" else CostModel(model, catalog())  # type: ignore[arg-type]
    outcome = optimize(QUERIES[name], costs)
    plans = outcome.plans
    if plans.count <= 500:
        everything = [recomputed(plans.unrank(k)) for k in range(plans.count)]
        assert min(everything) == outcome.cost
        assert [recomputed(plan) for plan in plans.ranked()] == sorted(everything)
    else:
        assert min(map(recomputed, plans.sample(300, seed=1))) >= outcome.cost
    assert recomputed(next(plans.ranked())) == outcome.cost
    assert recomputed(outcome.plan) == outcome.cost


@pytest.mark.parametrize("model", ["thesis", "saturating"])
@pytest.mark.parametrize("name", QUERIES)
def test_pruning_changes_no_cost(name: str, model: str) -> None:
    costs = CostModel(model, catalog())  # type: ignore[arg-type]
    pruned, whole = (
        optimize(QUERIES[name], costs, prune=p, disabled_rules=WITHOUT) for p in (True, False)
    )
    assert pruned.cost == whole.cost
    assert pruned.plan.digest == whole.plan.digest


def test_the_canonical_plan_is_left_deep_as_written() -> None:
    expression = pattern(((1, 2), (3, 4), (2, 3)))
    outcome = optimize(expression, SetCosts(), disabled_rules=WITHOUT)
    joins = [n.operator for n in outcome.canonical_plan.nodes if isinstance(n.operator, HashJoin)]
    assert joins[0].bindings == ((0, 1), (2, 3)), "a cross product, as written"
    # Rates 1 + 2 + 4, then {0,1} = 3, the whole twice = 7: join and coalesce.
    assert outcome.canonical_cost == 1 + 2 + 4 + 3 + 7 + 7
    assert outcome.cost == 1 + 2 + 4 + min(1 + 4, 2 + 4) + 7 + 7


def test_shared_parts_are_one_node_and_counted_once() -> None:
    twice = pattern(((0, 1), (1, 2)), output=(0, 2), labels="ab")
    expression = LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 2)), (twice, twice))
    outcome: SearchResult = optimize(expression)
    digests = [(n.operator, n.inputs) for n in outcome.plan.nodes]
    assert len(set(digests)) == len(digests)
    assert outcome.shared_cost == pytest.approx(outcome.plan.shared_cost)
    assert outcome.shared_cost < outcome.cost


def test_names_of_the_query_reach_the_columns() -> None:
    edges: Edges = ((0, 1), (1, 2), (2, 3))
    named = Pattern(edges, (0, 3), ("x", "y", "z", "w"))
    outcome = optimize(LogicalExpression(named, pattern(edges).inputs))
    nodes = outcome.canonical_plan.nodes
    names = {n.columns for n in nodes if isinstance(n.operator, WindowScan)}
    assert names == {("x0", "y"), ("y", "z"), ("z", "x1")}  # x0 and x1 are the answer's
    assert variables(edges) == (0, 1, 2, 3)


def test_equal_joins_keep_the_names_of_their_own_variables() -> None:
    """a ⋈ b occurs twice, as x, y, z and as p, q, r, and is one relation to the search."""
    edges: Edges = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))
    named = Pattern(edges, (0, 5), ("x0", "y", "z", "p", "q", "x1"))
    scans = pattern(edges, labels="abcab").inputs
    for plan in optimize(LogicalExpression(named, scans)).plans.sample(20, 1):
        for node in plan.nodes:
            join = node.operator
            if isinstance(join, HashJoin):
                called = join.variables
                assert tuple(called[v] for v in join.output) == node.columns
                assert len(set(called)) == len(called)
                sides = [tuple(called[v] for v in side) for side in join.bindings]
                below = [plan.nodes[i].columns for i in node.inputs]
                uses = [i for n in plan.nodes for i in n.inputs]
                for key, side, columns in zip(node.inputs, sides, below, strict=True):
                    assert side == columns or uses.count(key) > 1


def test_a_dropped_variable_has_the_name_that_the_query_gives_it() -> None:
    """The semi-joins with b, c and d are one operator, and drop another variable each."""
    edges: Edges = ((0, 1), (0, 2), (0, 3), (0, 4))
    names = {"a": "x1", "b": "p", "c": "q", "d": "r"}
    query = Pattern(edges, (0, 1), ("x0", *names.values()))
    outcome = optimize(LogicalExpression(query, pattern(edges, labels="abcd").inputs))
    assert any(isinstance(n.operator, SemiJoin) for n in outcome.plan.nodes)
    for plan in (outcome.canonical_plan, *outcome.plans.sample(20, 1)):
        for node in plan.nodes:
            if isinstance(node.operator, WindowScan):
                (scan,) = node.operator.scans
                assert node.columns == ("x0", names[scan.label])
            if isinstance(node.operator, Joins):
                reads = getattr(node.operator, "reads", range(len(node.inputs)))
                for position, binding in zip(reads, node.operator.bindings, strict=True):
                    below = plan.nodes[node.inputs[position]].columns
                    assert tuple(node.operator.variables[v] for v in binding) == below

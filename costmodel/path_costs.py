"""The cost formulas of the physical operators that follow paths, and their quantities."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite

from ..algebra import physical
from ..algebra.lengths import longest
from ..algebra.predicate import Predicate
from . import formulas
from .characteristics import LARGEST, Characteristics
from .estimates import rows_of_path
from .model import COSTS, Applied, CostModel, Inputs
from .reached import ends_of, reached, words_of
from .selectivity import condition
from .tree_nodes import new_edges, tree_nodes

SMALLEST_SHARE = 1e-9
"""The smallest share of vertices that a condition on the sources of a path leaves."""


@COSTS.add(physical.SPath)
def _s_path(
    model: CostModel, path: physical.AutomatonPath, output: Characteristics, inputs: Inputs
) -> Applied:
    rate, n, k = path_inputs(model, path, inputs)
    rate_out = output.arrival_rate
    if model.kind == "saturating":
        formula = formulas.PATH_BY_NODES if n > 1 else formulas.PATH_BY_NODES_OF_ONE
        nodes = tree_nodes(model, path, output, inputs)
        of_nodes = nodes.rate, nodes.labels
        return formula, (rate, new_edges(inputs), *of_nodes, rate_out, nodes.population, n)
    bound = bound_share(path, inputs)
    if path.roots == "own" or bound < 1:
        partitions = model.parallelism if path.roots == "own" else 1
        return formulas.PATH_BY_ROOT, (rate, n, k, partitions / bound, rate_out)
    return formulas.PATH, (rate, n, k, rate_out)


@COSTS.add(physical.PairPath)
def _(
    model: CostModel, path: physical.PairPath, output: Characteristics, inputs: Inputs
) -> Applied:
    if model.kind == "thesis":
        return _s_path(model, path, output, inputs)
    edges, wanted = inputs[:-1], inputs[-1]
    pairs = reached(model, path, edges)
    rate, n, _ = path_inputs(model, path, edges)
    nodes = tree_nodes(model, path, pairs, edges)
    rates = nodes.rate, nodes.labels, wanted.arrival_rate, pairs.arrival_rate
    populations = pairs.population, wanted.population
    formula = formulas.PATH_OF_PAIRS if n > 1 else formulas.PATH_OF_PAIRS_OF_ONE
    return formula, (rate, new_edges(edges), *rates, *populations, n, output.arrival_rate)


@COSTS.add(physical.SimplePath)
def _(
    model: CostModel, path: physical.SimplePath, output: Characteristics, inputs: Inputs
) -> Applied:
    rate, n, k = path_inputs(model, path, inputs)
    of_any, quantities = _s_path(model, path, output, inputs)
    any_path = of_any.cost(model.constants, *quantities)
    formula = formulas.SIMPLE_PATH if n > 1 else formulas.SIMPLE_PATH_OF_ONE
    return formula, (rate, any_path, output.population, n, k)


@COSTS.add(physical.TrailPath)
def _(
    model: CostModel, path: physical.TrailPath, output: Characteristics, inputs: Inputs
) -> Applied:
    """An edge looks up T roots with T ends, T = 1 + p/n, in each of k states. Where words have a
    longest length, the p pairs pass over k - 1 edges each at most, so one of the pe valid edges is
    on (k - 1)·p/pe of them."""
    pairs = ends_of(model, inputs)
    rate, n, k = path_inputs(model, path, pairs)
    of_any, quantities = _s_path(model, path, output, pairs)
    any_path = of_any.cost(model.constants, *quantities)
    if longest(words_of(path.states, path.transitions, path.accepting)) is None:
        looked_up = k * (1 + output.population / max(n, 1.0)) ** 2
    else:
        edges = sum([i.population for i in pairs])
        looked_up = (k - 1) * output.population / max(edges, 1.0)
    return formulas.TRAIL_PATH, (rate, any_path, looked_up)


@COSTS.add(physical.ShortestPath)
def _(
    model: CostModel, path: physical.ShortestPath, output: Characteristics, inputs: Inputs
) -> Applied:
    rate, n, k = path_inputs(model, path, inputs)
    edges = sum([i.population for i in inputs])
    vertices = min(max([i.vertices for i in inputs]), LARGEST)
    pairs = output.population / rows_of_path(vertices, path.values)
    quantities = rate, edges, pairs, max(n, 1.0), k, path.every
    return formulas.SHORTEST_PATH, (*quantities, output.arrival_rate)


@COSTS.add(physical.SlidePath)
def _(
    model: CostModel, path: physical.SlidePath, output: Characteristics, inputs: Inputs
) -> Applied:
    _, n, k = path_inputs(model, path, inputs)
    edges = sum(i.population for i in inputs)
    validity = max((i.validity for i in inputs if isfinite(i.validity)), default=0.0)
    return formulas.SLIDE_PATH, (edges, validity, path.period, n, k, output.arrival_rate)


@COSTS.add(physical.WitnessPaths)
def _(
    model: CostModel, witness: physical.WitnessPaths, output: Characteristics, inputs: Inputs
) -> Applied:
    rows, *edges = inputs
    rate, population = sum(e.arrival_rate for e in edges), sum(e.population for e in edges)
    _, n, k = path_inputs(model, witness, inputs[1:])
    of_rows = rows.arrival_rate, rows.population
    return formulas.WITNESS, (*of_rows, rate, population, n, k, output.arrival_rate)


def path_inputs(
    model: CostModel, path: physical.FollowsAutomaton, inputs: Inputs
) -> tuple[float, float, int]:
    """The quantities of formula 12: rate of the inputs' union, n and k.

    n is the number of vertices of the inputs' snapshot graph: each valid edge has two,
    and there are no more than the domain has (of several inputs the largest domain,
    which contains the others).
    """
    rate = sum([i.arrival_rate for i in inputs])
    cap = model.assumptions.vertices
    if cap is None:
        cap = max([min(i.vertices, sum(i.distinct)) for i in inputs])
    vertices = min(cap, 2 * sum([i.population for i in inputs]))
    return rate, vertices, minimal_states(path)


def bound_share(path: physical.AutomatonPath, inputs: Inputs) -> float:
    """The share of the vertices from which a path grows trees: those that satisfy its condition."""
    if path.sources is None:
        return 1.0
    starts = [(inputs[i], int(inverse)) for s, i, inverse, _ in path.transitions if s == 0]
    rows, end = max(starts, key=lambda start: start[0].distinct[start[1]])
    columns = (rows.columns[end],) if rows.columns else ()
    share = condition(Predicate(path.sources)).share((rows.distinct[end],), columns)
    return max(share, SMALLEST_SHARE)


@lru_cache(maxsize=4096)
def minimal_states(path: physical.FollowsAutomaton) -> int:
    """k: the states of the trimmed minimal DFA of the words that the PATH reports.

    The automaton that is run is minimal but for its start, which nothing enters. So
    it has one state more than k exactly if another state accepts and moves alike.
    """
    moves: dict[int, set[tuple[int, bool, int]]] = {state: set() for state in range(path.states)}
    for state, ref, inverse, to in path.transitions:
        moves[state].add((ref, inverse, to))
    doubled = any(
        moves[state] == moves[0] and state not in path.accepting for state in range(1, path.states)
    )
    return path.states - doubled

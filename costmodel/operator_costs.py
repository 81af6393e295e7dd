"""The cost formula of each physical operator, and the quantities that go into it.

A new physical operator needs one entry here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from math import isfinite

from ..algebra import physical
from ..algebra.predicate import Predicate
from ..algebra.window import Window
from . import formulas, joins, multiway
from .characteristics import Characteristics
from .model import ARRANGEMENTS, COSTS, Applied, CostModel, Inputs, edges_of
from .selectivity import condition

HEADER_BYTES = 16
"""ts and exp of a row on the wire."""
COLUMN_BYTES = 8
"""One encoded vertex of a row on the wire."""

SMALLEST_SHARE = 1e-9
"""The smallest share of vertices that a condition on the sources of a path leaves."""

_PLAIN_COLUMN = re.compile("c[0-9]+")


COSTS[physical.EmptyRelation] = lambda m, o, out, i: (formulas.NOTHING, ())
COSTS[physical.FilterRows] = lambda m, o, out, i: (
    formulas.FILTER,
    (i[0].arrival_rate, out.arrival_rate),
)
COSTS[physical.MergeUnion] = lambda m, o, out, i: (formulas.UNION, (out.arrival_rate,))
COSTS[physical.ProjectColumns] = lambda m, o, out, i: (formulas.PROJECT, (out.arrival_rate,))
for _held in (physical.Rewindow, physical.Retract):
    COSTS[_held] = lambda m, o, out, i: (
        formulas.COALESCE,
        (i[0].arrival_rate, i[0].population, out.arrival_rate),
    )
COSTS[physical.ReportRows] = lambda m, o, out, i: (
    formulas.REPORT,
    (i[0].arrival_rate, i[0].population, out.arrival_rate),
)
COSTS[physical.AggregateRows] = lambda m, o, out, i: (
    formulas.AGGREGATE,
    (i[0].arrival_rate, i[0].population, len(o.aggregates), out.arrival_rate),
)
COSTS[physical.Exchange] = lambda m, o, out, i: (
    formulas.EXCHANGE,
    (max(out.arrival_rate, i[0].arrival_rate), row_width(len(out.distinct))),
)
COSTS[physical.ToKernel] = lambda m, o, out, i: (
    formulas.TO_KERNEL,
    (out.arrival_rate, row_width(len(out.distinct))),
)


@COSTS.add(physical.Coalesce)
def _(
    model: CostModel, _coalesce: physical.Coalesce, output: Characteristics, inputs: Inputs
) -> Applied:
    rows = inputs[0]
    if model.kind == "thesis":
        return formulas.COALESCE, (rows.arrival_rate, rows.population, output.arrival_rate)
    distinct = min(output.population, rows.population)
    share = distinct / rows.population if distinct > 0 else 1.0
    return formulas.COALESCE_BY_VALUES, (rows.arrival_rate, share, distinct, output.arrival_rate)


@COSTS.add(physical.WindowScan, physical.WindowScanUnion)
def _(model: CostModel, scan: physical.Scan, output: Characteristics, _: Inputs) -> Applied:
    """Formula 8, or formula 9 for a scan with a predicate.

    The scan evaluates its predicate itself, so that a dropped row costs its evaluation alone."""
    examined = [
        edges_of(model, each.stream, each.label, _window(each))
        .loaded(model.assumptions.loading)
        .arrival_rate
        for each in scan.scans
        if each.predicate is not None
    ]
    if total := sum(examined):
        return formulas.FILTER, (total, output.arrival_rate)
    return formulas.SCAN, (output.arrival_rate,)


def _window(scan: physical.WindowScan) -> Window | None:
    if scan.range is None or scan.slide is None:
        return None
    return Window(scan.range, scan.slide)


@COSTS.add(physical.HashJoin)
def _(
    model: CostModel, join: physical.HashJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    ours = model.kind == "saturating"
    left, right = inputs
    p1, p2 = joins.held(join, inputs)
    quantities = left.arrival_rate, right.arrival_rate, p1, p2, output.arrival_rate
    if join.residual is not None and (pairs := joins.pairs_of(join, output, inputs)):
        formula = formulas.JOIN_WITH_RESIDUAL if ours else formulas.PATTERN_WITH_RESIDUAL
        return formula, (*quantities, pairs)
    return formulas.JOIN if ours else formulas.PATTERN, quantities


@COSTS.add(physical.MultiwayJoin)
def _(
    model: CostModel, join: physical.MultiwayJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """With own values, each partition walks and looks up its part of the rows."""
    rate = sum([i.arrival_rate for i in inputs])
    population = sum([i.population for i in multiway.held(join, inputs)])
    over = model.parallelism if join.own is not None else 1
    results = replace(output, arrival_rate=output.arrival_rate * over)
    walked = multiway.work(join, results, inputs) / over
    entered = len(physical.indexes_of(join)) / len(inputs)
    quantities = rate, population, entered, walked, output.arrival_rate
    atoms = tuple([inputs[read] for read in join.reads])
    if join.residual is not None and (rows := joins.pairs_of(join, output, atoms)):
        return formulas.MULTIWAY_WITH_RESIDUAL, (*quantities, rows)
    return formulas.MULTIWAY, quantities


ARRANGEMENTS[physical.MultiwayJoin] = lambda m, o, out, i: multiway.arranged(o, out, i)


@COSTS.add(physical.SPath)
def _s_path(
    model: CostModel, path: physical.AutomatonPath, output: Characteristics, inputs: Inputs
) -> Applied:
    rate, n, k = path_inputs(model, path, inputs)
    rate_out = output.arrival_rate
    if model.kind == "saturating":
        formula = formulas.PATH_BY_RESULTS if n > 1 else formulas.PATH_BY_RESULTS_OF_ONE
        edges = sum([i.population for i in inputs])
        return formula, (rate, rate_out, output.population, edges, n, k)
    bound = bound_share(path, inputs)
    if path.roots == "own" or bound < 1:
        partitions = model.parallelism if path.roots == "own" else 1
        return formulas.PATH_BY_ROOT, (rate, n, k, partitions / bound, rate_out)
    return formulas.PATH, (rate, n, k, rate_out)


@COSTS.add(physical.SimplePath)
def _(
    model: CostModel, path: physical.SimplePath, output: Characteristics, inputs: Inputs
) -> Applied:
    rate, n, k = path_inputs(model, path, inputs)
    of_any, quantities = _s_path(model, path, output, inputs)
    any_path = of_any.cost(model.constants, *quantities)
    formula = formulas.SIMPLE_PATH if n > 1 else formulas.SIMPLE_PATH_OF_ONE
    return formula, (rate, any_path, output.population, n, k)


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


@COSTS.add(physical.ComputeColumns)
def _(
    _model: CostModel, compute: physical.ComputeColumns, output: Characteristics, _: Inputs
) -> Applied:
    computed = sum(not _PLAIN_COLUMN.fullmatch(value) for value in compute.values)
    return formulas.COMPUTE, (output.arrival_rate, computed)


def row_width(columns: int) -> int:
    """Bytes of a row on the wire: its encoded vertices, ts and exp."""
    return HEADER_BYTES + COLUMN_BYTES * columns


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

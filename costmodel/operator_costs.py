"""The cost formula of each physical operator, and the quantities that go into it.

A new physical operator needs one entry here; those that follow paths have theirs in
:mod:`headrace.costmodel.path_costs`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..algebra import physical
from ..algebra.aggregates import COLLECTING, DEVIATIONS, ORDERING
from ..algebra.window import Window
from . import estimates, formulas, hypercube, joins, multiway
from .characteristics import LARGEST, Characteristics
from .model import (
    ARRANGEMENTS,
    COSTS,
    LEAST_COSTS,
    SAVED,
    Applied,
    CostModel,
    Inputs,
    edges_of,
)

HEADER_BYTES = 16
"""ts and exp of a row on the wire."""
COLUMN_BYTES = 8
"""One encoded vertex of a row on the wire."""

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
COSTS[physical.EventReportRows] = lambda m, o, out, i: (
    formulas.EVENT_REPORT,
    (
        i[0].arrival_rate,
        sum(rows.arrival_rate for rows in i[1:]),
        i[0].population,
        out.arrival_rate,
    ),
)
COSTS[physical.TopRows] = lambda m, o, out, i: (
    formulas.TOP,
    (
        i[0].arrival_rate,
        i[0].population,
        min(float(o.kept), LARGEST),
        2 if o.offset else 1,
        out.arrival_rate,
    ),
)
COSTS[physical.Exchange] = lambda m, o, out, i: (
    formulas.EXCHANGE,
    (max(out.arrival_rate, i[0].arrival_rate), row_width(len(out.distinct))),
)
COSTS[physical.ToKernel] = lambda m, o, out, i: (
    formulas.TO_KERNEL,
    (out.arrival_rate, row_width(len(out.distinct))),
)


@COSTS.add(physical.AggregateRows)
def _(m: CostModel, o: physical.AggregateRows, out: Characteristics, i: Inputs) -> Applied:
    rows = i[0].arrival_rate, i[0].population
    ordered = sum(call.function in ORDERING for call in o.calls)
    lists = sum(call.function in COLLECTING for call in o.calls)
    deviations = sum(call.function in DEVIATIONS for call in o.calls)
    if not lists and not deviations:
        values = (*rows, len(o.aggregates), ordered, out.arrival_rate)
        return formulas.AGGREGATE, values
    values_of_list = i[0].population / max(out.population, 1.0)
    sizes = (len(o.aggregates), ordered, lists, values_of_list, deviations)
    return formulas.AGGREGATE_OF_LONG_VALUES, (*rows, *sizes, out.arrival_rate)


@COSTS.add(physical.Coalesce)
def _(
    model: CostModel, _coalesce: physical.Coalesce, output: Characteristics, inputs: Inputs
) -> Applied:
    rows = inputs[0]
    if model.kind == "thesis":
        return formulas.COALESCE, (rows.arrival_rate, rows.population, output.arrival_rate)
    distinct = min(output.population, rows.population)
    share = distinct / rows.population if distinct > 0 else 1.0
    return formulas.COALESCE_BY_VALUES, (rows.arrival_rate, share, output.arrival_rate)


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


@SAVED.add(physical.HashJoin)
def _(
    model: CostModel, join: physical.HashJoin, _output: Characteristics, inputs: Inputs
) -> tuple[float, ...]:
    """Under `thesis`, whose formulas know no shared indexes, nothing."""
    if model.kind == "thesis":
        return ()
    rates = [i.arrival_rate for i in inputs]
    sides = zip(rates, reversed(rates), joins.held(join, inputs), strict=True)
    parts = [formulas.INDEX_OF_JOIN.cost(model.constants, *side) for side in sides]
    return tuple([max(part, 0.0) for part in parts])


@COSTS.add(physical.SemiJoin)
def _(
    model: CostModel, join: physical.SemiJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """Under `thesis`, which has no semi-join, formula 11 over the rows that a join emits."""
    left, right = inputs
    if model.kind == "thesis":
        held = left.population, right.population
        return formulas.PATTERN, (
            left.arrival_rate,
            right.arrival_rate,
            *held,
            output.arrival_rate,
        )
    rows = max(right.population, 1.0)
    keys = joins.keys_of(join, right)
    rates = left.arrival_rate, right.arrival_rate
    share = min(keys / rows, 1.0)
    if join.update_pattern is None:
        return formulas.SEMI_JOIN, (*rates, left.population, keys, share, output.arrival_rate)
    of_left = [join.bindings[0].index(variable) for variable in join.shared]
    visits = right.arrival_rate * joins.rows_of_key(of_left, left)
    return formulas.SEMI_JOIN_WITH_DELETIONS, (
        *rates, left.population, right.population, keys, share, visits, output.arrival_rate,
    )  # fmt: skip


@COSTS.add(physical.AntiJoin)
def _(
    model: CostModel, join: physical.AntiJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """Under `thesis`, which has no anti-join, formula 11."""
    left, right = inputs
    if model.kind == "thesis":
        held = left.population, right.population
        rates = left.arrival_rate, right.arrival_rate
        return formulas.PATTERN, (*rates, *held, output.arrival_rate)
    begins = joins.begun_keys(right)
    keys = joins.keys_of(join, right)
    share = min(begins / right.arrival_rate, 1.0) if right.arrival_rate else 1.0
    visits = 2 * begins * joins.rows_of_key(join.keys, left)
    rates = left.arrival_rate, right.arrival_rate
    return formulas.ANTI_JOIN, (
        *rates, left.population, keys, share, visits, output.arrival_rate,
    )  # fmt: skip


@COSTS.add(physical.LeftJoin)
def _(
    model: CostModel, join: physical.LeftJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """Under `thesis`, which has no left join, formula 11."""
    left, right = inputs
    rates = left.arrival_rate, right.arrival_rate
    held = left.population, right.population
    if model.kind == "thesis":
        return formulas.PATTERN, (*rates, *held, output.arrival_rate)
    if join.update_pattern is None:
        return formulas.LEFT_JOIN, (*rates, *held, output.arrival_rate)
    of_right = [join.bindings[1].index(variable) for variable in join.shared]
    begins = joins.begun_keys(estimates.projected(right, tuple(of_right), model.reading))
    share = min(begins / right.arrival_rate, 1.0) if right.arrival_rate else 1.0
    of_left = [join.bindings[0].index(variable) for variable in join.shared]
    visits = 2 * begins * joins.rows_of_key(of_left, left) + output.arrival_rate
    return formulas.LEFT_JOIN_WITH_DELETIONS, (
        *rates, *held, joins.keys_of(join, right), share, visits, output.arrival_rate,
    )  # fmt: skip


@COSTS.add(physical.MultiwayJoin)
def _(
    model: CostModel, join: physical.MultiwayJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """With own values, each partition walks and looks up its part of the rows.

    Partitions that are no cell of a hypercube have no results, so the others have more.
    """
    over = model.parallelism if join.own is not None else 1
    if join.shares:
        more = model.parallelism / join.least_partitions
        output = replace(output, arrival_rate=output.arrival_rate * more)
    results = replace(output, arrival_rate=output.arrival_rate * over)
    effort = multiway.effort(join, results, inputs)
    # A result that the estimate does not count is looked up once more, by the operator that reads
    # it.
    more = max(effort.rows - results.arrival_rate, 0.0) / over
    output = replace(output, arrival_rate=min(output.arrival_rate + more, LARGEST))
    return _joined_at_once(join, output, inputs, effort.work / over + more)


@LEAST_COSTS.add(physical.MultiwayJoin)
def _(
    model: CostModel, join: physical.MultiwayJoin, output: Characteristics, inputs: Inputs
) -> Applied:
    """Without the walks and look-ups after the rows of each atom, which depend on the orders."""
    return _joined_at_once(join, output, inputs, 0.0)


def _joined_at_once(
    join: physical.MultiwayJoin, output: Characteristics, inputs: Inputs, walked: float
) -> Applied:
    """The formula with this many look-ups and visits per time unit."""
    rate = sum([i.arrival_rate for i in inputs])
    population = sum([i.population for i in multiway.held(join, inputs)])
    entered = len(physical.indexes_of(join)) / len(inputs)
    atoms = tuple([inputs[read] for read in join.reads])
    places = sum([atom.arrival_rate for atom in atoms])
    quantities = rate, population, entered, places, walked, output.arrival_rate
    if join.residual is not None and (rows := joins.pairs_of(join, output, atoms)):
        return formulas.MULTIWAY_WITH_RESIDUAL, (*quantities, rows)
    return formulas.MULTIWAY, quantities


ARRANGEMENTS[physical.MultiwayJoin] = lambda m, o, out, i: multiway.arranged(
    hypercube.with_shares(o, i, m.parallelism) if o.shares else o, out, i
)


@COSTS.add(physical.ComputeColumns)
def _(
    _model: CostModel, compute: physical.ComputeColumns, output: Characteristics, _: Inputs
) -> Applied:
    computed = sum(not _PLAIN_COLUMN.fullmatch(value) for value in compute.values)
    return formulas.COMPUTE, (output.arrival_rate, computed)


def row_width(columns: int) -> int:
    """Bytes of a row on the wire: its encoded vertices, ts and exp."""
    return HEADER_BYTES + COLUMN_BYTES * columns

"""The estimate of each logical operator's result: formulas 1-7, and ours.

A new logical operator needs one entry here.
"""

from __future__ import annotations

from functools import reduce

from ..algebra import logical
from ..algebra.predicate import Predicate
from . import estimates, joins, paths
from .characteristics import Characteristics
from .model import ESTIMATES, CostModel, Inputs, edges_of
from .reached import ends_of
from .selectivity import condition

_NO_LOOPS = Predicate("c0 <> c1")
_BOTH_ENDS = logical.Pattern(((0, 1), (0, 1)), (0, 1))


@ESTIMATES.add(logical.WScan)
def _scan(model: CostModel, operator: logical.WScan, inputs: Inputs) -> Characteristics:
    """Formula 1, and below the window formula 2 where the scan has a predicate."""
    edges = edges_of(model, operator.stream, operator.label, operator.window, operator.properties)
    if operator.predicate is None:
        return edges
    return estimates.filtered(edges, condition(operator.predicate), model.reading)


@ESTIMATES.add(logical.WScanUnion)
def _(model: CostModel, operator: logical.WScanUnion, inputs: Inputs) -> Characteristics:
    """Formula 3 over the scans, one union after the other."""
    first, *others = [_scan(model, scan, ()) for scan in operator.scans]
    return reduce(lambda done, other: estimates.union((done, other), model.reading), others, first)


def _closures(model: CostModel, inputs: Inputs) -> paths.Refined:
    """Estimates of closures from the sample, for paths as a whole that are too large for it."""
    sampler = model.sampler
    if sampler is None:
        return lambda _, estimate: estimate
    return lambda part, estimate: sampler.refined(logical.Path(part), inputs, estimate)


@ESTIMATES.add(logical.Path)
def _path(model: CostModel, operator: logical.Path, inputs: Inputs) -> Characteristics:
    """Formulas 5 to 7; of simple paths the pairs of different vertices among any paths'."""
    any_paths = paths.path(operator.regex, inputs, model.reading, _closures(model, inputs))
    if operator.semantics is logical.PathSemantics.ARBITRARY:
        return any_paths
    return estimates.filtered(any_paths, condition(_NO_LOOPS), model.reading)


@ESTIMATES.add(logical.Trail)
def _(model: CostModel, operator: logical.Trail, inputs: Inputs) -> Characteristics:
    """Formulas 5 to 7 for any paths, which connect at least the pairs of trails."""
    return paths.path(operator.regex, ends_of(model, inputs), model.reading)


@ESTIMATES.add(logical.BoundPath)
def _(model: CostModel, operator: logical.BoundPath, inputs: Inputs) -> Characteristics:
    """The pairs of the path whose source satisfies the condition.

    A relation of sources is a step of the path, so that formula 5 gives the pairs of bound sources.
    Bound pairs are the join with a relation over both ends.
    """
    steps = inputs[:-1] if operator.pairs else inputs
    pairs = _path(model, logical.Path(operator.regex, operator.semantics), steps)
    if operator.pairs:
        return joins.joined(_BOTH_ENDS, (inputs[-1], pairs), model.reading)
    if operator.sources is None:
        return pairs
    return estimates.filtered(pairs, condition(operator.sources), model.reading)


@ESTIMATES.add(logical.Shortest)
def _(model: CostModel, operator: logical.Shortest, inputs: Inputs) -> Characteristics:
    """The pairs of any paths, once a period; a pair has one length and one path, or more."""
    pairs = paths.path(operator.regex, inputs, model.reading)
    if operator.sources is not None:
        pairs = estimates.filtered(pairs, condition(operator.sources), model.reading)
    return estimates.at_instants(pairs, operator)


ESTIMATES[logical.Filter] = lambda m, o, i: estimates.filtered(
    i[0], condition(o.predicate), m.reading
)
ESTIMATES[logical.Union] = lambda m, o, i: estimates.union(i, m.reading)
ESTIMATES[logical.Project] = lambda m, o, i: estimates.projected(i[0], o.columns, m.reading)
ESTIMATES[logical.Pattern] = lambda m, o, i: joins.joined(o, i, m.reading)
ESTIMATES[logical.BoundPattern] = ESTIMATES[logical.Pattern]
ESTIMATES[logical.AntiJoin] = lambda m, o, i: joins.unmatched(o, i, m.reading)
ESTIMATES[logical.LeftJoin] = lambda m, o, i: joins.left_joined(o, i, m.reading)
ESTIMATES[logical.FilteredPattern] = lambda m, o, i: joins.joined_where(o, i, m.reading)
ESTIMATES[logical.MultiwayPattern] = lambda m, o, i: joins.joined_at_once(o, i, m.reading)
ESTIMATES[logical.Rewindow] = lambda m, o, i: estimates.rewindowed(i[0], o.window, m.reading)
ESTIMATES[logical.Empty] = lambda m, o, i: estimates.empty(o.columns)
ESTIMATES[logical.Compute] = lambda m, o, i: estimates.computed(i[0], o.values, m.reading)
ESTIMATES[logical.Aggregate] = lambda m, o, i: estimates.aggregated(i[0], o)
ESTIMATES[logical.PartialAggregate] = lambda m, o, i: estimates.aggregated_partially(
    i[0], o, m.parallelism
)
ESTIMATES[logical.Top] = lambda m, o, i: estimates.first_rows(i[0], o, m.parallelism)
ESTIMATES[logical.Witness] = lambda m, o, i: estimates.witnessed(i[0], o, m.reading)
ESTIMATES[logical.EventReport] = lambda m, o, i: estimates.reported_at_events(i[0], i[1:], o)
ESTIMATES[logical.Report] = lambda m, o, i: estimates.reported(i[0], o)

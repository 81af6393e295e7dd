"""The estimate of each logical operator's result: formulas 1-7, and ours.

A new logical operator needs one entry here.
"""

from __future__ import annotations

from functools import reduce

from ..algebra import logical
from ..algebra.predicate import Predicate
from . import estimates
from .characteristics import Characteristics
from .model import ESTIMATES, CostModel, Inputs, edges_of
from .selectivity import condition

_NO_LOOPS = Predicate("c0 <> c1")


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


@ESTIMATES.add(logical.Path)
def _(model: CostModel, operator: logical.Path, inputs: Inputs) -> Characteristics:
    """Formulas 5 to 7; of simple paths the pairs of different vertices among any paths'."""
    any_paths = estimates.path(operator.regex, inputs, model.reading)
    if operator.semantics is logical.PathSemantics.ARBITRARY:
        return any_paths
    return estimates.filtered(any_paths, condition(_NO_LOOPS), model.reading)


@ESTIMATES.add(logical.Filter)
def _(model: CostModel, operator: logical.Filter, inputs: Inputs) -> Characteristics:
    return estimates.filtered(inputs[0], condition(operator.predicate), model.reading)


@ESTIMATES.add(logical.Union)
def _(model: CostModel, _: logical.Union, inputs: Inputs) -> Characteristics:
    return estimates.union(inputs, model.reading)


@ESTIMATES.add(logical.Project)
def _(model: CostModel, operator: logical.Project, inputs: Inputs) -> Characteristics:
    return estimates.projected(inputs[0], operator.columns, model.reading)


@ESTIMATES.add(logical.Pattern)
def _(model: CostModel, operator: logical.Pattern, inputs: Inputs) -> Characteristics:
    return estimates.joined(operator, inputs, model.reading)


@ESTIMATES.add(logical.FilteredPattern)
def _(model: CostModel, operator: logical.FilteredPattern, inputs: Inputs) -> Characteristics:
    return estimates.joined_where(operator, inputs, model.reading)


@ESTIMATES.add(logical.Rewindow)
def _(model: CostModel, operator: logical.Rewindow, inputs: Inputs) -> Characteristics:
    return estimates.rewindowed(inputs[0], operator.window, model.reading)


@ESTIMATES.add(logical.Empty)
def _(_model: CostModel, operator: logical.Empty, _inputs: Inputs) -> Characteristics:
    return estimates.empty(operator.columns)


@ESTIMATES.add(logical.Compute)
def _(model: CostModel, operator: logical.Compute, inputs: Inputs) -> Characteristics:
    return estimates.computed(inputs[0], operator.values, model.reading)


@ESTIMATES.add(logical.Aggregate)
def _(_model: CostModel, operator: logical.Aggregate, inputs: Inputs) -> Characteristics:
    return estimates.aggregated(inputs[0], operator)


@ESTIMATES.add(logical.Witness)
def _(model: CostModel, operator: logical.Witness, inputs: Inputs) -> Characteristics:
    return estimates.witnessed(inputs[0], operator, model.reading)


@ESTIMATES.add(logical.Report)
def _(_model: CostModel, operator: logical.Report, inputs: Inputs) -> Characteristics:
    return estimates.reported(inputs[0], operator)

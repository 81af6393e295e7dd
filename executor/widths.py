"""The number of columns of operators' rows, and whether operators fit their inputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.physical import (
    AggregateRows,
    AutomatonPath,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    PhysicalOperator,
    ProjectColumns,
    ReportRows,
    Retract,
    Rewindow,
    ToKernel,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from ..algebra.plan import PhysicalPlan, PlanError
from ..algebra.predicate import columns_of
from ..algebra.scalar import parsed
from . import predicates
from .scans import leaves, reached

FURTHEST = 2**62
"""Bounds of horizons are smaller."""


def width_of(operator: PhysicalOperator, inputs: Sequence[int]) -> int:
    """The number of output columns over inputs of so many columns.

    Raises:
        ValueError: if the operator does not fit its inputs.
    """
    match operator:
        case HashJoin(bindings=bindings, output=output, residual=residual, horizon=horizon):
            _require(len(inputs) == 2, "a join has two inputs")
            bound = {v for binding in bindings for v in binding}
            for width, binding in zip(inputs, bindings, strict=True):
                _require(len(binding) == width, f"{len(binding)} variables for {width} columns")
                _require(len(set(binding)) == width, "a variable occurs twice in one input")
            _require(set(output) <= bound, "an output variable is not bound")
            if residual is not None:
                tree = predicates.checked(residual, 1 + max(bound, default=-1))
                _require(columns_of(tree) <= bound, "the residual looks at an unbound variable")
            for width, side in zip(inputs, horizon or (None, None), strict=True):
                there = side is None or (0 <= side[0] < width and abs(side[1]) < FURTHEST)
                _require(there, "a horizon names a column that does not exist, or no bound")
            return len(output)
        case AutomatonPath():
            _require(all(width == 2 for width in inputs), "a path is made of pairs")
            _require(_is_known(operator, len(inputs)), _UNKNOWN)
            return 2
        case EmptyRelation(width=width):
            _require(not inputs, "it has no input")
            return width
        case MergeUnion():
            _require(len(set(inputs)) == 1, "the inputs of a union have unequal widths")
            return inputs[0]
        case ProjectColumns(columns=columns):
            _require(len(inputs) == 1, "it has one input")
            _require(all(0 <= c < inputs[0] for c in columns), "there is no such column")
            return len(columns)
        case Exchange(columns=columns):
            _require(len(inputs) == 1, "it has one input")
            _require(all(0 <= c < inputs[0] for c in columns), "there is no such column")
            return inputs[0]
        case Rewindow(range=range_, slide=slide):
            _require(len(inputs) == 1, "it has one input")
            _require(0 < slide <= range_, "a window needs 0 < slide <= range")
            return inputs[0]
        case ComputeColumns(values=values):
            _require(len(inputs) == 1, "it has one input")
            for value in values:
                parsed(value, inputs[0])
            return len(values)
        case AggregateRows(keys=keys, aggregates=aggregates, output=output, every=every):
            _require(len(inputs) == 1, "it has one input")
            looked_at = [*keys, *(column for _, column in aggregates if column is not None)]
            _require(all(0 <= c < inputs[0] for c in looked_at), "there is no such column")
            counted = all(f == "count" for f, column in aggregates if column is None)
            _require(counted, "it does not say of which column")
            count = len(keys) + len(aggregates)
            _require(all(0 <= i < count for i in output), "there is no such key or aggregate")
            _require(every is None or every > 0, "between two instants lies no time")
            return len(output)
        case WitnessPaths(keys=keys, output=output):
            _require(len(inputs) >= 2, "it has rows, and edges that paths are made of")
            given, pairs = inputs[0], inputs[1:]
            _require(all(width == 2 for width in pairs), "a path is made of pairs")
            _require(len(operator.labels) == len(pairs), "each input of edges has a label")
            named = (*keys, operator.source, operator.target)
            _require(all(0 <= c < given for c in named), "there is no such column")
            _require(all(0 <= c <= given for c in output), "there is no such column")
            _require(_is_known(operator, len(pairs)), _UNKNOWN)
            return len(output)
        case ReportRows(every=every):
            _require(len(inputs) == 1, "it has one input")
            _require(every > 0, "between two reports lies no time")
            return inputs[0]
        case Retract():
            _require(len(inputs) == 1, "it has one input")
            _require(inputs[0] >= 2, "a deletion names source and target")
            return inputs[0]
        case FilterRows() | Coalesce() | ToKernel():
            _require(len(inputs) == 1, "it has one input")
            return inputs[0]
        case WindowScan(properties=properties) | WindowScanUnion(properties=properties):
            _require(not inputs, "it has no input")
            return 2 + len(properties)


def widths_of(plan: PhysicalPlan) -> dict[int, int]:
    """The widths of the leaves and of the nodes above them that the root needs.

    Raises:
        PlanError: if an operator does not fit its inputs, with the node's id.
    """
    found = {leaf.node: leaf.width for leaf in leaves(plan)}
    for i in sorted(reached(plan, found) - found.keys()):
        node = plan.nodes[i]
        try:
            found[i] = width_of(node.operator, [found[k] for k in node.inputs])
        except ValueError as error:
            raise PlanError(f"node {i} ({node.op}): {error}") from error
    return found


_UNKNOWN = "the automaton names a state or an input that does not exist"


def _is_known(path: AutomatonPath | WitnessPaths, inputs: int) -> bool:
    """Whether there are the states and inputs that an automaton names."""
    return all(
        0 <= q < path.states and 0 <= to < path.states and 0 <= i < inputs
        for q, i, _, to in path.transitions
    ) and all(0 < q < path.states for q in path.accepting)


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)

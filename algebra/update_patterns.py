"""What operators make of deletions among the rows that they read.

Rows of a stream with deletions are *marked* until RETRACT has made negative tuples of them; no
other operator takes them before. Above it stand the variants for deletions alone, so that no
operator of the direct approach ever reads a negative tuple.
"""

from __future__ import annotations

from collections.abc import Collection

from .physical import (
    AggregateRows,
    Coalesce,
    Exchange,
    HashJoin,
    PhysicalOperator,
    ReportRows,
    Retract,
    SimplePath,
    SlidePath,
    SPath,
    ToKernel,
    WindowScan,
)
from .plan import PhysicalPlan, PlanError
from .properties import UpdatePattern


def marks(operator: PhysicalOperator) -> bool:
    """Whether it is a scan of a stream with deletions."""
    return isinstance(operator, WindowScan) and operator.update_pattern is not None


def ends_deletions(operator: PhysicalOperator) -> bool:
    """Whether it reads deletions and gives what is final.

    Its input has to be coalesced: of each value one row is to be there, or none.
    """
    return isinstance(operator, AggregateRows | ReportRows) and operator.update_pattern is not None


def update_pattern(operator: PhysicalOperator, inputs: Collection[UpdatePattern]) -> UpdatePattern:
    """The update pattern of an operator's rows over inputs of such patterns.

    Raises:
        ValueError: if it is not made for inputs like these.
    """
    patterns = set(inputs)
    match operator:
        case WindowScan() if marks(operator):
            return UpdatePattern.MARKED
        case Retract():
            if patterns != {UpdatePattern.MARKED}:
                raise ValueError("it stands over a scan of a stream with deletions")
            return UpdatePattern.WITH_DELETIONS
        case ToKernel() | Exchange() if len(patterns) == 1:
            return patterns.pop()
    if UpdatePattern.MARKED in patterns:
        raise ValueError(f"{operator.op} cannot tell which rows a deletion takes back")
    deletions = UpdatePattern.WITH_DELETIONS in patterns
    if deletions and isinstance(operator, SimplePath | SlidePath):
        raise ValueError(f"{operator.op} is not made for deletions")
    if isinstance(operator, HashJoin | SPath | Coalesce | AggregateRows | ReportRows):
        if deletions is not (operator.update_pattern is not None):
            raise ValueError(f"{operator.op} is {'not ' * deletions}made for deletions")
        if isinstance(operator, AggregateRows | ReportRows):
            return UpdatePattern.APPEND_ONLY
    return UpdatePattern.WITH_DELETIONS if deletions else UpdatePattern.APPEND_ONLY


def update_patterns(plan: PhysicalPlan) -> list[UpdatePattern]:
    """The update pattern of each node's rows; what the document says of it is not looked at.

    Raises:
        PlanError: if an operator is not made for its inputs, with the node.
    """
    found: list[UpdatePattern] = []
    for node in plan.nodes:
        try:
            found.append(update_pattern(node.operator, [found[i] for i in node.inputs]))
        except ValueError as error:
            raise PlanError(f"node {node.id} ({node.op}): {error}") from error
    return found

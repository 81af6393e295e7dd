"""A rule about missing values that a condition rejects. Not in the thesis."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ..algebra.logical import (
    AntiJoin,
    Filter,
    LeftJoin,
    LogicalExpression,
    Pattern,
    Project,
    Union,
)
from ..algebra.missing import rejects_missing


class LeftJoinToPattern:
    """σ_F(A ⟕ B)  →  σ_F(A ⋈ B) where no row with missing values of B satisfies F

    Always valid: F removes the rows without a pair. Other operators may stand between F and the
    left join, if they pass the missing values on.

    A rule of normalization: a join is never more expensive. In the memo it would make a group whose
    rows may be retracted equal to one whose rows are not.
    """

    name = "LeftJoinToPattern"

    def rewritten(self, expression: LogicalExpression) -> LogicalExpression:
        """The expression with joins below; the same object if no left join becomes one."""
        operator = expression.operator
        if not isinstance(operator, Filter):
            return expression
        (below,) = expression.inputs
        if isinstance(below.operator, LeftJoin):
            width = len(below.operator.bindings[0])
            if rejects_missing(operator.predicate, frozenset(range(width, below.width))):
                return replace(expression, inputs=(_pairs(below),))
        rejected = frozenset(
            column
            for column in operator.predicate.columns
            if rejects_missing(operator.predicate, frozenset((column,)))
        )
        return _with_inputs(expression, (_joined(below, rejected),))


def _joined(expression: LogicalExpression, rejected: Set[int]) -> LogicalExpression:
    """The expression where rows with a missing value in a column of ``rejected`` do not count."""
    if not rejected:
        return expression
    operator, inputs = expression.operator, expression.inputs
    match operator:
        case Filter():
            below = [rejected]
        case Union():
            below = [rejected, rejected]
        case Project(columns):
            below = [frozenset(columns[column] for column in rejected)]
        case AntiJoin():
            below = [rejected, frozenset[int]()]
        case LeftJoin(bindings):
            width = len(bindings[0])
            if any(column >= width for column in rejected):
                return _joined(_pairs(expression), rejected)
            below = [rejected, frozenset[int]()]
        case Pattern(bindings, output):
            variables = {output[column] for column in rejected}
            below = [
                frozenset(k for k, variable in enumerate(binding) if variable in variables)
                for binding in bindings
            ]
        case _:
            return expression
    return _with_inputs(expression, tuple(map(_joined, inputs, below)))


def _pairs(expression: LogicalExpression) -> LogicalExpression:
    """The join of the inputs of a left join."""
    operator = expression.operator
    assert isinstance(operator, LeftJoin)
    pattern = Pattern(operator.bindings, operator.output, operator.names)
    return replace(expression, operator=pattern)


def _with_inputs(
    expression: LogicalExpression, inputs: tuple[LogicalExpression, ...]
) -> LogicalExpression:
    if all(new is old for new, old in zip(inputs, expression.inputs, strict=True)):
        return expression
    return replace(expression, inputs=inputs)

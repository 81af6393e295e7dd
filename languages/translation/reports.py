"""The operator of an EMIT clause, which reports answers periodically."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd
from operator import is_

from ...algebra.logical import (
    Aggregate,
    Empty,
    LogicalExpression,
    LogicalOperator,
    Report,
    Shortest,
    Top,
    WScan,
    WScanUnion,
)
from ...algebra.window import Window
from ..query.regular_query import Emit


def reported(expression: LogicalExpression, emit: Emit | None) -> LogicalExpression:
    """The expression under a REPORT; an aggregation below reports at the same times.

    Without EMIT, an answer over rows that an aggregation retracts, or that a limit pushes out, is
    grouped by all of its columns, so that its rows are final.
    """
    if isinstance(expression.operator, Empty):
        return expression
    if emit is None:
        return _final(expression) if retracts(expression) else expression
    every = emit.every or slides_in(expression)
    expression = _at_instants(expression, every, {})
    if isinstance(expression.operator, Aggregate) and not expression.operator.retracts:
        at_instants = replace(expression.operator, every=every)
        expression = replace(expression, operator=at_instants)
    return LogicalExpression(Report(emit.mode, every), (expression,))


def _at_instants(
    expression: LogicalExpression, every: int, known: dict[int, LogicalExpression]
) -> LogicalExpression:
    """The expression with the period of its reports in its searches for shortest paths.

    ``known`` has the results so far by the identity of an expression, so that each is made once.
    """
    if id(expression) not in known:
        operator = expression.operator
        if isinstance(operator, Shortest):
            operator = replace(operator, every=every)
        inputs = tuple([_at_instants(below, every, known) for below in expression.inputs])
        same = operator is expression.operator and all(map(is_, inputs, expression.inputs))
        known[id(expression)] = (
            expression if same else replace(expression, operator=operator, inputs=inputs)
        )
    return known[id(expression)]


def retracts(expression: LogicalExpression) -> bool:
    """Whether an aggregation below, or the first rows in an order, retract rows that change."""
    return any(
        isinstance(o, Top) or (isinstance(o, Aggregate) and o.retracts)
        for o in operators_in(expression)
    )


def _final(expression: LogicalExpression) -> LogicalExpression:
    if isinstance(expression.operator, Aggregate) and not expression.operator.retracts:
        return expression
    columns = tuple(range(expression.width))
    return LogicalExpression(Aggregate(columns, (), columns), (expression,))


def operators_in(expression: LogicalExpression) -> Iterator[LogicalOperator]:
    """Each operator of an expression, a shared one once."""
    pending, seen = [expression], set[int]()
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            pending.extend(current.inputs)
            yield current.operator


def slides_in(expression: LogicalExpression) -> int:
    """The greatest common divisor of the slides of all windows below; 1 without any."""
    return gcd(*(window.slide for window in windows_in(expression))) or 1


def windows_in(expression: LogicalExpression) -> list[Window]:
    """The windows of all scans below, with repeats."""
    reading = (o for o in operators_in(expression) if isinstance(o, WScan | WScanUnion))
    windows = (scan.window for operator in reading for scan in operator.scans)
    return [window for window in windows if window is not None]

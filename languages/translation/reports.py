"""The operator of an EMIT clause, which reports answers periodically."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

from ...algebra.logical import (
    Aggregate,
    Empty,
    LogicalExpression,
    LogicalOperator,
    Report,
    WScan,
    WScanUnion,
)
from ...algebra.window import Window
from ..query.regular_query import Emit


def reported(expression: LogicalExpression, emit: Emit | None) -> LogicalExpression:
    """The expression under a REPORT; an aggregation below reports at the same times."""
    if emit is None or isinstance(expression.operator, Empty):
        return expression
    every = emit.every or slides_in(expression)
    if isinstance(expression.operator, Aggregate):
        at_instants = replace(expression.operator, every=every)
        expression = replace(expression, operator=at_instants)
    return LogicalExpression(Report(emit.mode, every), (expression,))


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


def streams_with_deletions(expression: LogicalExpression) -> Iterator[str]:
    """The names of the streams below that have deletions."""
    for operator in operators_in(expression):
        if isinstance(operator, WScan) and operator.deletions:
            yield operator.stream

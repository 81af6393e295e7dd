"""The operator of an EMIT clause, which reports answers periodically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import gcd
from operator import is_

from ...algebra.aggregates import COLLECTING
from ...algebra.combinations import Feature
from ...algebra.logical import (
    Aggregate,
    Empty,
    EventReport,
    LogicalExpression,
    LogicalOperator,
    Report,
    Shortest,
    Top,
    WScan,
    WScanUnion,
)
from ...algebra.logical.roots import EVENT_REPORTS
from ...algebra.window import Window
from ..query.errors import QueryError
from ..query.regular_query import Emit


def reported(
    expression: LogicalExpression, emit: Emit | None, scans: Iterable[WScan]
) -> LogicalExpression:
    """The expression under a REPORT; an aggregation below reports at the same times.

    ``scans`` are those of all labels that the query reads; the rows of streams are events.

    Without EMIT, an answer over rows that an aggregation retracts, or that a limit pushes out, is
    grouped by all of its columns, so that its rows are final.

    Raises:
        QueryError: E-STORED for reports at events if all labels are of stored graphs, E-LATER for
            lists that are reported at other instants than the multiples of a period.
    """
    if isinstance(expression.operator, Empty):
        return expression
    if emit is None:
        return _final(expression) if retracts(expression) else expression
    if emit.events is not None:
        inputs = (_at_every_instant(expression, emit), *_events(scans, emit))
        return LogicalExpression(EventReport(emit.mode, emit.events, emit.start), inputs)
    every = emit.every or slides_in(expression)
    report = Report(emit.mode, every, emit.start)
    if not emit.at_multiples:
        return LogicalExpression(report, (_at_every_instant(expression, emit),))
    expression = _at_instants(expression, every, {})
    if isinstance(expression.operator, Aggregate) and not expression.operator.retracts:
        at_instants = replace(expression.operator, every=every)
        expression = replace(expression, operator=at_instants)
    return LogicalExpression(report, (expression,))


def _at_every_instant(expression: LogicalExpression, emit: Emit) -> LogicalExpression:
    """The expression for reports at other instants than the multiples of their period.

    An aggregation at its root retracts its rows, so that REPORT may choose any instant.

    Raises:
        QueryError: E-LATER for lists.
    """
    operator = expression.operator
    if not isinstance(operator, Aggregate) or operator.retracts:
        return expression
    if any(call.function in COLLECTING for call in operator.aggregates):
        reason = EVENT_REPORTS.refusal(Feature.LISTS)
        if emit.events is None:
            reason = "reports that start between two periods are not supported with lists yet"
        raise QueryError("E-LATER", reason, at=emit.location, text="EMIT", hint=EVENT_REPORTS.hint)
    return replace(expression, operator=replace(operator, retracts=True))


def _events(scans: Iterable[WScan], emit: Emit) -> list[LogicalExpression]:
    """A scan of each label of a stream, under the longest of its windows.

    Raises:
        QueryError: E-STORED if all labels are of stored graphs.
    """
    longest: dict[tuple[str, str], WScan] = {}
    for scan in scans:
        if scan.window is not None:
            known = longest.setdefault((scan.stream, scan.label), scan)
            assert known.window is not None
            longest[scan.stream, scan.label] = max(
                known, scan, key=lambda s: (s.window.range, -s.window.slide) if s.window else (0, 0)
            )
    if not longest:
        raise QueryError(
            "E-STORED",
            "all labels of the query are of stored graphs, whose rows are no events: nothing would"
            " ever be reported",
            at=emit.location,
            text="EMIT",
            hint="write a period, as EVERY 10m, or read a stream too",
        )
    return [LogicalExpression(longest[of]) for of in sorted(longest)]


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

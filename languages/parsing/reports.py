"""The EMIT clause: when answers are reported, and which of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from ...algebra.aggregates import ReportMode
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
from ..query.errors import QueryError
from ..query.regular_query import Emit, Location, RegularQuery
from .windows import Length

_MODES: Final[dict[str, ReportMode]] = {
    "entering": "entering",
    "exit": "exit",
    "snapshot": "snapshot",
}


@dataclass(frozen=True, slots=True)
class EmitText:
    """``EMIT ON ENTERING EVERY 1h`` as written."""

    mode: ReportMode
    every: Length | None
    at: Location


def report_mode(word: str) -> ReportMode:
    """The mode of a word in any case of letters."""
    return _MODES[word.lower()]


def with_emit(query: RegularQuery, written: EmitText | None, time_unit: str) -> RegularQuery:
    """The query with its EMIT clause, a period with a unit counted in ``time_unit``.

    Raises:
        QueryError: E-WINDOW if the period is no length of time.
    """
    if written is None:
        return query
    every = written.every
    if every is None:
        return replace(query, emit=Emit(written.mode, None, written.at))
    ticks = every.ticks(time_unit)
    if ticks == 0:
        raise QueryError(
            "E-WINDOW",
            "between two reports lies some time",
            at=every.at,
            text=every.text,
            hint="write EVERY 1h, or leave EVERY out: reports come at each slide then",
        )
    unit = time_unit if every.has_unit else query.time_unit
    return replace(query, emit=Emit(written.mode, ticks, written.at), time_unit=unit)


def reported(expression: LogicalExpression, emit: Emit | None) -> LogicalExpression:
    """The expression with its answers at the instants of reports, and an aggregation below too."""
    if emit is None or isinstance(expression.operator, Empty):
        return expression
    every = emit.every or slides_in(expression)
    if isinstance(expression.operator, Aggregate):
        at_instants = replace(expression.operator, every=every)
        expression = replace(expression, operator=at_instants)
    return LogicalExpression(Report(emit.mode, every), (expression,))


def operators_in(expression: LogicalExpression) -> Iterator[LogicalOperator]:
    """Each operator of an expression, shared ones once."""
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
    """The windows of all scans below, each as often as it is there."""
    reading = (o for o in operators_in(expression) if isinstance(o, WScan | WScanUnion))
    windows = (scan.window for operator in reading for scan in operator.scans)
    return [window for window in windows if window is not None]

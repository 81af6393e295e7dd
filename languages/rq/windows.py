"""Window clauses of RQ: as written, and in ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from ..parsing.tokens import location_of, name_of
from ..parsing.windows import WindowText
from ..query.regular_query import WindowClause


@dataclass(frozen=True, slots=True)
class ClauseText:
    """``ON stream (label, ...) WINDOW ...`` as written; without a stream, for all streams."""

    stream: Token | None
    labels: tuple[str, ...]
    window: WindowText


def windows_of(
    clauses: Sequence[ClauseText], time_unit: str
) -> tuple[tuple[WindowClause, ...], str | None]:
    """The window clauses in ticks, and the time unit if any clause is written with a unit."""
    unit = time_unit if any(clause.window.has_unit for clause in clauses) else None
    return tuple(_clause(clause, time_unit) for clause in clauses), unit


def _clause(clause: ClauseText, time_unit: str) -> WindowClause:
    window = clause.window.window(time_unit)
    stream = None if clause.stream is None else name_of(clause.stream)
    at = location_of(clause.stream) if clause.stream else clause.window.range.at
    return WindowClause(window, stream, clause.labels, at)

"""Window clauses of RQ: as the text says them, and in ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from ..parsing.tokens import location_of, name_of
from ..parsing.windows import Length, window_of
from ..query.regular_query import WindowClause


@dataclass(frozen=True, slots=True)
class WindowText:
    """A window clause as written."""

    stream: Token | None
    labels: tuple[str, ...]
    range: Length
    slide: Length | None


def windows_of(
    written: Sequence[WindowText], time_unit: str
) -> tuple[tuple[WindowClause, ...], str | None]:
    """The window clauses in ticks, and the unit if any of them was written with one."""
    lengths = [length for clause in written for length in (clause.range, clause.slide) if length]
    unit = time_unit if any(length.has_unit for length in lengths) else None
    return tuple(_clause(clause, time_unit) for clause in written), unit


def _clause(written: WindowText, time_unit: str) -> WindowClause:
    window = window_of(written.range, written.slide, time_unit)
    stream = None if written.stream is None else name_of(written.stream)
    at = location_of(written.stream) if written.stream else written.range.at
    return WindowClause(window, stream, written.labels, at)

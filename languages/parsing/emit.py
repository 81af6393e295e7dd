"""The EMIT clause: the times and the mode of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from lark import Token

from ...algebra.aggregates import ReportMode
from ..query.atoms import Location
from ..query.errors import QueryError
from ..query.regular_query import Emit, RegularQuery
from .tokens import location_of
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

    @staticmethod
    def of(tokens: Sequence[Token]) -> EmitText:
        """The clause of its tokens: EMIT, the mode, and optionally a length of time."""
        word, mode, *every = tokens
        period = Length.of(every[0]) if every else None
        return EmitText(_MODES[mode.lower()], period, location_of(word))


def with_emit(query: RegularQuery, written: EmitText | None, time_unit: str) -> RegularQuery:
    """The query with its EMIT clause; a period with a unit is converted to ``time_unit``.

    Raises:
        QueryError: E-WINDOW if the period is not a positive length of time.
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
            "the period between reports must be longer than zero",
            at=every.at,
            text=every.text,
            hint="write EVERY 1h, or leave EVERY out: reports come at each slide then",
        )
    unit = time_unit if every.has_unit else query.time_unit
    return replace(query, emit=Emit(written.mode, ticks, written.at), time_unit=unit)

"""The EMIT clause: the times and the mode of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lark import Token

from ...algebra import moments
from ...algebra.aggregates import ReportMode
from ...algebra.durations import DurationError
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
EVENTS: Final = "EVENTS"
"""The terminal of ``2 events``."""
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant as written: ``2024-05-01T12:00Z``, or a number of ticks."""

    text: str
    at: Location = field(compare=False)

    @property
    def has_unit(self) -> bool:
        """Whether the instant is a date and time, instead of a number of ticks."""
        return not self.text.isdecimal()

    def ticks(self, time_unit: str) -> int:
        """The number of ticks of ``time_unit``.

        Raises:
            QueryError: E-WINDOW if the text is not an instant.
        """
        try:
            return moments.ticks(self.text, time_unit)
        except DurationError as error:
            raise QueryError(
                "E-WINDOW", error.reason, at=self.at, text=self.text, hint=error.hint
            ) from None


@dataclass(frozen=True, slots=True)
class EmitText:
    """``EMIT ON ENTERING EVERY 1h STARTING AT 2024-05-01`` as written.

    Attributes:
        mode: the rows to report.
        every: the period, or the number of events with the word; None if it is left out.
        at: the place of the clause.
        start: the first instant, if there is one.
    """

    mode: ReportMode
    every: Token | None
    at: Location
    start: Moment | None = None

    @staticmethod
    def of(tokens: Sequence[Token], start: Moment | None = None) -> EmitText:
        """The clause of its tokens: EMIT, the mode, and optionally a length or events."""
        word, mode, *every = tokens
        return EmitText(_MODES[mode.lower()], next(iter(every), None), location_of(word), start)


def with_emit(query: RegularQuery, written: EmitText | None, time_unit: str) -> RegularQuery:
    """The query with its EMIT clause; times with a unit are converted to ``time_unit``.

    Raises:
        QueryError: E-WINDOW if the period is not a positive length of time or number of events, or
            the start is not an instant.
    """
    if written is None:
        return query
    emit, has_unit = Emit(written.mode, None, written.at), False
    every, start = written.every, written.start
    if every is not None and every.type == EVENTS:
        emit = replace(emit, events=_events(every))
    elif every is not None:
        length = Length.of(every)
        emit, has_unit = replace(emit, every=_period(length, time_unit)), length.has_unit
    if start is not None:
        emit = replace(emit, start=start.ticks(time_unit))
        has_unit |= start.has_unit
    return replace(query, emit=emit, time_unit=time_unit if has_unit else query.time_unit)


def _period(length: Length, time_unit: str) -> int:
    ticks = length.ticks(time_unit)
    if ticks == 0:
        raise QueryError(
            "E-WINDOW",
            "the period between reports must be longer than zero",
            at=length.at,
            text=length.text,
            hint="write EVERY 1h, or leave EVERY out: reports come at each slide then",
        )
    return ticks


def _events(token: Token) -> int:
    digits = str(token).split()[0].lstrip("0")
    if not 0 < len(digits) <= _MOST_DIGITS:
        raise QueryError(
            "E-WINDOW",
            f"reports come after at least 1 event, and fewer than 10^{_MOST_DIGITS}",
            at=location_of(token),
            text=str(token),
            hint="write EVERY 1 EVENT, or EVERY 100 EVENTS",
        )
    return int(digits)

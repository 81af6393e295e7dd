"""Times of the calendar: ISO 8601 texts, parts of a time, and the starts of periods.

A time is a whole number of ticks since 1970, in UTC; a tick is a number of microseconds. Weeks
begin on Monday, and the week of a year with its first Thursday is its first (ISO 8601).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1)


def _quarter(time: datetime) -> int:
    return (time.month + 2) // 3


def _midnight(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


_STARTS: Final[Mapping[str, Callable[[datetime], datetime]]] = MappingProxyType(
    {
        "year": lambda time: _midnight(time).replace(month=1, day=1),
        "quarter": lambda time: _midnight(time).replace(month=3 * _quarter(time) - 2, day=1),
        "month": lambda time: _midnight(time).replace(day=1),
        "week": lambda time: _midnight(time) - _DAY * (time.isoweekday() - 1),
        "day": _midnight,
    }
)

PARTS: Final[Mapping[str, Callable[[datetime], int]]] = MappingProxyType(
    {
        "year": lambda time: time.year,
        "quarter": _quarter,
        "month": lambda time: time.month,
        "week": lambda time: time.isocalendar().week,
        "week_year": lambda time: time.isocalendar().year,
        "day": lambda time: time.day,
        "day_of_week": datetime.isoweekday,
        "day_of_quarter": lambda time: (time - _STARTS["quarter"](time)) // _DAY + 1,
        "day_of_year": lambda time: time.timetuple().tm_yday,
        "hour": lambda time: time.hour,
        "minute": lambda time: time.minute,
        "second": lambda time: time.second,
        "millisecond": lambda time: time.microsecond // 1000,
        "microsecond": lambda time: time.microsecond,
        "nanosecond": lambda time: 1000 * time.microsecond,
    }
)
"""The parts of a time; those of a second count from its start."""

_LENGTHS: Final = {
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": _MICROSECOND,
}
PERIODS: Final = (*_STARTS, *_LENGTHS)
"""The periods that have a start, the longest first."""


def as_time(text: str, tick: float) -> int | None:
    """The time of an ISO 8601 text, rounded down; None for another text.

    Raises:
        ValueError: the text has a date that the calendar does not have.
    """
    if not re.match(r"[0-9]{4}-", text):
        return None
    time = datetime.fromisoformat(text)
    return _ticks(time if time.tzinfo else time.replace(tzinfo=UTC), tick)


def time_part(time: float, tick: float, part: str) -> int | None:
    """A part of a time; None if there is none of :data:`PARTS` with the name.

    Raises:
        OverflowError: the time is not of the years 1 to 9999.
    """
    of = PARTS.get(part)
    return None if of is None else of(_time(time, tick))


def time_start(time: float, tick: float, period: str) -> int | None:
    """The start of the year, month or other period with a time in it, rounded down; None if there
    is none of :data:`PERIODS` with the name.

    Raises:
        OverflowError: the time is not of the years 1 to 9999.
    """
    moment = _time(time, tick)
    if (start := _STARTS.get(period)) is not None:
        return _ticks(start(moment), tick)
    length = _LENGTHS.get(period)
    return None if length is None else _ticks(moment - (moment - _EPOCH) % length, tick)


def _time(time: float, tick: float) -> datetime:
    return _EPOCH + _MICROSECOND * (math.floor(time) * int(tick))


def _ticks(time: datetime, tick: float) -> int:
    return (time - _EPOCH) // _MICROSECOND // int(tick)

"""Instants as people write them, ``2024-05-01T12:00Z``, in ticks since the epoch of Unix time.

In: text and the time unit that ticks are counted in. Out: a whole number of ticks, and back. A bare
number is a number of ticks. A time without a zone is of UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final

from .durations import DurationError, microseconds_of
from .window import LONGEST_WINDOW

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LARGEST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_WRITTEN: Final = "write a date and time, as 2024-05-01T12:00:00Z, or a number of ticks"


def ticks(text: str, time_unit: str = "second") -> int:
    """Converts a written instant to ticks of ``time_unit``.

    >>> ticks("1970-01-02"), ticks("1970-01-01T01:00+01:00"), ticks("7"), ticks("1970-01-02", "day")
    (86400, 0, 7, 1)

    Raises:
        DurationError: if it is no instant, is before the epoch, or is between two ticks.
    """
    written = text.strip()
    if written.isdecimal() and written.isascii():
        if len(written) > 18:
            raise DurationError(written, "it is too late", "time is counted up to 2^62 ticks")
        return int(written)
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise DurationError(written, "it is not an instant", _WRITTEN) from None
    tick = microseconds_of(time_unit)
    if tick is None:
        raise DurationError(
            written, f"it cannot be counted in the time unit {time_unit!r}", "write a bare number"
        )
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    count = Fraction((aware - _EPOCH) // _MICROSECOND, tick)
    if count < 0:
        raise DurationError(written, "it is before time 0, which is 1970-01-01T00:00:00Z", _WRITTEN)
    if count.denominator != 1:
        raise DurationError(
            written,
            f"it is between two {time_unit}s",
            f"write one of them, or declare a finer time unit than {time_unit} in the catalog",
        )
    return min(int(count), LONGEST_WINDOW)


def text(count: int, time_unit: str = "second") -> str:
    """Writes an instant in ticks as a date and time of UTC. The inverse of :func:`ticks`.

    Returns the bare number if the time unit is unknown, or the year has more than four digits.

    >>> text(90), text(1500, "millisecond"), text(3, "step")
    ('1970-01-01T00:01:30Z', '1970-01-01T00:00:01.500000Z', '3')
    """
    tick = microseconds_of(time_unit)
    if tick is None or not 0 <= count * tick <= _LARGEST:
        return str(count)
    moment = _EPOCH + count * tick * _MICROSECOND
    return f"{moment.replace(tzinfo=None).isoformat()}Z"

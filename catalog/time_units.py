"""Guesses the unit of the column ``ts`` from its smallest and largest value.

In: ticks. Out: a unit in which both are dates that data has, or a plain counter; with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from .timestamps import microseconds_per_tick

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS: Final = {
    "second": 1_000_000_000,
    "millisecond": 1_000_000,
    "microsecond": 1_000,
    "nanosecond": 1,
}
"""The usual units of machine timestamps. No value is a plausible date in two of them."""
_EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeUnitGuess:
    """The probable meaning of ``ts``.

    Attributes:
        unit: the unit since 1970; None for a plain counter.
        reason: why, for people.
    """

    unit: str | None
    reason: str


def date_of(ticks: int, time_unit: str) -> datetime | None:
    """The date of a time; None without one: a unit without a length, or a year beyond 9999."""
    nanoseconds = _NANOSECONDS.get(time_unit)
    microseconds = None if nanoseconds is not None else microseconds_per_tick(time_unit)
    if nanoseconds is None and microseconds is None:
        return None
    length = nanoseconds if microseconds is None else microseconds * 1_000
    assert length is not None
    try:
        return _EPOCH + timedelta(microseconds=ticks * length // 1_000)
    except OverflowError:
        return None


def guessed_time_unit(
    earliest: int, latest: int, time_unit: str, *, dates: bool = False
) -> TimeUnitGuess:
    """Guesses the unit of times.

    Args:
        earliest: the smallest time, in ticks.
        latest: the largest time, in ticks.
        time_unit: the unit in which the times are read.
        dates: whether the file has ISO 8601 timestamps, which were converted to this unit.
    """
    if dates:
        return TimeUnitGuess(time_unit, f"the column has timestamps, read as {time_unit}s")
    units = [*_NANOSECONDS, *([] if time_unit in _NANOSECONDS else [time_unit])]
    for unit in units:
        first, last = date_of(earliest, unit), date_of(latest, unit)
        if first is not None and last is not None and first >= _EARLIEST and last <= _LATEST:
            return TimeUnitGuess(
                unit,
                f"as {unit}s since 1970, {earliest} to {latest} are {first:%Y-%m-%d} to "
                f"{last:%Y-%m-%d}; in no other usual unit are they between 1990 and 2100",
            )
    return TimeUnitGuess(
        None,
        f"in none of the usual units are {earliest} to {latest} dates between 1990 and 2100",
    )

"""Times and lengths of time: whole numbers of ticks of the catalog's time unit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ...algebra import durations, functions, times
from ...algebra.durations import DurationError
from ...algebra.scalar import Literal
from ..query import regular_query as rq
from ..query.atoms import Location
from ..query.regular_query import Computed
from . import errors
from .leaves import Literal as LiteralText
from .syntax import Expression, MapOf

TIMES: Final = ("datetime", "localdatetime", "date")
DIFFERENCES: Final = ("duration.between", "duration.inseconds", "duration.indays")
STARTS: Final = tuple(f"{kind}.truncate" for kind in TIMES)
_SECOND: Final = 1_000_000
KEYS: Final[Mapping[str, int]] = {
    "epochmillis": 1_000,
    "epochseconds": _SECOND,
    "microseconds": 1,
    "milliseconds": 1_000,
    "seconds": _SECOND,
    "minutes": 60 * _SECOND,
    "hours": 3600 * _SECOND,
    "days": 86_400 * _SECOND,
    "weeks": 7 * 86_400 * _SECOND,
}
"""The parts of times and lengths of time, in microseconds."""
CALENDAR: Final[Mapping[str, str]] = {
    **{part.replace("_", ""): part for part in times.PARTS},
    "weekday": "day_of_week",
    "ordinalday": "day_of_year",
}
"""The parts of times by the calendar, in lower case, and their names in the algebra."""
_PARTS: Final = ("year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond")
_LENGTHS: Final = {"weeks": "W", "days": "D", "hours": "H", "minutes": "M", "seconds": "S"}


def tick(time_unit: str, at: Location, text: str) -> int:
    """The length of a tick in microseconds.

    Raises:
        QueryError: E-FUNC if the time unit has no length.
    """
    length = durations.microseconds_of(time_unit)
    if length is None:
        raise errors.NO_LENGTH_OF_TICK.error(at, text)
    return length


def time_of(text: str, length: int, at: Location) -> rq.Value:
    """The time of an ISO 8601 text.

    Raises:
        QueryError: E-TYPE if the text is no time.
    """
    found = functions.applied("AS_TIME", (text, length))
    if found is None:
        raise errors.NO_TIME.error(at, text)
    return Literal(found)


def time_of_map(of: MapOf, values: Mapping[str, rq.Value], length: int, text: str) -> rq.Value:
    """The time of ``{epochMillis: value}`` or ``{year: 2021, month: 3}``.

    Raises:
        QueryError: E-FUNC for other maps, E-TYPE for a date that the calendar does not have.
    """
    if len(values) == 1 and (key := next(iter(values))) in ("epochmillis", "epochseconds"):
        return scaled(values[key], KEYS[key], length)
    numbers: dict[str, int] = {}
    for key, value in values.items():
        whole = value.value if isinstance(value, Literal) else None
        if key not in _PARTS or isinstance(whole, bool) or not isinstance(whole, int):
            raise errors.TIME_MAP.error(of.at, text)
        numbers[key] = whole
    if "year" not in numbers:
        raise errors.TIME_MAP.error(of.at, text)
    micros = 1000 * numbers.pop("millisecond", 0) + numbers.pop("microsecond", 0)
    try:
        start = datetime(
            numbers["year"],
            numbers.get("month", 1),
            numbers.get("day", 1),
            numbers.get("hour", 0),
            numbers.get("minute", 0),
            numbers.get("second", 0),
            micros,
            UTC,
        )
    except (ValueError, OverflowError):
        raise errors.NO_TIME.error(of.at, text) from None
    return time_of(start.isoformat(), length, of.at)


def length_of(of: Expression, time_unit: str, text: str) -> rq.Value:
    """The length of time of an ISO 8601 text, or of ``{minutes: 5}``.

    Raises:
        QueryError: E-TYPE if it is none, or not a whole number of ticks.
    """
    match of:
        case LiteralText(str() as written):
            pass
        case MapOf(values):
            parts = {}
            for key, value in values:
                number = value.value if isinstance(value, LiteralText) else None
                is_known = key.text.lower() in _LENGTHS and type(number) in (int, float)
                if not is_known:
                    raise errors.LENGTH.error(of.at, text)
                parts[key.text.lower()] = number
            days = "".join(f"{parts[k]}{_LENGTHS[k]}" for k in ("weeks", "days") if k in parts)
            rest = ("hours", "minutes", "seconds")
            time = "".join(f"{parts[k]}{_LENGTHS[k]}" for k in rest if k in parts)
            written = f"P{days}{'T' * bool(time)}{time}"
        case _:
            raise errors.LENGTH.error(of.at, text)
    is_negative = written.startswith("-")
    try:
        count = durations.ticks(written.removeprefix("-"), time_unit)
    except DurationError as error:
        raise errors.LENGTH.because(error.reason, error.hint).error(of.at, text) from None
    if not written.lstrip("-").upper().startswith("P"):
        raise errors.LENGTH.error(of.at, text)
    return Literal(-count if is_negative else count)


def part_of(value: rq.Value, key: str, length: int) -> rq.Value:
    """``value.epochMillis``, ``value.month`` and the like, of a number of ticks; ``key`` is one of
    :data:`KEYS` or :data:`CALENDAR`, in lower case."""
    if key in KEYS:
        return scaled(value, length, KEYS[key])
    return Computed("TIME_PART", (value, Literal(length), Literal(CALENDAR[key])))


def start_of(period: Expression, time: rq.Value, length: int, text: str) -> rq.Value:
    """The start of a period with a time in it, ``datetime.truncate('month', time)``.

    Raises:
        QueryError: E-TYPE for another period.
    """
    name = period.value if isinstance(period, LiteralText) else None
    if not isinstance(name, str) or name.lower() not in times.PERIODS:
        raise errors.NO_PERIOD.error(period.at, text)
    return Computed("TIME_START", (time, Literal(length), Literal(name.lower())))


def scaled(value: rq.Value, unit: int, other: int) -> rq.Value:
    """A number of units as a number of other units, rounded down; both in microseconds."""
    if unit == other:
        return value
    if unit % other == 0:
        return Computed("*", (value, Literal(unit // other)))
    if other % unit == 0:
        quotient = Computed("/", (value, Literal(other // unit)))
        return Computed("AS_INTEGER", (Computed("ROUND_DOWN", (quotient,)),))
    whole = Computed("*", (value, Literal(unit)))
    quotient = Computed("/", (whole, Literal(other)))
    return Computed("AS_INTEGER", (Computed("ROUND_DOWN", (quotient,)),))

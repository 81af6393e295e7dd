"""Converts timestamps to whole ticks of the catalog's time unit.

In: text (a whole number of ticks, or ISO-8601), integers or Arrow timestamps. Out: int64 ticks,
null for invalid text. A time between two ticks is rounded down. A time without a zone is UTC. Tick
0 is the start of 1970.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from ..algebra.durations import DurationError, ticks
from .raw import Column

_SHORT_INTEGER = r"^\s*-?[0-9]{1,18}\s*$"
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
_LOCAL = _ISO + "$"
_ZONED = _ISO + r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SIZES = {"second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
"""The common units of machine timestamps, in microseconds."""
_YEAR_5138 = 10**17
"""The start of the year 5138, in microseconds; a time in seconds has 12 digits then."""


def microseconds_per_tick(time_unit: str) -> int | None:
    """The length of a tick in microseconds; None for a unit without a length (``step``)."""
    try:
        return ticks(f"1 {time_unit}", "microsecond")
    except DurationError:
        return None


def finer_unit(ticks: int, time_unit: str) -> str | None:
    """The probable unit of a time that lies beyond the year 5138 in ``time_unit``, as milliseconds
    read as seconds do. None for a plausible time."""
    per_tick = microseconds_per_tick(time_unit)
    if per_tick is None or ticks * per_tick < _YEAR_5138:
        return None
    finer = (unit for unit, size in _SIZES.items() if ticks * size < _YEAR_5138)
    return next(finer, None)


def ticks_of_times(times: Column, time_unit: str) -> Column:
    """Arrow timestamps or dates as ticks; all null if the unit has no length."""
    per_tick = microseconds_per_tick(time_unit)
    if per_tick is None:
        return pa.nulls(len(times), pa.int64())
    unzoned = pc.cast(times, pa.timestamp("us"), safe=False)
    return _floor_divide(pc.cast(unzoned, pa.int64()), per_tick)


def ticks_of_texts(texts: Column, time_unit: str) -> Column:
    """Texts as ticks; null for text that is neither a whole number nor ISO-8601."""
    numbers = whole_numbers(texts)
    if numbers.null_count == texts.null_count:
        return numbers
    times = _iso_times(pc.if_else(pc.is_valid(numbers), None, texts))
    return pc.coalesce(numbers, ticks_of_times(times, time_unit))


def whole_numbers(texts: Column) -> Column:
    """Texts as int64; null for text that is not a decimal integer of 64 bits."""
    short = pc.match_substring_regex(texts, _SHORT_INTEGER)
    digits = texts if pc.all(short).as_py() else pc.if_else(short, texts, None)
    numbers: Column
    try:
        numbers = pc.cast(digits, pa.int64())
    except pa.ArrowInvalid:
        numbers = pc.cast(pc.utf8_trim_whitespace(digits), pa.int64())
    if numbers.null_count == texts.null_count:
        return numbers
    # Nineteen digits may or may not fit into 64 bits; Python checks without raising.
    long: Column = pc.match_substring_regex(texts, r"^\s*-?[0-9]{19,}\s*$")
    if not pc.any(long).as_py():
        return numbers
    exact = [
        _int64(text.as_py()) if is_long.as_py() else None
        for text, is_long in zip(texts, long, strict=True)
    ]
    return pc.coalesce(numbers, pa.array(exact, pa.int64()))


def _int64(text: str) -> int | None:
    digits = text.strip().lstrip("-0")
    if len(digits) > 19:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _iso_times(texts: Column) -> Column:
    local = pc.if_else(pc.match_substring_regex(texts, _LOCAL), texts, None)
    zoned = pc.if_else(pc.match_substring_regex(texts, _ZONED), texts, None)
    try:
        times: Column = pc.coalesce(
            pc.cast(local, pa.timestamp("us")),
            pc.cast(pc.cast(zoned, pa.timestamp("us", "UTC")), pa.timestamp("us")),
        )
    except pa.ArrowInvalid:
        # One impossible date (30 February) fails the whole cast.
        return pa.array(map(_iso_microseconds, texts.to_pylist()), pa.timestamp("us"))
    if times.null_count == texts.null_count:
        return times
    rest = pc.if_else(pc.is_valid(times), None, texts)
    return pc.coalesce(
        times, pa.array(map(_iso_microseconds, rest.to_pylist()), pa.timestamp("us"))
    )


def _iso_microseconds(text: str | None) -> int | None:
    """The microseconds since 1970 of an ISO-8601 time; None for other text."""
    if text is None or text.strip().isdigit():  # a number beyond 64 bits, not a date
        return None
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return (zoned - _EPOCH) // _MICROSECOND


def _floor_divide(numbers: Column, divisor: int) -> Column:
    if divisor == 1:
        return numbers
    quotient = pc.divide(numbers, divisor)  # rounds towards zero
    inexact_negative = pc.less(numbers, pc.multiply(quotient, divisor))
    return pc.subtract(quotient, pc.cast(inexact_negative, pa.int64()))

"""Lengths of application time as people write them: ``24h``, ``PT4H``, ``30 days``, ``100``.

In: text and the time unit that ticks are counted in. Out: a whole number of ticks, and
back. A bare number is a number of ticks; months and years have no fixed length and are
refused.
"""

from __future__ import annotations

import re
from fractions import Fraction

from .window import LONGEST_WINDOW

_UNITS = {
    "us": ("microsecond", 1),
    "ms": ("millisecond", 1_000),
    "s": ("second", 1_000_000),
    "m": ("minute", 60_000_000),
    "h": ("hour", 3_600_000_000),
    "d": ("day", 86_400_000_000),
    "w": ("week", 604_800_000_000),
}
_MICROSECONDS = {
    **{short: size for short, (_, size) in _UNITS.items()},
    **dict(_UNITS.values()),
    **{f"{name}s": size for name, size in _UNITS.values()},
    **{"sec": 1_000_000, "secs": 1_000_000, "min": 60_000_000, "mins": 60_000_000},
    **{"hr": 3_600_000_000, "hrs": 3_600_000_000},
}
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,9})?"
_SIMPLE = re.compile(rf"({_NUMBER})\s*([a-z]*)", re.IGNORECASE)
_ISO = re.compile(
    rf"P(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?",
    re.IGNORECASE,
)
_LONGEST_SHOWN = 40
_WRITTEN = "write a number with a unit (ms, s, m, h, d, w), as 30d, or an ISO 8601 one, as PT4H"


class DurationError(ValueError):
    """A text does not denote a length of time.

    Attributes:
        reason: what is wrong with the text, without the text.
        hint: what to write instead.
    """

    def __init__(self, written: str, reason: str, hint: str = "") -> None:
        shown = written if len(written) <= _LONGEST_SHOWN else f"{written[:_LONGEST_SHOWN]}…"
        message = f"{shown!r}: {reason}"
        super().__init__(f"{message}; {hint}" if hint else message)
        self.reason = reason
        self.hint = hint


def unit(text: str) -> str:
    """The full, singular name of a unit of time; an unknown unit is returned as written.

    >>> unit("ms"), unit("Seconds"), unit("d"), unit("step")
    ('millisecond', 'second', 'day', 'step')
    """
    size = _MICROSECONDS.get(text.strip().lower())
    return next((name for name, own in _UNITS.values() if own == size), text)


def microseconds_of(time_unit: str) -> int | None:
    """The microseconds in a unit of time; None for an unknown one.

    >>> microseconds_of("ms"), microseconds_of("step")
    (1000, None)
    """
    return _MICROSECONDS.get(time_unit.lower())


def ticks(text: str, time_unit: str = "second") -> int:
    """Converts a written length of time to ticks of ``time_unit``.

    >>> ticks("24h"), ticks("PT1M30S"), ticks("1.5 s", "millisecond"), ticks("100", "minute")
    (86400, 90, 1500, 100)

    Raises:
        DurationError: if it is not a duration, or not a whole number of ticks.
    """
    written = text.strip()
    simple = _SIMPLE.fullmatch(written)
    if simple and not simple[2]:
        if "." in simple[1]:
            raise DurationError(written, "it has no unit and is not a whole number", _WRITTEN)
        return int(simple[1])
    microseconds = _of_unit(simple) if simple else _of_iso(written)
    tick = microseconds_of(time_unit)
    if tick is None:
        raise DurationError(
            written, f"it cannot be counted in the time unit {time_unit!r}", "write a bare number"
        )
    count = microseconds / tick
    if count.denominator != 1:
        raise DurationError(
            written,
            f"it is not a whole number of {time_unit}s",
            f"write one, or declare a finer time unit than {time_unit} in the catalog",
        )
    if count > LONGEST_WINDOW:
        raise DurationError(
            written, "it is too long", f"no more than 2^62 {time_unit}s can be counted"
        )
    return int(count)


def text(count: int, time_unit: str = "second") -> str:
    """Writes ``count`` ticks with the largest unit that keeps the number whole.

    Returns the bare number if the time unit is unknown or the count is not positive. The inverse
    of :func:`ticks`.

    >>> text(2592000), text(90), text(1500, "millisecond"), text(3, "step")
    ('30d', '90s', '1500ms', '3')
    """
    tick = microseconds_of(time_unit)
    if tick is None or count <= 0:
        return str(count)
    # Weeks are read but not written: people write windows as 30d and 7d.
    for short in ("d", "h", "m", "s", "ms"):
        if count * tick % _MICROSECONDS[short] == 0:
            return f"{count * tick // _MICROSECONDS[short]}{short}"
    return f"{count * tick}us"


def _of_unit(match: re.Match[str]) -> Fraction:
    size = _MICROSECONDS.get(match[2].lower())
    if size is None:
        raise DurationError(match[0], f"{match[2]!r} is not a unit of time here", _WRITTEN)
    return Fraction(match[1]) * size


def _of_iso(written: str) -> Fraction:
    match = _ISO.fullmatch(written)
    if match is None or not any(match.groups()) or written[-1] in "Tt":
        calendar = re.fullmatch(r"P[0-9.YMWD]*[YM].*", written, re.IGNORECASE)
        why = "months and years have no fixed length" if calendar else "it is not a length of time"
        raise DurationError(written, why, _WRITTEN)
    sizes = (_MICROSECONDS[unit] for unit in "wdhms")
    return sum(
        (Fraction(part) * size for part, size in zip(match.groups(), sizes, strict=True) if part),
        Fraction(0),
    )

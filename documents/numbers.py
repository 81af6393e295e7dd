"""Numbers, lengths of time and foreign names as text for people."""

from __future__ import annotations

import math
from dataclasses import dataclass

_UNITS = {
    "nanosecond": (1e-9, "ns"),
    "microsecond": (1e-6, "µs"),
    "millisecond": (1e-3, "ms"),
    "second": (1.0, "s"),
    "minute": (60.0, "min"),
    "hour": (3600.0, "h"),
    "day": (86400.0, "d"),
}
"""The time units of a catalog: the seconds in one unit, and its abbreviation."""

_LENGTHS = (
    (86400.0, "d"),
    (3600.0, "h"),
    (60.0, "m"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
)


def number(value: float) -> str:
    """Three significant digits, with k, M, G, T above a thousand: ``0.025``, ``1.23k``."""
    if math.isinf(value) or math.isnan(value):
        return "∞" if value > 0 else str(value)
    if value == 0:
        return "0"
    if abs(value) < 0.001 or abs(value) >= 1e15:
        return f"{value:.1e}"
    if abs(value) < 999.5:
        return f"{value:.3g}"
    power = 1
    while abs(value) >= 999.5 * 1000**power:
        power += 1
    return f"{value / 1000**power:.3g}{' kMGT'[power]}"


def unit_sign(time_unit: str) -> str:
    """Returns the abbreviation of a time unit (``s`` for second), or an unknown unit unchanged."""
    return _UNITS[time_unit][1] if time_unit in _UNITS else time_unit


@dataclass(frozen=True, slots=True)
class Unit:
    """A display unit for rates and costs.

    ``factor`` is its length in time units of the catalog, ``sign`` its abbreviation.
    """

    factor: float
    sign: str

    @property
    def of_work(self) -> str:
        """The unit of costs in words: the work of operators for a length of the stream.

        >>> Unit(3600.0, "h").of_work
        'µs of work per hour of stream'
        """
        names = {sign: name for name, (_, sign) in _UNITS.items()}
        return f"µs of work per {names.get(self.sign, self.sign)} of stream"

    def __call__(self, rate: float) -> str:
        """Converts a rate per time unit of the catalog to this unit, as text."""
        return number(rate * self.factor)


def per_unit(time_unit: str, largest_rate: float) -> Unit:
    """Returns the smallest unit, from the catalog's to a day, with a rate of at least one.

    >>> per_unit("second", 0.0009), per_unit("second", 20)
    (Unit(factor=3600.0, sign='h'), Unit(factor=1.0, sign='s'))
    """
    own = Unit(1.0, unit_sign(time_unit))
    if time_unit not in _UNITS or largest_rate <= 0 or largest_rate >= 1:
        return own
    seconds = _UNITS[time_unit][0]
    larger = [(size, sign) for size, sign in _UNITS.values() if size > max(seconds, 0.5)]
    for size, sign in larger:
        if largest_rate * size / seconds >= 1:
            return Unit(size / seconds, sign)
    return Unit(larger[-1][0] / seconds, larger[-1][1]) if larger else own


def seconds_in(time_unit: str) -> float | None:
    """Returns the seconds in a time unit; None for an unknown unit."""
    return _UNITS[time_unit][0] if time_unit in _UNITS else None


def duration(ticks: float | None, time_unit: str) -> str:
    """Returns a length of time in the largest unit with a number of at least one.

    >>> duration(2592000, "second"), duration(90, "second"), duration(None, "second")
    ('30d', '1.5m', '∞')
    """
    if ticks is None or math.isinf(ticks):
        return "∞"
    if time_unit not in _UNITS:
        return number(ticks)
    seconds = ticks * _UNITS[time_unit][0]
    for size, sign in _LENGTHS:
        if seconds >= size * 0.9995:
            return number(seconds / size) + sign
    return number(ticks) + _UNITS[time_unit][1]


def share(part: float, whole: float) -> str:
    """Returns ``part`` of ``whole`` in percent: ``12%``, ``<1%``; empty text for 0 of 0."""
    if part <= 0 or whole <= 0:
        return "0%"
    percent = 100 * part / whole
    return "<1%" if percent < 0.5 else f"{percent:.0f}%"


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun.

    >>> counted(1, "file"), counted(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def printable(name: str) -> str:
    """Escapes the control characters of ``name``, so that data cannot control a terminal."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)

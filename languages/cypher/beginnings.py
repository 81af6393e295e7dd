"""``value STARTS WITH 'text'`` as an interval of the order of texts."""

from __future__ import annotations

from ...algebra import scalar
from ..query import regular_query as rq
from ..query.atoms import Location
from ..query.regular_query import Both, Comparison, Condition, Sign


def begins(whole: rq.Value, start: str, at: Location) -> Condition:
    """The texts that begin with a part are an interval of the order of texts."""
    bounds: list[tuple[Sign, str]] = [(">=", start)]
    if (end := _after(start)) is not None:
        bounds.append(("<", end))
    tests = tuple(Comparison(whole, sign, scalar.Literal(b), at) for sign, b in bounds)
    return tests[0] if len(tests) == 1 else Both(tests)


def _after(start: str) -> str | None:
    """The least text after all that begin with ``start``; None if there is none."""
    last = 0x10FFFF
    while start and ord(start[-1]) == last:
        start = start[:-1]
    if not start:
        return None
    following = ord(start[-1]) + 1
    if 0xD800 <= following < 0xE000:  # no text has a surrogate
        following = 0xE000
    return start[:-1] + chr(following)

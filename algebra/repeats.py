"""Repeats of one part of a regex that stand side by side.

In: a regex. Out: a regex of the same words with one repeat in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from . import regex
from .regex import Regex


def as_one(r: Regex) -> Regex:
    """``r`` with one repeat in place of repeats of one part side by side.

    ``a?·a*`` becomes ``a*``, and ``a·a*`` becomes ``a+``: the words are the same.
    """
    match r:
        case regex.Concat(parts):
            return regex.concat(_merged(map(as_one, parts)))
        case regex.Alternation(parts):
            return regex.alternation(map(as_one, parts))
        case regex.Star(part):
            return regex.star(as_one(part))
        case regex.Plus(part):
            return regex.plus(as_one(part))
        case regex.Optional(part):
            return regex.optional(as_one(part))
        case _:
            return r


def _merged(parts: Iterable[Regex]) -> Iterator[Regex]:
    for part, run in groupby(parts, key=lambda one: _bounds(one)[0]):
        bounds = [_bounds(one)[1:] for one in run]
        most = [high for _, high in bounds if high is not None]
        yield regex.repeat(
            part, sum(low for low, _ in bounds), sum(most) if len(most) == len(bounds) else None
        )


def _bounds(r: Regex) -> tuple[Regex, int, int | None]:
    """A part, and how often ``r`` repeats it at least and at most; None for any number."""
    match r:
        case regex.Star(part):
            return part, 0, None
        case regex.Plus(part):
            return part, 1, None
        case regex.Optional(part):
            return part, 0, 1
        case _:
            return r, 1, 1

"""Repeats of one part of a regex that stand side by side.

In: a regex. Out: a regex of the same words with one repeat in their place, if one of them has no
bound. A run of bounded ones stays as it is: one repeat in its place is nested, and no shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from . import regex
from .regex import Regex


def as_one(r: Regex) -> Regex:
    """``r`` with one repeat in place of repeats of one part side by side, of which one is endless.

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
    for part, run in groupby(parts, key=lambda one: _repeated(one)[0]):
        together = list(run)
        if any(isinstance(one, regex.Star | regex.Plus) for one in together):
            yield regex.repeat(part, sum(_repeated(one)[1] for one in together), None)
        else:
            yield from together


def _repeated(r: Regex) -> tuple[Regex, int]:
    """A part, and how often ``r`` repeats it at least."""
    match r:
        case regex.Star(part) | regex.Optional(part):
            return part, 0
        case regex.Plus(part):
            return part, 1
        case _:
            return r, 1

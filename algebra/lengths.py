"""The lengths of the words of a regular expression."""

from __future__ import annotations

from functools import lru_cache

from . import regex
from .regex import Regex


def longest(r: Regex) -> int | None:
    """The length of the longest word; None if there are words of any length."""
    match r:
        case regex.Symbol():
            return 1
        case regex.Concat(parts):
            lengths = [longest(part) for part in parts]
            return None if None in lengths else sum(n for n in lengths if n is not None)
        case regex.Alternation(parts):
            lengths = [longest(part) for part in parts]
            return None if None in lengths else max(n for n in lengths if n is not None)
        case regex.Optional(part):
            return longest(part)
        case regex.Star() | regex.Plus():
            return None
        case _:
            return 0


@lru_cache(maxsize=4096)
def of_length(r: Regex, length: int) -> Regex:
    """The expression of the words of one length.

    >>> from .regex import Symbol, plus, text
    >>> text(of_length(plus(Symbol("a")), 3))
    'a·a·a'
    """
    match r:
        case regex.Symbol():
            return r if length == 1 else regex.NOTHING
        case regex.Concat((first, *rest)):
            return _one_then(first, regex.concat(rest), length, least=0)
        case regex.Alternation(parts):
            return regex.alternation([of_length(part, length) for part in parts])
        case regex.Optional(part):
            return of_length(part, length) if length else regex.EPSILON
        case regex.Star(part):
            return _one_then(part, r, length, least=1) if length else regex.EPSILON
        case regex.Plus(part):
            if not length:
                return regex.EPSILON if regex.nullable(part) else regex.NOTHING
            return _one_then(part, regex.star(part), length, least=1)
        case regex.Epsilon():
            return regex.NOTHING if length else r
        case _:
            return regex.NOTHING


def up_to(r: Regex, most: int) -> Regex:
    """The expression of the non-empty words of at most a length."""
    return regex.alternation([of_length(r, length) for length in range(1, most + 1)])


def _one_then(first: Regex, rest: Regex, length: int, *, least: int) -> Regex:
    """The words of a length that begin with a word of ``first`` of a least length, and go on with
    one of ``rest``."""
    return regex.alternation(
        [
            regex.concat([of_length(first, n), of_length(rest, length - n)])
            for n in range(least, length + 1)
        ]
    )

"""The words of a regular expression of bounded length."""

from __future__ import annotations

from collections.abc import Iterable

from . import regex
from .regex import Regex, Symbol

Step = tuple[Symbol, ...]
"""The symbols of which one matches."""
Word = tuple[Step, ...]


class TooManyWordsError(Exception):
    """A regular expression has more words than the caller takes."""


def words(r: Regex, most: int) -> frozenset[Word]:
    """The words of a regular expression without closures, the empty word among them.

    Symbols between which an alternation chooses are one step, so (a|b)·c is one word.

    Raises:
        TooManyWordsError: if a part has more than ``most`` words.
        ValueError: if the length of the words has no bound.
    """
    match r:
        case regex.Epsilon():
            return frozenset([()])
        case regex.Nothing():
            return frozenset()
        case Symbol():
            return frozenset([((r,),)])
        case regex.Optional(part):
            return words(part, most) | {()}
        case regex.Alternation(parts):
            symbols = tuple(part for part in parts if isinstance(part, Symbol))
            others = [words(part, most) for part in parts if not isinstance(part, Symbol)]
            choice = frozenset([(symbols,)] if symbols else [])
            return _few(choice.union(*others), most)
        case regex.Concat(parts):
            found: frozenset[Word] = frozenset([()])
            for part in parts:
                found = _few((w + v for v in words(part, most) for w in found), most)
            return found
        case _:
            raise ValueError("the words have any length")


def _few(found: Iterable[Word], most: int) -> frozenset[Word]:
    result = frozenset(found)
    if len(result) > most:
        raise TooManyWordsError
    return result

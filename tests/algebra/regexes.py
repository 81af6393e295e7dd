"""Random regexes, and their translation to Python's `re` as a reference."""

import itertools
import re

from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.automaton import Step
from headrace.algebra.regex import Regex

LETTERS: dict[Step, str] = {(0, False): "a", (0, True): "A", (1, False): "b", (1, True): "B"}
WORDS: list[tuple[Step, ...]] = [
    word for length in range(6) for word in itertools.product(LETTERS, repeat=length)
]

symbols = st.sampled_from([regex.Symbol(ref, inverse) for ref, inverse in LETTERS])


def _extend(parts: st.SearchStrategy[Regex]) -> st.SearchStrategy[Regex]:
    bounds = st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3))
    return st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(regex.concat),
        st.lists(parts, min_size=2, max_size=3).map(regex.alternation),
        parts.map(regex.star),
        parts.map(regex.plus),
        parts.map(regex.optional),
        parts.map(regex.inverse),
        st.builds(lambda r, b: regex.repeat(r, *b), parts, bounds),
    )


regexes: st.SearchStrategy[Regex] = st.recursive(
    symbols | st.sampled_from([regex.EPSILON, regex.NOTHING]), _extend, max_leaves=7
)
"""Regexes over two inputs and both directions, built as every caller builds them."""


def pattern(r: Regex) -> str:
    """The same language for `re`, an inverse step as a capital letter."""
    match r:
        case regex.Symbol(ref, inverse):
            assert isinstance(ref, int)
            return LETTERS[ref, inverse]
        case regex.Concat(parts):
            return "".join(f"(?:{pattern(p)})" for p in parts)
        case regex.Alternation(parts):
            return "|".join(f"(?:{pattern(p)})" for p in parts)
        case regex.Star(part):
            return f"(?:{pattern(part)})*"
        case regex.Plus(part):
            return f"(?:{pattern(part)})+"
        case regex.Optional(part):
            return f"(?:{pattern(part)})?"
        case regex.Epsilon():
            return ""
        case regex.Nothing():
            return "(?!)"


def spelled(word: tuple[Step, ...]) -> str:
    return "".join(LETTERS[step] for step in word)


def language(r: Regex) -> set[str]:
    """The words of ``r`` up to length five."""
    accepted = re.compile(pattern(r))
    return {spelled(word) for word in WORDS if accepted.fullmatch(spelled(word))}

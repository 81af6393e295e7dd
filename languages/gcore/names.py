"""Generates names for derived predicates without a name, or with a repeated one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from ..query.predicates import first_free


@dataclass(slots=True)
class Names:
    """Assigns each name once; ``words`` are all words of the query."""

    words: frozenset[str]
    generated: set[str] = field(default_factory=set)
    """The names that are not words of the query."""
    _taken: set[str] = field(default_factory=set)

    def own(self, word: str) -> str:
        """The word itself, or a fresh name if the word is assigned already."""
        if word in self._taken:
            return self.fresh(word)
        self._taken.add(word)
        return word

    def fresh(self, base: str) -> str:
        """The first name of ``base``, ``base_2``, ... that is not a word of the query."""
        name = self.own(first_free(base, self.words | self._taken))
        self.generated.add(name)
        return name


def variables(words: Iterable[str]) -> Iterable[str]:
    """``_1``, ``_2``, ... without words of the query."""
    taken = frozenset(words)
    return (name for number in count(1) if (name := f"_{number}") not in taken)

"""The combined rules, names, labels and warnings of the statements of one text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..query.errors import QueryError
from ..query.regular_query import Rule
from .names import Names, variables
from .sources import Reads
from .syntax import Name


@dataclass(slots=True)
class Program:
    """The combined result of the statements of a text.

    Attributes:
        words: all words of the text.
        names: the assigned names.
        reads: the labels that the text reads.
        rules: the rules so far.
        warnings: the warnings so far.
        heads: the names that the text defines.
    """

    words: frozenset[str]
    names: Names
    reads: Reads
    rules: list[Rule] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    heads: list[Name] = field(default_factory=list)

    def variables(self) -> Iterator[str]:
        """Variables for the anonymous vertices of a rule."""
        return iter(variables(self.words))

    def check_names(self) -> None:
        """Checks that no defined name is also an input label of the text.

        Raises:
            QueryError: E-EDB.
        """
        for name in self.heads:
            if name.text in self.reads.labels:
                raise QueryError(
                    "E-EDB",
                    "the query reads this label from a stream",
                    at=name.at,
                    text=name.text,
                    hint="give the constructed label another name",
                )

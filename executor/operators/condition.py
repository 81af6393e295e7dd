"""A condition on rows of codes: over the codes, or over the values they stand for."""

from __future__ import annotations

from ...algebra.predicate import Predicate
from .. import predicates
from ..batch import IntArray
from ..dictionary import Dictionary
from ..predicates import Mask


class Condition:
    """Which rows satisfy a predicate, SQL over columns ``c0``, ``c1``, ...

    Raises:
        PlanError: if the condition is not on the allow-list.
    """

    def __init__(self, sql: str, width: int, dictionary: Dictionary) -> None:
        predicates.checked(sql, width)
        self.columns = tuple(sorted(Predicate(sql).columns)) or tuple(range(min(width, 1)))
        """What it looks at; of a constant, any column there is."""
        place = {column: k for k, column in enumerate(self.columns)}
        self._sql = Predicate(sql).renumbered(place).sql
        self._dictionary = dictionary
        self._constants: dict[str | int, int] = {}

    def mask(self, codes: IntArray) -> Mask:
        """The rows that satisfy it; ``codes[j, i]`` is column ``columns[j]`` of row ``i``."""
        of_vertices = [k for k in range(len(codes)) if self._dictionary.are_vertices(codes[k])]
        chosen = predicates.code_mask(self._sql, codes, self._constant, of_vertices)
        if chosen is not None:
            return chosen
        return predicates.mask(self._sql, [self._dictionary.decode(column) for column in codes])

    def _constant(self, vertex: str | int) -> int:
        """The code of a literal, which stays the same for as long as the dictionary lives."""
        if vertex not in self._constants:
            self._constants[vertex] = self._dictionary.constant(vertex)
        return self._constants[vertex]

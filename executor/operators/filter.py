"""FILTER above something other than a scan: over codes, or over the values they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from algebra.predicate import Predicate
from executor import predicates
from executor.batch import Batch
from executor.dictionary import Dictionary
from executor.operators.base import Stateless


class FilterOperator(Stateless):
    """The rows that satisfy a condition.

    Raises:
        PlanError: if the condition is not on the allow-list.
    """

    def __init__(self, sql: str, width: int, dictionary: Dictionary) -> None:
        predicates.checked(sql, width)
        self._sql = sql
        self._looked_at = sorted(Predicate(sql).columns)
        self._dictionary = dictionary
        self._constants: dict[str | int, int] = {}

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A part of the rows that come in."""
        (batch,) = inputs
        codes = batch.columns
        of_vertices = [i for i in self._looked_at if self._dictionary.are_vertices(codes[i])]
        chosen = predicates.code_mask(self._sql, codes, self._constant, of_vertices)
        if chosen is None:
            chosen = predicates.mask(self._sql, [self._dictionary.decode(c) for c in batch.columns])
        return batch.take(chosen)

    def _constant(self, vertex: str | int) -> int:
        """The code of a literal, which stays the same for as long as the dictionary lives."""
        if vertex not in self._constants:
            self._constants[vertex] = self._dictionary.constant(vertex)
        return self._constants[vertex]

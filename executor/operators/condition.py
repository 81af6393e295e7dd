"""Evaluates a predicate on rows of codes: on the codes if they decide it, else on the values."""

from __future__ import annotations

from ...algebra.differences import differences, unequal_columns
from ...algebra.predicate import Predicate
from .. import predicates
from ..batch import IntArray
from ..dictionary import Dictionary
from ..kernels import checks
from ..predicates import Mask

Check = tuple[int, int, int, int]
"""A kind of :mod:`headrace.executor.kernels.checks`, two columns, and a bound."""


def checks_of(sql: str) -> tuple[Check, ...]:
    """The parts of a residual that a kernel checks itself: bounds of differences, unequal ends."""
    residual = Predicate(sql)
    bounds = [(checks.DIFFERENCE, *bound) for bound in differences(residual)]
    return (*bounds, *[(checks.UNEQUAL, x, y, 0) for x, y in unequal_columns(residual)])


class Condition:
    """A predicate, SQL over columns ``c0``, ``c1``, ..., on rows of codes.

    Raises:
        PlanError: if the predicate is not on the allow-list.
    """

    def __init__(self, sql: str, width: int, dictionary: Dictionary) -> None:
        predicates.checked(sql, width)
        self.columns = tuple(sorted(Predicate(sql).columns)) or tuple(range(min(width, 1)))
        """The columns that the predicate reads; the first column for a constant predicate."""
        place = {column: k for k, column in enumerate(self.columns)}
        self._sql = Predicate(sql).renumbered(place).sql
        self._dictionary = dictionary
        self._constants: dict[str | int, int] = {}

    def mask(self, codes: IntArray) -> Mask:
        """A mask of the rows that satisfy the predicate.

        ``codes[j, i]`` is column ``columns[j]`` of row ``i``.
        """
        of_vertices = [k for k in range(len(codes)) if self._dictionary.are_vertices(codes[k])]
        chosen = predicates.code_mask(self._sql, codes, self._constant, of_vertices)
        if chosen is not None:
            return chosen
        return predicates.mask(self._sql, [self._dictionary.decode(column) for column in codes])

    def _constant(self, vertex: str | int) -> int:
        """The code of a literal; it never changes within a dictionary, so it is cached."""
        if vertex not in self._constants:
            self._constants[vertex] = self._dictionary.constant(vertex)
        return self._constants[vertex]

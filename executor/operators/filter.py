"""FILTER above an operator; FILTERs directly above a scan run within the scan input."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import Batch
from ..dictionary import Dictionary
from .base import Stateless
from .condition import Condition


class FilterOperator(Stateless):
    """Passes the rows that satisfy a predicate.

    Raises:
        PlanError: if the predicate is not on the allow-list.
    """

    def __init__(self, sql: str, width: int, dictionary: Dictionary) -> None:
        self._condition = Condition(sql, width, dictionary)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The input rows that satisfy the predicate."""
        (batch,) = inputs
        return batch.take(self._condition.mask(batch.columns[list(self._condition.columns)]))

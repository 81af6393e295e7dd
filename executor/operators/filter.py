"""FILTER above something other than a scan."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import Batch
from ..dictionary import Dictionary
from .base import Stateless
from .condition import Condition


class FilterOperator(Stateless):
    """The rows that satisfy a condition.

    Raises:
        PlanError: if the condition is not on the allow-list.
    """

    def __init__(self, sql: str, width: int, dictionary: Dictionary) -> None:
        self._condition = Condition(sql, width, dictionary)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A part of the rows that come in."""
        (batch,) = inputs
        return batch.take(self._condition.mask(batch.columns[list(self._condition.columns)]))

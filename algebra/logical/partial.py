"""PARTIAL_AGGREGATE: the aggregates of the rows of each partition, of which others are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .. import notation
from ..aggregates import AggregateCall
from ..notation import InputNames
from .base import LogicalOperator


@dataclass(frozen=True, slots=True)
class PartialAggregate(LogicalOperator):
    """γ': on each partition, one row for each combination of the ``keys`` among its valid rows.

    The columns are the keys, the aggregates, and the number of the partition, so that the rows of
    two partitions differ. Which rows lie on which partition is left to the plan: an operator above
    has to give the same result for any division of the rows. A row is retracted when its values
    change. With a period there are rows for its multiples alone, and none is retracted.

    Attributes:
        keys: the columns to group by.
        aggregates: the functions, each with its columns.
        every: the period in ticks; None gives rows at every instant.
    """

    keys: tuple[int, ...]
    aggregates: tuple[AggregateCall, ...]
    every: int | None = None

    op: ClassVar[str] = "PARTIAL_AGGREGATE"

    @property
    def by_partition(self) -> bool:
        """Each partition has rows of its own."""
        return True

    def width(self, inputs: Sequence[int]) -> int:
        return len(self.keys) + len(self.aggregates) + 1

    def arguments(self, names: InputNames) -> str:
        """``count(*) by src  partial``."""
        calls = [call.call for call in self.aggregates]
        output = range(len(self.keys) + len(calls) + 1)
        return notation.aggregates(self.keys, calls, output, self.every, names, marks=("partial",))

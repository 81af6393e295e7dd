"""TOP: the first rows in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from .. import notation
from ..combinations import Feature, Form, declared
from ..notation import InputNames
from ..orders import Order, shortest
from .base import I, LogicalOperator

LIMITS = declared(
    Form(
        "rules with `LIMIT`",
        brings=Feature.LIMITS,
        refuses=frozenset({Feature.SLIDES}),
        hint="evaluate at every instant",
    )
)


@dataclass(frozen=True, slots=True)
class Top(LogicalOperator):
    """τ: at each instant the first ``limit`` of the rows that are valid, after ``offset`` others.

    The result is not monotone: a row ends when rows before it begin, and begins when they end, so
    its consumers read deletions.

    Attributes:
        order: the order of the rows; all further columns, ascending, make it total.
        limit: the number of rows, at least 1.
        partial: whether the first rows of each partition are kept: all first rows, and some more.
        offset: the number of rows that are left out before the first one; 0 if ``partial``.
    """

    order: Order
    limit: int
    partial: bool = False
    offset: int = 0

    op: ClassVar[str] = "TOP"

    @property
    def by_partition(self) -> bool:
        """Whether each partition keeps rows of its own."""
        return self.partial

    @property
    def of_each_partition(self) -> Top:
        """The operator that keeps all rows of a partition which this one may need."""
        return replace(self, partial=True, limit=self.limit + self.offset, offset=0)

    @property
    def form(self) -> Form:
        return LIMITS

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The order without the columns that follow from it."""
        order = shortest(self.order)
        return (self if order == self.order else replace(self, order=order)), inputs

    def width(self, inputs: Sequence[int]) -> int:
        return inputs[0]

    def arguments(self, names: InputNames) -> str:
        """``first 10 by n desc, x``, ``first 10 of each partition by n desc, x``."""
        return notation.first_rows(
            self.order, self.limit, names.columns[0], offset=self.offset, partial=self.partial
        )

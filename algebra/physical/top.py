"""The operator that keeps the first rows in an order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from .. import notation
from ..notation import InputNames
from ..orders import Order
from ..properties import (
    BROADCAST,
    DIVIDED,
    NOTHING,
    SINGLE,
    Distribution,
    UpdatePattern,
    distributions,
)
from ..untrusted import WIDEST, at_most
from .base import (
    PhysicalOperator,
    Repeats,
    WithDeletions,
    one_input,
    registered,
    require,
    require_columns,
)


@registered
@dataclass(frozen=True, slots=True)
class TopRows(PhysicalOperator):
    """Keeps the first ``limit`` of the valid rows in an order, after ``offset`` others.

    The rows of an instant count together, once application time has passed it. The result has
    deletions over any input: a row is retracted when rows before it push it out, and begins when
    rows before it end. A row whose validity grows is retracted before its longer form is given.

    With ``partial`` each partition keeps its own first rows, wherever its rows come from. All rows
    that are first among all are among them, so a second TOP_K above an EXCHANGE finds these.

    Attributes:
        order: pairs of a column and ``asc`` or ``desc``; rows that agree in these columns are
            ordered by the further ones, ascending. Missing values come last.
        limit: the number of rows.
        update_pattern: the variant for an input with deletions, which has to be coalesced; null
            without deletions.
        partial: true if each partition keeps its own first rows; null if all rows are compared.
        offset: the number of rows that are left out before the first one; null for none.
    """

    order: Order
    limit: int
    update_pattern: WithDeletions = field(default=None, hash=False)
    partial: Literal[True] | None = None
    offset: int | None = None
    op: Literal["TOP_K"] = "TOP_K"

    retracts: ClassVar[bool] = True

    @property
    def coalesces(self) -> bool:
        """Whether the result is coalesced, however the input is.

        The first rows of each partition are not if a value may be first on several partitions.
        """
        return self.partial is None or self.ends_deletions

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        """Whether a value of a coalesced input, which lies on one partition, has one valid row."""
        return not self.coalesces

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """A row that repeats another one of its partition changes nothing."""
        return "dropped"

    @property
    def kept(self) -> int:
        """The number of first rows among which the result is found."""
        return self.limit + (self.offset or 0)

    @property
    def lookback(self) -> int:
        """One tick: the changes of the present tick are open, and follow from earlier rows."""
        return 1

    def check_bounds(self, inputs: int) -> None:
        """Checks the number of columns, and that the limit is a number of rows."""
        at_most(len(self.order), WIDEST, "columns")
        require(0 < self.limit < 1 << 61, "its limit is not a number of rows")
        require(0 <= (self.offset or 0) < 1 << 61, "its offset is not a number of rows")

    def output_width(self, inputs: Sequence[int]) -> int:
        width = one_input(inputs)
        columns = [column for column, _ in self.order]
        require_columns(columns, width)
        require(len(set(columns)) == len(columns), "a column occurs twice in its order")
        require(self.limit > 0, "its limit is not a number of rows")
        require((self.offset or 0) >= 0, "its offset is not a number of rows")
        require(not (self.partial and self.offset), "no row of a partition is left out")
        return width

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """All rows are compared with each other, so they lie on one partition, or all on each.

        The first rows of each partition have no such law.
        """
        (below,) = inputs
        require(
            bool(self.partial) or below in (SINGLE, BROADCAST, NOTHING),
            f"its input is distributed by {below}, and the first rows are first among all",
        )
        return below

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """On one partition; for the first rows of each, on several."""
        if not self.partial:
            yield (SINGLE,)
            return
        yield from ((d,) for d in distributions(widths[0], 2) if d.spread in DIVIDED)

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """With deletions, over any input."""
        retracted = self.retracted(inputs)
        if retracted is not (self.update_pattern is not None):
            raise ValueError(f"{self.op} is {'not ' * retracted}made for deletions")
        return UpdatePattern.WITH_DELETIONS

    def over_deletions(self) -> TopRows:
        """The variant for deletions."""
        return replace(self, update_pattern="with_deletions")

    @property
    def ends_deletions(self) -> bool:
        """Whether the input has to be coalesced: a retraction ends the validity of its value."""
        return self.update_pattern is not None

    def arguments(self, names: InputNames) -> str:
        """``first 10 by n desc, x``, ``first 10 of each partition by n desc, x``."""
        return notation.first_rows(
            self.order,
            self.limit,
            names.columns[0],
            offset=self.offset or 0,
            partial=bool(self.partial),
        )

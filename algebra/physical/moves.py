"""Enforcers: operators that change the distribution or form of rows, and not their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, Literal

from .. import notation
from ..notation import InputNames
from ..properties import (
    ANY,
    BROADCAST,
    SINGLE,
    Cells,
    Convention,
    Distribution,
    Spread,
    UpdatePattern,
    distributions,
    in_cells,
)
from ..untrusted import MOST_ATOMS, MOST_OPERATORS, WIDEST, at_most, between
from .base import (
    Conventions,
    DeletionVariant,
    PassesRows,
    WithDeletions,
    one_input,
    registered,
    require,
    require_columns,
    together,
)


@registered
@dataclass(frozen=True, slots=True)
class Retract(PassesRows):
    """Expands an edge deletion into one retraction for each row that the edge still has."""

    op: Literal["RETRACT"] = "RETRACT"

    def output_width(self, inputs: Sequence[int]) -> int:
        require(one_input(inputs) >= 2, "a deletion names source and target")
        return inputs[0]

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """An edge and its deletion have to be on one partition."""
        below = inputs[0]
        by_an_end = not {0, 1}.isdisjoint(below.columns)
        if below == ANY or (below.spread is Spread.HASH and not by_an_end):
            raise ValueError("an edge and what deletes it may lie on several partitions")
        return below

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """The update pattern with retractions in place of marked deletions."""
        marked = set(inputs) == {UpdatePattern.MARKED}
        require(marked, "it stands over a scan of a stream with deletions")
        return UpdatePattern.WITH_DELETIONS


@registered
@dataclass(frozen=True, slots=True)
class Coalesce(PassesRows, DeletionVariant):
    """Drops a row whose validity earlier rows of its value cover, and extends validity.

    Over a stream with deletions the operator counts the rows of each value, and retracts a value
    when its last row is retracted.
    """

    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["COALESCE"] = "COALESCE"

    coalesces: ClassVar[bool] = True

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Equal rows have to be on one partition."""
        return together(inputs[0], "value")


@registered
@dataclass(frozen=True, slots=True)
class Exchange(PassesRows):
    """Moves rows between partitions; each keeps the order of the rows of its partition.

    ``spread`` is ``hash``, which sends a row to the partition that the values of ``columns`` hash
    to, ``single``, which sends it to the first partition, ``broadcast``, which sends a copy to
    each, or ``hypercube``, which sends copies to some of them for a MULTIWAY_JOIN.

    Attributes:
        spread: where the rows go.
        columns: the one column that ``hash`` uses.
        shares: for ``hypercube`` the number of parts of each dimension. Each cell is a partition,
            in row-major order.
        coordinates: for ``hypercube`` the uses of a row: for each dimension the column whose hash
            names the part, or null for all parts. A row has one copy in each cell of its uses.
    """

    spread: Literal["hash", "single", "broadcast", "hypercube"]
    columns: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()
    coordinates: tuple[tuple[int | None, ...], ...] = ()
    op: Literal["EXCHANGE"] = "EXCHANGE"

    holds_state: ClassVar[bool] = False

    def check_bounds(self, inputs: int) -> None:
        at_most(len(self.coordinates), MOST_ATOMS, "uses of a row")
        for listed in (self.columns, self.shares, *self.coordinates):
            at_most(len(listed), WIDEST, "columns")
        between(self.shares, 2, MOST_OPERATORS, "a share")

    def output_width(self, inputs: Sequence[int]) -> int:
        require_columns(self.columns, one_input(inputs))
        for use in self.coordinates:
            require_columns([column for column in use if column is not None], inputs[0])
            require(len(use) == len(self.shares), "a use of a row has a column for each share")
        return inputs[0]

    @property
    def cells(self) -> Cells | None:
        """The cells of a hypercube; None for another spread."""
        return Cells(self.shares, self.coordinates) if self.spread == "hypercube" else None

    @property
    def least_partitions(self) -> int:
        """The number of cells."""
        return prod(self.shares)

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The distribution of the spread; rows with a copy on each partition are not moved."""
        require(inputs[0] != BROADCAST, "its input is on every partition already")
        if self.spread == "hypercube":
            placed = in_cells(Cells(self.shares, self.coordinates))
            divides = bool(self.shares and self.coordinates) and placed != BROADCAST
            require(divides and not self.columns, "each use of a row names a part of a hypercube")
            return placed
        require(not (self.shares or self.coordinates), f"{self.spread} has no shares")
        if self.spread != "hash":
            require(not self.columns, f"{self.spread} takes no columns")
            return SINGLE if self.spread == "single" else BROADCAST
        count = len(self.columns)
        require(count == 1, f"it hashes on one column, not on {count}")
        return Distribution(Spread.HASH, self.columns)

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Rows that each lie on one partition: on several, or on a single one."""
        return ((d,) for d in distributions(widths[0], 2) if d != BROADCAST)

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        (pattern,) = inputs
        return pattern

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        return True

    def arguments(self, names: InputNames) -> str:
        """``hash(x)``, ``hypercube(2x2: x,y)``."""
        if self.cells is not None:
            return f"{self.spread}({self.cells.text(lambda c: names.columns[0][c])})"
        hashed = ",".join(notation.chosen(names.columns[0], self.columns))
        return f"{self.spread}({hashed})" if self.columns else self.spread


@registered
@dataclass(frozen=True, slots=True)
class ToKernel(PassesRows):
    """Hands rows over from Spark SQL, which computes the input, to compiled operators."""

    op: Literal["TO_KERNEL"] = "TO_KERNEL"

    conventions: ClassVar[Conventions] = ((Convention.SPARK_SQL, Convention.KERNEL),)
    holds_state: ClassVar[bool] = False

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        (pattern,) = inputs
        return pattern

"""Enforcers: operators that change the distribution or form of rows, and not their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from .. import notation
from ..notation import InputNames
from ..properties import (
    ANY,
    BROADCAST,
    DIVIDED,
    SINGLE,
    Convention,
    Distribution,
    Spread,
    UpdatePattern,
    distributions,
)
from ..untrusted import WIDEST, at_most
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
    to, ``single``, which sends it to the first partition, or ``broadcast``, which sends a copy to
    each.
    """

    spread: Literal["hash", "single", "broadcast"]
    columns: tuple[int, ...] = ()
    op: Literal["EXCHANGE"] = "EXCHANGE"

    holds_state: ClassVar[bool] = False

    def check_bounds(self, inputs: int) -> None:
        at_most(len(self.columns), WIDEST, "columns")

    def output_width(self, inputs: Sequence[int]) -> int:
        require_columns(self.columns, one_input(inputs))
        return inputs[0]

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The distribution of the spread; rows with a copy on each partition are not moved."""
        require(inputs[0] != BROADCAST, "its input is on every partition already")
        if self.spread != "hash":
            require(not self.columns, f"{self.spread} takes no columns")
            return SINGLE if self.spread == "single" else BROADCAST
        count = len(self.columns)
        require(count == 1, f"it hashes on one column, not on {count}")
        return Distribution(Spread.HASH, self.columns)

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Rows on several partitions."""
        return ((d,) for d in distributions(widths[0], 2) if d.spread in DIVIDED)

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        (pattern,) = inputs
        return pattern

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        return True

    def arguments(self, names: InputNames) -> str:
        """``hash(x)``."""
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

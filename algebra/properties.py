"""Physical properties of a stream: the distribution, form and convention of its rows.

An operator *delivers* properties, its consumer *requires* some; an enforcer closes the
gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import prod

from .hashing import HashedOnce, hashed_once


class Spread(StrEnum):
    """The placement of rows on partitions; paths divided by root are hashed by their source.

    ``any``: each row on one of the partitions. ``broadcast``: a copy on each. ``hypercube``: copies
    on some (:class:`Cells`). ``nothing``: there are no rows, which satisfies every requirement; no
    consumer requires it.
    """

    ANY = "any"
    SINGLE = "single"
    HASH = "hash"
    BROADCAST = "broadcast"
    HYPERCUBE = "hypercube"
    NOTHING = "nothing"


class UpdatePattern(StrEnum):
    """Whether rows are ever retracted before their interval ends.

    ``marked``: the rows include deletions as a stream has them; a deletion names an edge and not
    the rows of the edge. ``with_deletions``: a negative tuple retracts each row that ends early.
    """

    APPEND_ONLY = "append_only"
    MARKED = "marked"
    WITH_DELETIONS = "with_deletions"


class Convention(StrEnum):
    """The engine that computes an operator."""

    SPARK_SQL = "spark_sql"
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class Cells:
    """Partitions as the cells of a hypercube, and the cells in which a row has copies.

    A dimension is divided into parts, and a value is in the part that its hash names. A row that is
    used in several ways has one copy in each cell that one of the uses names.

    Attributes:
        shares: the number of parts of each dimension. Cell ``k`` is partition ``k``, in row-major
            order; further partitions are no cells.
        coordinates: for each use of a row and each dimension the column whose value names the part,
            or None for all parts.
    """

    shares: tuple[int, ...]
    coordinates: tuple[tuple[int | None, ...], ...]

    def __str__(self) -> str:
        return self.text(str)

    def text(self, name: Callable[[int], str]) -> str:
        """``2x2: x,y | *,x``: the shares, and the columns of each use by their names."""
        uses = [",".join(["*" if c is None else name(c) for c in use]) for use in self.coordinates]
        return f"{'x'.join(map(str, self.shares))}: {' | '.join(uses)}"

    @property
    def count(self) -> int:
        """The number of cells."""
        return prod(self.shares)

    @property
    def copied(self) -> float:
        """The expected part of the rows that is in one cell, if values and uses are independent."""
        elsewhere = 1.0
        for use in self.coordinates:
            named = [s for s, column in zip(self.shares, use, strict=True) if column is not None]
            elsewhere *= 1 - 1 / prod(named)
        return 1 - elsewhere


@hashed_once
@dataclass(frozen=True, slots=True, order=True)
class Distribution(HashedOnce):
    """A spread; for ``hash`` with the columns hashed by, for ``hypercube`` with its cells.

    Each of the ``columns`` holds the value that decides the partition of a row. A goal of the
    search names one column; the distribution derived from a plan may name several columns that
    hold the same value.
    """

    spread: Spread = Spread.ANY
    columns: tuple[int, ...] = ()
    cells: Cells | None = None

    def __str__(self) -> str:
        if self.cells is not None:
            return f"{self.spread}({self.cells})"
        columns = ", ".join(map(str, self.columns))
        return f"{self.spread}({columns})" if columns else self.spread

    def divisor(self, partitions: int) -> float:
        """All rows, divided by the rows on the busiest of several partitions."""
        if self.cells is not None:
            return 1 / self.cells.copied
        return partitions if self.spread in DIVIDED else 1


ANY = Distribution(Spread.ANY)
SINGLE = Distribution(Spread.SINGLE)
BROADCAST = Distribution(Spread.BROADCAST)
NOTHING = Distribution(Spread.NOTHING)

COPIED = (Spread.BROADCAST, Spread.HYPERCUBE)
"""Spreads with copies of a row on several partitions."""

DIVIDED = (Spread.ANY, Spread.HASH)
"""Spreads that leave each row on one of several partitions."""


def hashed(column: int) -> Distribution:
    """Hashed by one column."""
    return Distribution(Spread.HASH, (column,))


def in_cells(cells: Cells) -> Distribution:
    """With copies in the cells of a hypercube; on all partitions where a use names no part."""
    if any(set(use) == {None} for use in cells.coordinates):
        return BROADCAST
    return Distribution(Spread.HYPERCUBE, cells=cells)


@lru_cache(maxsize=1024)
def distributions(width: int, parallelism: int) -> tuple[Distribution, ...]:
    """The distributions of rows with ``width`` columns over the partitions."""
    if parallelism == 1:
        return (SINGLE,)
    return (ANY, SINGLE, BROADCAST, *map(hashed, range(width)))


@dataclass(frozen=True, slots=True, order=True)
class DeliveredProperties:
    """The properties that a physical expression delivers."""

    distribution: Distribution = SINGLE
    coalesced: bool = False
    update_pattern: UpdatePattern = UpdatePattern.APPEND_ONLY
    convention: Convention = Convention.KERNEL


@hashed_once
@dataclass(frozen=True, slots=True, order=True)
class RequiredProperties(HashedOnce):
    """The properties that a consumer requires; None or ``any`` accepts every value.

    ``coalesced`` requires that the validity of no row lies within that of earlier rows of its
    value. The distribution ``any`` requires each row on exactly one partition, which ``broadcast``
    and ``hypercube`` do not satisfy. Rows that are ``marked`` satisfy only a consumer that requires
    them.
    """

    distribution: Distribution = ANY
    coalesced: bool = False
    update_pattern: UpdatePattern | None = None
    convention: Convention = Convention.KERNEL

    def satisfied_by(self, delivered: DeliveredProperties) -> bool:
        """Whether a stream that delivers ``delivered`` needs no enforcer."""
        anyhow = self.distribution.spread is Spread.ANY
        return (
            (
                self.distribution == delivered.distribution
                or (anyhow and delivered.distribution.spread not in COPIED)
            )
            and (delivered.coalesced or not self.coalesced)
            and self.takes(delivered.update_pattern)
            and self.convention is delivered.convention
        )

    def takes(self, pattern: UpdatePattern) -> bool:
        """Whether rows with a delivered update pattern satisfy a required one."""
        if self.update_pattern is None:
            return pattern is not UpdatePattern.MARKED
        return pattern is self.update_pattern


ANYTHING = RequiredProperties()

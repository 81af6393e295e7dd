"""Physical properties of a stream: the distribution, form and convention of its rows.

An operator *delivers* properties, its consumer *requires* some; an enforcer closes the
gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Spread(StrEnum):
    """The placement of rows on partitions; paths divided by root are hashed by their source.

    ``any``: each row on one of the partitions. ``broadcast``: a copy on each. ``nothing``: there
    are no rows, which satisfies every requirement; no consumer requires it.
    """

    ANY = "any"
    SINGLE = "single"
    HASH = "hash"
    BROADCAST = "broadcast"
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


@dataclass(frozen=True, slots=True, order=True)
class Distribution:
    """A spread; for ``hash`` with the columns hashed by.

    Each of the ``columns`` holds the value that decides the partition of a row. A goal of the
    search names one column; the distribution derived from a plan may name several columns that
    hold the same value.
    """

    spread: Spread = Spread.ANY
    columns: tuple[int, ...] = ()

    def __str__(self) -> str:
        columns = ", ".join(map(str, self.columns))
        return f"{self.spread}({columns})" if columns else self.spread


ANY = Distribution(Spread.ANY)
SINGLE = Distribution(Spread.SINGLE)
BROADCAST = Distribution(Spread.BROADCAST)
NOTHING = Distribution(Spread.NOTHING)

DIVIDED = (Spread.ANY, Spread.HASH)
"""Spreads that leave each row on one of several partitions."""


def hashed(column: int) -> Distribution:
    """Hashed by one column."""
    return Distribution(Spread.HASH, (column,))


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


@dataclass(frozen=True, slots=True, order=True)
class RequiredProperties:
    """The properties that a consumer requires; None or ``any`` accepts every value.

    ``coalesced`` requires that the validity of no row lies within that of earlier rows of its
    value. The distribution ``any`` requires each row on exactly one partition, which ``broadcast``
    does not satisfy. Rows that are ``marked`` satisfy only a consumer that requires them.
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
                or (anyhow and delivered.distribution.spread is not Spread.BROADCAST)
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

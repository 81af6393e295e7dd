"""Physical properties of a stream: how its rows are spread, shaped and computed.

An operator *delivers* properties, its consumer *requires* some; an enforcer closes the
gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Spread(StrEnum):
    """How rows lie over partitions; paths divided by root are hashed by their source.

    ``any``: each row on one of the partitions. ``broadcast``: a copy on each. ``nothing``: there
    are no rows, which fits everywhere; no consumer requires it.
    """

    ANY = "any"
    SINGLE = "single"
    HASH = "hash"
    BROADCAST = "broadcast"
    NOTHING = "nothing"


class UpdatePattern(StrEnum):
    """Whether rows are ever retracted before their interval ends.

    ``marked``: there are deletions among the rows as a stream has them, which name an edge and
    not the rows that it gave. ``with_deletions``: each row that ends early is retracted by a
    negative tuple.
    """

    APPEND_ONLY = "append_only"
    MARKED = "marked"
    WITH_DELETIONS = "with_deletions"


class Convention(StrEnum):
    """What computes an operator."""

    SPARK_SQL = "spark_sql"
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True, order=True)
class Distribution:
    """A spread; for ``hash`` with the columns hashed by.

    Each of the ``columns`` holds the value whose partition the row is on. A goal of the search
    names one column; what is derived of a plan may know several that hold the same value.
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
    """How rows of so many columns can lie over so many partitions."""
    if parallelism == 1:
        return (SINGLE,)
    return (ANY, SINGLE, BROADCAST, *map(hashed, range(width)))


@dataclass(frozen=True, slots=True, order=True)
class DeliveredProperties:
    """What a physical expression delivers."""

    distribution: Distribution = SINGLE
    coalesced: bool = False
    update_pattern: UpdatePattern = UpdatePattern.APPEND_ONLY
    convention: Convention = Convention.KERNEL


@dataclass(frozen=True, slots=True, order=True)
class RequiredProperties:
    """The properties that a consumer requires; None or ``any`` where all fit.

    ``coalesced`` asks that no row lies inside what earlier rows of its value said. Rows that
    lie ``any``how are still each on one partition, once: ``broadcast`` ones are not. Rows that
    are ``marked`` fit nobody who does not ask for them.
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
        """Whether rows of such an update pattern fit."""
        if self.update_pattern is None:
            return pattern is not UpdatePattern.MARKED
        return pattern is self.update_pattern


ANYTHING = RequiredProperties()

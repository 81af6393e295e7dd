"""Enforcers: what closes the gap between the properties asked for and those at hand.

::

    coalesced?   COALESCE   over the rows of each value on one partition
    hash, single, broadcast?   EXCHANGE   from rows that lie anyhow
    kernel?   TO_KERNEL   from rows that Spark SQL computes
    negative tuples?   RETRACT   from a scan with deletions, an edge's rows on one partition

Each reads a weaker goal of the same group, so none feeds itself. One after another they lead
from any row stream to what is asked: TO_KERNEL, EXCHANGE, RETRACT, EXCHANGE, COALESCE, EXCHANGE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..algebra.logical import Aggregate, Filter, Project, Report, WScan, WScanUnion
from ..algebra.physical import (
    Coalesce,
    Exchange,
    PhysicalOperator,
    Retract,
    ToKernel,
)
from ..algebra.properties import (
    ANY,
    BROADCAST,
    SINGLE,
    Convention,
    Distribution,
    RequiredProperties,
    Spread,
    UpdatePattern,
)
from ..memo import GroupId
from .goals import Choice
from .placements import Place, hashed

if TYPE_CHECKING:
    from .search import Search

IN_SQL = (WScan, WScanUnion, Filter, Project)
"""What Spark SQL computes, where the inputs are its own too."""


class Enforcers:
    """The enforcers of one search."""

    def __init__(self, search: Search, parallelism: int) -> None:
        self._search = search
        self._parallelism = parallelism

    def of(
        self, group: GroupId, required: RequiredProperties
    ) -> Iterator[tuple[Choice, RequiredProperties]]:
        """The enforcers that deliver ``required``, and what each asks of the same group."""
        if required.convention is Convention.SPARK_SQL or self.is_final(group):
            return
        there = required.distribution
        if required.coalesced:
            for spread in self._where_values_meet(group, there):
                weaker = replace(required, coalesced=False, distribution=spread)
                yield self.choice(self.coalesce(group), group, spread, spread), weaker
        elif required.update_pattern is None and self.retracts(group):
            for spread in self.where_edges_meet(there):
                weaker = replace(required, distribution=spread, update_pattern=UpdatePattern.MARKED)
                yield self.choice(Retract(), group, spread, spread), weaker
        elif self.converts(group, there):
            weaker = replace(required, convention=Convention.SPARK_SQL)
            yield self.choice(ToKernel(), group, ANY, ANY), weaker
        if self._parallelism > 1 and there != ANY:
            yield (
                self.choice(exchange_to(there), group, ANY, there),
                replace(required, distribution=ANY),
            )

    def is_final(self, group: GroupId) -> bool:
        """Whether no enforcer stands above: rows of an aggregation are given when they end, long
        after others of a later ts, and are coalesced, as are reports."""
        if not self._search.side.finals:
            return False
        members = self._search.memo.group(group)
        return members.has(Aggregate) or members.has(Report)

    def coalesce(self, group: GroupId) -> PhysicalOperator:
        """What coalesces the rows of a group."""
        deletions = self._search.memo.group(group).properties.deletions
        return Coalesce().over_deletions() if deletions else Coalesce()

    def retracts(self, group: GroupId) -> bool:
        """Whether the group is that of a scan with deletions."""
        if not self._search.side.deletions:
            return False
        members = self._search.memo.group(group)
        return members.properties.deletions and members.has(WScan)

    def where_edges_meet(self, there: Distribution) -> tuple[Distribution, ...]:
        """Distributions that keep equal edges together and are, or pass for, the one asked for."""
        if self._parallelism == 1:
            return (there,)
        if there == ANY:
            return hashed(0), hashed(1)
        return (there,) if there in (SINGLE, BROADCAST, hashed(0), hashed(1)) else ()

    def converts(self, group: GroupId, there: Distribution) -> bool:
        """Whether Spark SQL may compute the group, where scans leave their rows."""
        if self._parallelism > 1 and there != ANY:
            return False
        members = self._search.memo.group(group)
        return any(members.has(kind) for kind in IN_SQL)

    def _where_values_meet(self, group: GroupId, there: Distribution) -> tuple[Distribution, ...]:
        """Distributions that keep equal rows together and are, or pass for, the one asked for."""
        if self._parallelism == 1 or there != ANY:
            return (there,)
        width = self._search.memo.group(group).properties.width
        return tuple(map(hashed, range(width)))

    def choice(
        self, operator: PhysicalOperator, group: GroupId, below: Distribution, here: Distribution
    ) -> Choice:
        """An enforcer with its cost, over rows that lie as ``below`` and lead to ``here``."""
        search = self._search
        source, result = (Place(d).divided(self._parallelism) for d in (below, here))
        estimate = search.estimate(group)
        local = search.cost_model.cost(operator, estimate.share(result), (estimate.share(source),))
        rule = f"{_NAMES[type(operator)]}Enforcer"
        return Choice(operator, (search.memo.find(group),), local, rule, -1)


def exchange_to(there: Distribution) -> Exchange:
    """The exchange that leads to a distribution other than ``any``."""
    match there.spread:
        case Spread.HASH:
            return Exchange("hash", there.columns)
        case Spread.BROADCAST:
            return Exchange("broadcast")
        case _:
            return Exchange("single")


_NAMES = {
    Coalesce: "Coalesce",
    Exchange: "Exchange",
    Retract: "Retract",
    ToKernel: "Convention",
}

"""Enforcers: operators that turn delivered properties into the required ones.

::

    coalesced?   COALESCE   over the rows of each value on one partition
    hash, single, broadcast, hypercube?   EXCHANGE   from rows on any partition
    any other than single?   EXCHANGE   from first rows and aggregates of all, on a single partition
    kernel?   TO_KERNEL   from rows that Spark SQL computes
    negative tuples?   RETRACT   from a scan with deletions, an edge's rows on one partition

Each reads a weaker goal of the same group, so none feeds itself. One after another they lead
from any row stream to the required one: TO_KERNEL, EXCHANGE, RETRACT, EXCHANGE, COALESCE, EXCHANGE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..algebra.logical import (
    Aggregate,
    EventReport,
    Filter,
    Project,
    Report,
    Top,
    WScan,
    WScanUnion,
)
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
from .coster import Coster
from .goals import Choice
from .placements import hashed

IN_SQL = (WScan, WScanUnion, Filter, Project)
"""Operators that Spark SQL computes, over inputs that it computes too."""


def enforcers(
    coster: Coster, group: GroupId, required: RequiredProperties
) -> Iterator[tuple[Choice, RequiredProperties]]:
    """The enforcers that deliver ``required``, each with its requirements on the same group."""
    if required.convention is Convention.SPARK_SQL or is_final(coster, group):
        return
    here = required.distribution
    if required.coalesced:
        for spread in _where_values_meet(coster, group, here):
            weaker = replace(required, coalesced=False, distribution=spread)
            yield coalesce(coster, group, spread), weaker
    elif required.update_pattern is None and retracts(coster, group):
        for spread in where_edges_meet(coster, here):
            weaker = replace(required, distribution=spread, update_pattern=UpdatePattern.MARKED)
            yield retract(coster, group, spread), weaker
    elif converts(coster, group, here):
        yield (
            to_kernel(coster, group, ANY),
            replace(required, convention=Convention.SPARK_SQL),
        )
    for there in moved_from(coster, group, here):
        target = hashed(0) if here == ANY else here
        moved = exchange(coster, group, there, target, coalesced=required.coalesced)
        yield moved, replace(required, distribution=there)


def coalesce(coster: Coster, group: GroupId, here: Distribution) -> Choice:
    """COALESCE over rows distributed as ``here``."""
    deletions = coster.groups[group].properties.deletions
    operator: PhysicalOperator = Coalesce().over_deletions() if deletions else Coalesce()
    return coster.enforcer("CoalesceEnforcer", operator, group, here, here)


def retract(coster: Coster, group: GroupId, here: Distribution) -> Choice:
    """RETRACT over rows distributed as ``here``."""
    return coster.enforcer("RetractEnforcer", Retract(), group, here, here)


def to_kernel(coster: Coster, group: GroupId, here: Distribution) -> Choice:
    """TO_KERNEL over rows distributed as ``here``."""
    return coster.enforcer("ConventionEnforcer", ToKernel(), group, here, here)


def exchange(
    coster: Coster,
    group: GroupId,
    below: Distribution,
    here: Distribution,
    *,
    coalesced: bool = False,
) -> Choice:
    """EXCHANGE of rows that may be coalesced, from one distribution to another."""
    match here.spread:
        case Spread.HASH:
            operator = Exchange("hash", here.columns)
        case Spread.BROADCAST:
            operator = Exchange("broadcast")
        case Spread.HYPERCUBE:
            assert here.cells is not None
            operator = Exchange("hypercube", (), here.cells.shares, here.cells.coordinates)
        case _:
            operator = Exchange("single")
    return coster.enforcer("ExchangeEnforcer", operator, group, below, here, coalesced=coalesced)


def moved_from(coster: Coster, group: GroupId, here: Distribution) -> tuple[Distribution, ...]:
    """The distribution from which an EXCHANGE moves the rows of a group, to satisfy ``here``.

    Empty if no EXCHANGE helps. The first rows in an order, and aggregates of all rows, are found on
    a single partition, which ``any`` does not include.
    """
    there = SINGLE if lies_on_one(coster, group) else ANY
    return () if coster.parallelism == 1 or here == there else (there,)


def lies_on_one(coster: Coster, group: GroupId) -> bool:
    """Whether the operators of a group give rows on a single partition.

    These are the first rows of all, and an aggregation without keys whose rows are not final.
    """
    members = coster.groups[group]
    return (members.has(Top) or members.has(Aggregate)) and any(
        _compares_all(one.operator) for one in members.expressions
    )


def _compares_all(operator: object) -> bool:
    if isinstance(operator, Aggregate):
        return operator.retracts and not operator.keys
    return isinstance(operator, Top) and not operator.partial


def is_final(coster: Coster, group: GroupId) -> bool:
    """Whether no enforcer stands above a group.

    AGGREGATE gives a row when its validity ends, long after other rows with a later ts, and its
    rows are coalesced, as are those of REPORT. Rows that AGGREGATE retracts are not final.
    """
    if not coster.algebra.finals:
        return False
    members = coster.groups[group]
    if members.has(Report) or members.has(EventReport):
        return True
    return members.has(Aggregate) and not members.properties.deletions


def retracts(coster: Coster, group: GroupId) -> bool:
    """Whether the group is that of a scan with deletions."""
    if not coster.algebra.deletions:
        return False
    members = coster.groups[group]
    return members.properties.deletions and members.has(WScan)


def converts(coster: Coster, group: GroupId, here: Distribution) -> bool:
    """Whether Spark SQL may compute the group, where scans leave their rows."""
    if coster.parallelism > 1 and here != ANY:
        return False
    members = coster.groups[group]
    return any(members.has(kind) for kind in IN_SQL)


def where_edges_meet(coster: Coster, here: Distribution) -> tuple[Distribution, ...]:
    """Distributions that satisfy ``here`` and keep equal edges together."""
    if coster.parallelism == 1:
        return (here,)
    if here == ANY:
        return hashed(0), hashed(1)
    return (here,) if here in (SINGLE, BROADCAST, hashed(0), hashed(1)) else ()


def _where_values_meet(
    coster: Coster, group: GroupId, here: Distribution
) -> tuple[Distribution, ...]:
    """Distributions that satisfy ``here`` and keep equal rows together.

    Rows are coalesced before they are copied to the cells of a hypercube.
    """
    if here.spread is Spread.HYPERCUBE:
        return ()
    if coster.parallelism == 1 or here != ANY:
        return (here,)
    return tuple(map(hashed, range(coster.groups[group].properties.width)))

"""Where rows lie and what computes them: over which placements an operator can run.

A *place* is a distribution and a convention. Over one partition every row lies on it. Over
several, edges come *any*how, each on one partition; a join runs where rows that may meet do:
both sides hashed on a variable they share, or a copy of one side everywhere. PATH needs all
edges, and divides its trees by root: broadcast inputs, results hashed on their source. AGGREGATE
needs the rows of a key, and REPORT those of a value, on one partition; WITNESS the rows of a key,
and all edges beside them. Scans
and the filters and projections on them are Spark SQL; all else is a kernel's.

Rows are hashed by one column: that suffices for every operator here and keeps the goals of a
group linear in its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from ..algebra.physical import (
    AggregateRows,
    AutomatonPath,
    Coalesce,
    ComputeColumns,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    MergeUnion,
    PhysicalOperator,
    ProjectColumns,
    ReportRows,
    Retract,
    Rewindow,
    ToKernel,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from ..algebra.properties import ANY, BROADCAST, SINGLE, Convention, Distribution, Spread

DIVIDED = (Spread.ANY, Spread.HASH)
"""Spreads that leave each row on one of several partitions."""


@dataclass(frozen=True, slots=True)
class Place:
    """How rows lie over partitions, and what computes them."""

    distribution: Distribution
    convention: Convention = Convention.KERNEL

    def divided(self, parallelism: int) -> int:
        """Over how many partitions the rows are divided."""
        return parallelism if self.distribution.spread in DIVIDED else 1


@dataclass(frozen=True, slots=True)
class Placement:
    """Places of an operator's inputs over which it gives the right rows, and that of those."""

    inputs: tuple[Place, ...]
    output: Place


IN_SQL = Place(ANY, Convention.SPARK_SQL)
IN_SQL_ON_ONE = Place(SINGLE, Convention.SPARK_SQL)


def hashed(column: int) -> Distribution:
    """Hashed by a column."""
    return Distribution(Spread.HASH, (column,))


def distributions(width: int, parallelism: int) -> tuple[Distribution, ...]:
    """How rows of so many columns can lie."""
    if parallelism == 1:
        return (SINGLE,)
    return (ANY, SINGLE, BROADCAST, *map(hashed, range(width)))


@lru_cache(maxsize=1 << 14)
def placements(
    operator: PhysicalOperator, widths: tuple[int, ...], parallelism: int
) -> tuple[Placement, ...]:
    """All placements of an operator over inputs of so many columns, each once."""
    match operator:
        case WindowScan() | WindowScanUnion():
            return (Placement((), IN_SQL if parallelism > 1 else IN_SQL_ON_ONE),)
        case ToKernel():
            below = IN_SQL if parallelism > 1 else IN_SQL_ON_ONE
            return (Placement((below,), Place(below.distribution)),)
        case FilterRows():
            below = IN_SQL if parallelism > 1 else IN_SQL_ON_ONE
            anywhere = map(Place, distributions(widths[0], parallelism))
            return (Placement((below,), below), *(Placement((p,), p) for p in anywhere))
        case ProjectColumns():
            below = IN_SQL if parallelism > 1 else IN_SQL_ON_ONE
            return (Placement((below,), below), *_by_kernels(operator, widths, parallelism))
        case _:
            return _by_kernels(operator, widths, parallelism)


def _by_kernels(
    operator: PhysicalOperator, widths: tuple[int, ...], parallelism: int
) -> tuple[Placement, ...]:
    spread = _over_several if parallelism > 1 else _on_one
    return tuple(
        Placement(tuple(map(Place, inputs)), Place(output))
        for inputs, output in spread(operator, widths)
    )


Spreads = Iterator[tuple[tuple[Distribution, ...], Distribution]]
"""Distributions of the inputs, and of the output."""


def _on_one(operator: PhysicalOperator, widths: tuple[int, ...]) -> Spreads:
    if not (isinstance(operator, AutomatonPath) and operator.roots == "own"):
        yield (SINGLE,) * len(widths), SINGLE


def _over_several(operator: PhysicalOperator, widths: tuple[int, ...]) -> Spreads:
    match operator:
        case EmptyRelation():
            yield (), ANY
        case ProjectColumns(columns=columns):
            for below in _everywhere(widths[0]):
                yield (below,), _renamed(below, range(widths[0]), columns)
        case MergeUnion():
            for inputs in product(*map(_everywhere, widths)):
                if len(set(inputs)) == 1:
                    yield inputs, inputs[0]
                elif all(i.spread in DIVIDED for i in inputs):
                    yield inputs, ANY
        case HashJoin():
            yield from _joins(operator, widths)
        case AutomatonPath(roots="own"):
            yield (BROADCAST,) * len(widths), hashed(0)
        case AutomatonPath():
            yield (SINGLE,) * len(widths), SINGLE
            yield (BROADCAST,) * len(widths), BROADCAST
        case ComputeColumns(values=values):
            names = [_column(value) for value in values]
            for below in _everywhere(widths[0]):
                yield (below,), _renamed(below, range(widths[0]), names)
        case AggregateRows(keys=keys, output=output):
            yield (SINGLE,), SINGLE
            for column in sorted(set(keys)):
                place = keys.index(column)
                if place in output:
                    yield (hashed(column),), hashed(output.index(place))
        case WitnessPaths(keys=keys, output=output):
            edges = len(widths) - 1
            yield (SINGLE,) * len(widths), SINGLE
            for column in sorted(set(keys)):
                given = hashed(output.index(column)) if column in output else ANY
                yield (hashed(column), *(BROADCAST,) * edges), given
        case ReportRows():
            yield (SINGLE,), SINGLE
            for column in range(widths[0]):
                yield (hashed(column),), hashed(column)
        case Coalesce() | Rewindow():
            for below in _everywhere(widths[0]):
                if below != ANY:
                    yield (below,), below
        case Retract():  # an edge and what takes it back are on one partition
            for below in (SINGLE, BROADCAST, hashed(0), hashed(1)):
                yield (below,), below
        case Exchange(spread=spread, columns=columns):
            for below in _everywhere(widths[0]):
                if below.spread in DIVIDED:
                    yield (below,), Distribution(Spread(spread), columns)


def _column(value: str) -> int:
    """The column of the input that a value is; -1 if it is computed."""
    return int(value[1:]) if value[:1] == "c" and value[1:].isdecimal() else -1


def _joins(join: HashJoin, widths: tuple[int, ...]) -> Spreads:
    left, right = join.bindings
    for variable in sorted(set(left) & set(right)):
        inputs = hashed(left.index(variable)), hashed(right.index(variable))
        yield inputs, _renamed(inputs[0], left, join.output)
    for here in _everywhere(widths[1]):
        yield (BROADCAST, here), _renamed(here, right, join.output)
    for here in _everywhere(widths[0]):
        if here != BROADCAST:
            yield (here, BROADCAST), _renamed(here, left, join.output)
    yield (SINGLE, SINGLE), SINGLE


def _everywhere(width: int) -> tuple[Distribution, ...]:
    return distributions(width, parallelism=2)


def _renamed(below: Distribution, names: Sequence[int], kept: Sequence[int]) -> Distribution:
    """The distribution of an output that keeps some of an input's columns, called by names."""
    if below.spread is not Spread.HASH:
        return below
    name = names[below.columns[0]]
    return hashed(kept.index(name)) if name in kept else ANY

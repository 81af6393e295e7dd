"""Bounds on the arrival times of rows, by which a join may drop rows early.

In: the groups of a memo. Out: for each group, bounds on the differences of the times at which the
edges of a row arrive, and the columns that hold those times. A row arrives with the last of its
edges. For a join this gives the time until which a row of one side can still meet rows that arrive
on the other.

Bounds are differences ``x - y <= c``, closed by shortest paths. They hold for every row of a group,
however it was derived, so all plans share them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from ..algebra.differences import differences
from ..algebra.logical import (
    Filter,
    FilteredPattern,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from ..algebra.physical import HashJoin, Horizon, MultiwayJoin, PhysicalOperator
from ..algebra.predicate import Predicate
from ..memo import Group, GroupId, Groups, MemoListener

OWN_TIME = "ts"
FURTHEST = 2**62
"""The exclusive limit of a bound on times; larger bounds are dropped."""

Differences = Mapping[tuple[int, int], int]
"""The largest x - y, by (x, y)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The arrival times of the edges of a row, numbered from 0; each is in one column or none.

    ``columns`` gives the arrival that a column holds; ``differences`` are closed.
    """

    arrivals: int = 1
    columns: Mapping[int, int] = field(default_factory=dict)
    differences: Differences = field(default_factory=dict)

    def latest(self, after: int) -> int | None:
        """The most ticks from the arrival ``after`` to that of the row; None if unbounded."""
        return _furthest(self.differences, range(self.arrivals), after)


ANY_TIME = Bounds()
"""The bounds of rows that arrive at any time, or of edges without their times."""


class TimeBounds(MemoListener):
    """The bounds of the groups of one memo, computed on demand.

    ``late`` is the most ticks from an edge's time to its arrival: an edge may wait for its slide.
    """

    def __init__(self, groups: Groups, late: int = 0) -> None:
        self._groups = groups
        self._late = late
        self._bounds: dict[GroupId, Bounds] = {}
        self.any = False
        """Whether any scan gives the times of edges; if not, nothing is bounded."""

    def groups_merged(self, survivor: Group, absorbed: Group) -> None:
        """Drops all bounds, which may depend on the absorbed group."""
        self._bounds.clear()

    def shrunk(self, operator: PhysicalOperator, inputs: tuple[GroupId, ...]) -> PhysicalOperator:
        """Adds to a join the horizons that follow from its residual and its inputs.

        Returns other operators as they are.
        """
        if not self.any:
            return operator
        match operator:
            case HashJoin():
                one, other = self._horizons(operator.bindings, operator.residual, inputs)
                horizon = one, other
                return operator if horizon == (None, None) else replace(operator, horizon=horizon)
            case MultiwayJoin():
                atoms = tuple([inputs[read] for read in operator.reads])
                horizons = self._horizons(operator.bindings, operator.residual, atoms)
                return replace(operator, horizons=horizons) if any(horizons) else operator
            case _:
                return operator

    def _horizons(
        self,
        bindings: tuple[tuple[int, ...], ...],
        residual: str | None,
        inputs: tuple[GroupId, ...],
    ) -> tuple[Horizon | None, ...]:
        """The horizon of each input of a join."""
        sides = tuple(map(self.of, inputs))
        whole = _joined(bindings, None if residual is None else Predicate(residual), sides)
        ends = list(accumulate([side.arrivals for side in sides], initial=0))
        horizons = []
        for binding, (begin, end) in zip(bindings, pairwise(ends), strict=True):
            others = [*range(begin), *range(end, whole.arrivals)]
            horizons.append(self._later(_horizon(binding, whole, range(begin, end), others)))
        return tuple(horizons)

    def _later(self, horizon: Horizon | None) -> Horizon | None:
        return None if horizon is None else (horizon[0], horizon[1] + self._late)

    def of(self, group: GroupId) -> Bounds:
        """The bounds of a group, read off its first expression."""
        group = self._groups.find(group)
        if group not in self._bounds:
            self._bounds[group] = ANY_TIME  # meanwhile, where groups read each other in a circle
            first = self._groups[group].expressions[0]
            self._bounds[group] = self._derived(first.operator, first.inputs)
        return self._bounds[group]

    def _derived(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Bounds:
        match operator:
            case WScan() | WScanUnion() if operator.scans[0].window is None:
                return ANY_TIME  # a stored graph is there before all streams, whatever its times
            case WScan() | WScanUnion():
                names = operator.scans[0].properties
                return Bounds(1, {2 + k: 0 for k, name in enumerate(names) if name == OWN_TIME})
            case Filter(predicate):
                return _filtered(self.of(inputs[0]), predicate)
            case Project(columns):
                return _chosen(self.of(inputs[0]), columns)
            case Union():
                return _either(*map(self.of, inputs))
            case Pattern(bindings, output):
                return _chosen(_joined(bindings, None, tuple(map(self.of, inputs))), output)
            case FilteredPattern(bindings, output, predicate):
                return _chosen(_joined(bindings, predicate, tuple(map(self.of, inputs))), output)
            case _:
                return ANY_TIME


def _joined(
    bindings: Sequence[tuple[int, ...]], residual: Predicate | None, sides: tuple[Bounds, ...]
) -> Bounds:
    """The bounds of a join; its columns are the join's variables."""
    arrivals = 0
    distances: dict[tuple[int, int], int] = {}
    columns: dict[int, int] = {}
    for binding, side in zip(bindings, sides, strict=True):
        for (x, y), bound in side.differences.items():
            distances[arrivals + x, arrivals + y] = bound
        for column, arrival in side.columns.items():
            here = arrivals + arrival
            there = columns.setdefault(binding[column], here)
            if there != here:  # joined on their times
                distances[here, there] = distances[there, here] = 0
        arrivals += side.arrivals
    whole = Bounds(arrivals, columns, _closed(distances))
    return whole if residual is None else _filtered(whole, residual)


def _filtered(bounds: Bounds, predicate: Predicate) -> Bounds:
    """Adds the bounds on differences of times that a predicate implies."""
    place, distances = bounds.columns, dict(bounds.differences)
    for one, other, bound in differences(predicate):
        if one in place and other in place:
            pair = place[one], place[other]
            distances[pair] = min(bound, distances.get(pair, bound))
    return replace(bounds, differences=_closed(distances))


def _chosen(bounds: Bounds, columns: Iterable[int]) -> Bounds:
    place = {k: bounds.columns[c] for k, c in enumerate(columns) if c in bounds.columns}
    return replace(bounds, columns=place)


def _either(one: Bounds, other: Bounds) -> Bounds:
    """The bounds of a union: the times that both inputs have, and the arrival of the row."""
    columns = sorted(one.columns.keys() & other.columns.keys())
    arrival = len(columns)
    distances: dict[tuple[int, int], int] = {}
    for x, first in enumerate(columns):
        distances[x, arrival] = 0
        latest = [side.latest(side.columns[first]) for side in (one, other)]
        bounded = [bound for bound in latest if bound is not None]
        if len(bounded) == 2:
            distances[arrival, x] = max(bounded)
        for y, second in enumerate(columns):
            pairs = [(side.columns[first], side.columns[second]) for side in (one, other)]
            apart = [s.differences.get(p) for s, p in zip((one, other), pairs, strict=True)]
            bounded = [bound for bound in apart if bound is not None]
            if x != y and len(bounded) == 2:
                distances[x, y] = max(bounded)
    place = {column: k for k, column in enumerate(columns)}
    return Bounds(arrival + 1, place, _closed(distances))


def _closed(bounds: Differences) -> Differences:
    """All bounds that follow from ``bounds``, by the algorithm of Floyd and Warshall.

    The algorithm is implemented here because a contradictory predicate gives cycles of negative
    length, for which networkx has no defined result, and a plan must not depend on its version.
    """
    shortest = dict(bounds)
    nodes = sorted({x for pair in bounds for x in pair})
    for via in nodes:
        for x in nodes:
            first = shortest.get((x, via))
            if first is None or x == via:
                continue
            for y in nodes:
                second = shortest.get((via, y))
                if second is not None and x != y:
                    shortest[x, y] = min(first + second, shortest.get((x, y), first + second))
    return shortest


def _furthest(bounds: Differences, of: Iterable[int], after: int) -> int | None:
    """The largest bound on the difference of several arrivals to one; None if one is unbounded."""
    distances = [0 if x == after else bounds.get((x, after)) for x in of]
    bounded = [bound for bound in distances if bound is not None]
    return max(bounded) if len(bounded) == len(distances) else None


def _horizon(
    binding: tuple[int, ...], bounds: Bounds, own: Iterable[int], other: Iterable[int]
) -> Horizon | None:
    """The horizon of an input: a time column, and a bound on the last arrival on the other side.

    Chooses the column for which a row is held for the shortest time after its own arrival.
    """
    candidates: list[tuple[int, int, int]] = []
    for column, variable in enumerate(binding):
        time = bounds.columns.get(variable)
        latest = None if time is None else _furthest(bounds.differences, other, time)
        if time is not None and latest is not None and abs(latest) < FURTHEST:
            before = min(bounds.differences.get((time, x), 0) for x in own)
            candidates.append((latest + min(before, 0), column, latest))
    if not candidates:
        return None
    _, column, latest = min(candidates)
    return column, latest

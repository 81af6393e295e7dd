"""How the times of edges bound when rows arrive: what lets a join give rows back early.

In: the groups of a memo. Out: for each, how far the times of its edges (columns ``ts``) lie
from each other and from the *arrival* of its rows, which is the largest time of all edges that
a row was made of. From that follows, for a join, until when a row of one side can still meet
rows that arrive on the other.

Bounds are differences ``x - y <= c``, closed by shortest paths. They are a matter of what a
group computes: of every row, however it was derived, so all plans share them. What is not
known is left out, and a side of whose arrival nothing is known bounds nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from algebra.differences import differences
from algebra.logical import (
    Filter,
    FilteredPattern,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from algebra.physical import HashJoin, Horizon, PhysicalOperator
from algebra.predicate import Predicate
from memo import GroupId, Memo

ARRIVAL = -1
_SIDES = (-2, -3)
"""The arrivals of a join's inputs."""
OWN_TIME = "ts"
FURTHEST = 2**62
"""A bound further away is none."""

Bounds = Mapping[tuple[int, int], int]
"""By (x, y) the largest x - y; x and y are columns with times of edges, or the arrival."""
NONE: Bounds = {}


class TimeBounds:
    """The bounds of the groups of one memo, computed when asked for."""

    def __init__(self) -> None:
        self._memo: Memo | None = None
        self._known: dict[GroupId, Bounds] = {}
        self.any = False
        """Whether any scan gives the times of edges; if not, nothing is bounded."""

    def attach(self, memo: Memo) -> None:
        """Says whose groups they are."""
        self._memo = memo

    def merged(self) -> None:
        """Forgets what names a group that is no more."""
        self._known.clear()

    def shrunk(self, operator: PhysicalOperator, inputs: tuple[GroupId, ...]) -> PhysicalOperator:
        """A join with the horizons that follow from its residual and its inputs; others as they
        are."""
        if not self.any or not isinstance(operator, HashJoin):
            return operator
        join = operator
        predicate = None if join.residual is None else Predicate(join.residual)
        bounds = _of_join(join.bindings, predicate, tuple(map(self.of, inputs)))
        horizon = (
            _horizon(join.bindings[0], bounds, *_SIDES),
            _horizon(join.bindings[1], bounds, *reversed(_SIDES)),
        )
        return join if horizon == (None, None) else join.within(horizon)

    def of(self, group: GroupId) -> Bounds:
        """The bounds of a group, read off its first expression."""
        assert self._memo is not None
        group = self._memo.find(group)
        if group not in self._known:
            self._known[group] = NONE  # meanwhile, where groups read each other in a circle
            first = self._memo.group(group).expressions[0]
            self._known[group] = self._derived(first.operator, first.inputs)
        return self._known[group]

    def _derived(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Bounds:
        match operator:
            case WScan() | WScanUnion():
                names = operator.scans[0].properties
                times = [2 + k for k, name in enumerate(names) if name == OWN_TIME]
                pairs = [pair for time in times for pair in ((time, ARRIVAL), (ARRIVAL, time))]
                return dict.fromkeys(pairs, 0)
            case Filter(predicate):
                return _closed(_filtered(self.of(inputs[0]), predicate))
            case Project(columns):
                return _chosen(self.of(inputs[0]), columns)
            case Union():
                one, other = map(self.of, inputs)
                return {pair: max(one[pair], other[pair]) for pair in one.keys() & other.keys()}
            case Pattern(bindings, output):
                sides = tuple(map(self.of, inputs))
                return _output(_of_join(bindings, None, sides), output)
            case FilteredPattern(bindings, output, predicate):
                sides = tuple(map(self.of, inputs))
                return _output(_of_join(bindings, predicate, sides), output)
            case _:
                return NONE


def _of_join(
    bindings: Sequence[tuple[int, ...]], predicate: Predicate | None, sides: tuple[Bounds, ...]
) -> Bounds:
    """The bounds of a join's variables and of the arrivals of its two inputs."""
    found: dict[tuple[int, int], int] = {}
    for binding, side, arrival in zip(bindings, sides, _SIDES, strict=True):
        name = {**dict(enumerate(binding)), ARRIVAL: arrival}
        for (x, y), bound in side.items():
            pair = name[x], name[y]
            found[pair] = min(bound, found.get(pair, bound))
    return _closed(found if predicate is None else _filtered(found, predicate))


def _filtered(bounds: Bounds, predicate: Predicate) -> Bounds:
    """With what a predicate says of times; of other columns it may mean something else."""
    times = {x for x, _ in bounds}
    found = dict(bounds)
    for x, y, bound in differences(predicate):
        if x in times and y in times:
            found[x, y] = min(bound, found.get((x, y), bound))
    return found


def _closed(bounds: Bounds) -> Bounds:
    """All that follows, by the algorithm of Floyd and Warshall."""
    found = dict(bounds)
    nodes = sorted({x for pair in bounds for x in pair})
    for via in nodes:
        for x in nodes:
            first = found.get((x, via))
            if first is None or x == via:
                continue
            for y in nodes:
                second = found.get((via, y))
                if second is not None and x != y:
                    found[x, y] = min(first + second, found.get((x, y), first + second))
    return found


def _chosen(bounds: Bounds, columns: Iterable[int]) -> Bounds:
    place = [*enumerate(columns), (ARRIVAL, ARRIVAL)]
    return {(i, j): bounds[x, y] for i, x in place for j, y in place if i != j and (x, y) in bounds}


def _output(bounds: Bounds, output: Iterable[int]) -> Bounds:
    """Of a join's rows, which arrive with the later of their two parts."""
    found = dict(bounds)
    for x in {x for x, _ in bounds} - set(_SIDES):
        before = [bounds[x, side] for side in _SIDES if (x, side) in bounds]
        after = [bounds[side, x] for side in _SIDES if (side, x) in bounds]
        found[x, ARRIVAL] = min(before)
        if len(after) == len(_SIDES):
            found[ARRIVAL, x] = max(after)
    return _chosen(found, output)


def _horizon(binding: tuple[int, ...], bounds: Bounds, own: int, other: int) -> Horizon | None:
    """By which time of a row the last arrival on the other side is bounded best."""
    found = [
        (bounds[other, x] + bounds.get((x, own), 0), column, bounds[other, x])
        for column, x in enumerate(binding)
        if (other, x) in bounds
    ]
    if not found:
        return None
    _, column, bound = min(found)
    return (column, bound) if abs(bound) < FURTHEST else None

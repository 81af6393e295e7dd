"""The work of a multiway join, and the prefix orders that cost least.

An arriving row of an atom binds variables; the other shared variables follow in the atom's order.
For each, the shortest of the lists of the atoms beside bound variables is walked, and each value is
looked up in the other atoms. The length of a list is that of a join of one column, from measured
degrees where the catalog has them. The columns of an atom are taken as independent of each other;
as edges around a vertex tend to close cycles, the share of look-ups that succeed is multiplied by
one factor, with which the results are as many as the estimate of the join's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf

from ..algebra.joins import connected_to, join_variables
from ..algebra.physical import MultiwayJoin
from .characteristics import LARGEST, Characteristics
from .joint import matches

MOST_PERMUTED = 4
"""The most variables of which all orders are tried; beyond, the next variable is the cheapest."""

Place = tuple[int, int]
"""An atom and one of its columns."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Per time unit: rows walked and looked up, and rows that are joined in the end."""

    work: float
    rows: float


class Extensions:
    """The expected work of extending the rows of one join.

    Args:
        join: the join; its orders do not matter.
        inputs: the characteristics of its inputs.
    """

    def __init__(self, join: MultiwayJoin, inputs: Sequence[Characteristics]) -> None:
        kept = held(join, inputs)
        self.bindings = join.bindings
        self.shared = join_variables(join.bindings)
        self._atoms = [kept[read] for read in join.reads]
        self._matching: dict[tuple[Place, Place], float] = {}
        self._reads = join.reads

    def orders(self, delta: int) -> Iterator[tuple[int, ...]]:
        """The orders of the variables after a row of an atom; each is beside an earlier one."""
        own = self.shared.intersection(self.bindings[delta])
        missing = sorted(self.shared - own)
        if len(missing) > MOST_PERMUTED:
            yield self._grown(delta, missing)
            return
        for order in permutations(missing):
            bound = set(own)
            for variable in order:
                if not connected_to(self.bindings, variable) & bound:
                    break
                bound.add(variable)
            else:
                yield order

    def _grown(self, delta: int, missing: list[int]) -> tuple[int, ...]:
        order: tuple[int, ...] = ()
        while missing:
            bound = {*order, *self.bindings[delta]}
            near = [v for v in missing if connected_to(self.bindings, v) & bound]
            following = min(near, key=lambda v: self.effort(delta, (*order, v)).work)
            missing.remove(following)
            order = (*order, following)
        return order

    def closings(self, delta: int, order: tuple[int, ...]) -> int:
        """The number of look-ups after which a result of a row is complete."""
        return len(self.bindings) - 1 - len(order)

    def effort(self, delta: int, order: tuple[int, ...], closing: float = 1.0) -> Effort:
        """The work after the rows of an atom, in an order or a prefix of one.

        Args:
            delta: the atom whose rows arrive.
            order: the variables that are bound, in order.
            closing: multiplies the share of look-ups that succeed.
        """
        bound = {v: (delta, c) for c, v in enumerate(self.bindings[delta]) if v in self.shared}
        waiting = [k for k in range(len(self.bindings)) if k != delta]
        rows, work = self._atoms[delta].arrival_rate, 0.0
        for variable in (None, *order):
            known = {*bound} if variable is None else {*bound, variable}
            stage = [k for k in waiting if self.shared.intersection(self.bindings[k]) <= known]
            waiting = [k for k in waiting if k not in stage]
            if variable is not None:
                length, first = min(self._lists(stage, variable, bound))
                work += rows * len(stage)
                rows = min(rows * length, LARGEST)
                bound[variable] = (first, self.bindings[first].index(variable))
                stage = [k for k in stage if k != first]
                work += rows
            for atom in stage:
                work += rows
                rows *= min(self._present(atom, bound) * closing, 1.0)
        return Effort(min(work, LARGEST), rows)

    def _lists(
        self, stage: Sequence[int], variable: int, bound: dict[int, Place]
    ) -> Iterator[tuple[float, int]]:
        """The expected length of the list of each atom beside its other, bound variable."""
        for atom in stage:
            for column, other in enumerate(self.bindings[atom]):
                if other in bound and other != variable:
                    share = self._match(bound[other], (atom, column))
                    yield share * self._atoms[atom].population, atom

    def _present(self, atom: int, bound: dict[int, Place]) -> float:
        """The expected rows of an atom with the values of its bound variables."""
        rows = self._atoms[atom].population
        for column, variable in enumerate(self.bindings[atom]):
            if variable in self.shared:
                rows *= self._match(bound[variable], (atom, column))
        return rows

    def _match(self, one: Place, other: Place) -> float:
        """The share of pairs of rows of two atoms that agree in two columns."""
        (left, i), (right, j) = one, other
        key = (self._reads[left], i), (self._reads[right], j)
        share = self._matching.get(key)
        if share is None:
            sides = self._atoms[left], self._atoms[right]
            shared = ((i, len(sides[0].distinct) + j),)
            share = self._matching[key] = matches(*sides, shared, ())[0]
        return share


def held(join: MultiwayJoin, inputs: Sequence[Characteristics]) -> list[Characteristics]:
    """The inputs with the rows that the join holds: the valid ones, or those within horizons."""
    rows = list(inputs)
    for number, side in enumerate(inputs):
        atoms = zip(join.reads, join.horizons or [None] * len(join.reads), strict=True)
        bounds = [horizon for read, horizon in atoms if read == number]
        spans = [inf if bound is None else max(bound[1] + 1, 0) for bound in bounds]
        within = inf if inf in spans else side.arrival_rate * max(spans)
        rows[number] = replace(side, population=min(side.population, within))
    return rows


def arranged(
    join: MultiwayJoin, output: Characteristics, inputs: Sequence[Characteristics]
) -> MultiwayJoin:
    """The join with the cheapest order after the rows of each atom."""
    extensions = Extensions(join, inputs)
    factor = _closing(extensions, join.orders, output)
    orders = []
    for delta in range(len(join.bindings)):
        efforts = ((extensions.effort(delta, o, factor).work, o) for o in extensions.orders(delta))
        orders.append(min(efforts)[1])
    return replace(join, orders=tuple(orders))


def work(join: MultiwayJoin, output: Characteristics, inputs: Sequence[Characteristics]) -> float:
    """The rows per time unit that a multiway join walks and looks up."""
    extensions = Extensions(join, inputs)
    factor = _closing(extensions, join.orders, output)
    efforts = [extensions.effort(d, order, factor) for d, order in enumerate(join.orders)]
    return min(sum([effort.work for effort in efforts]), LARGEST)


def _closing(
    extensions: Extensions, orders: Sequence[tuple[int, ...]], output: Characteristics
) -> float:
    """The factor on the share of look-ups that succeed, from the estimate of the result."""
    rows = sum([extensions.effort(d, order).rows for d, order in enumerate(orders)])
    closings = max([extensions.closings(d, order) for d, order in enumerate(orders)])
    if rows <= 0 or output.arrival_rate <= 0 or closings <= 0:
        return 1.0
    return float(min(output.arrival_rate / rows, LARGEST) ** (1 / closings))

"""The work of a multiway join, and the prefix orders that cost least.

An arriving row of an atom binds variables; the other shared variables follow in the atom's order.
For each, the lists of the atoms beside bound variables are looked up, the shortest is walked, and
each value is looked up in the other atoms, which may have several rows if they have columns of
their own. Look-ups and visits of rows are the work. The length of a list is that of a join of one
column, from measured degrees where the catalog has them; the search ends at a list without rows.
Lists around hubs are much longer than others, so the shortest of several is shorter than each is on
average. The columns of an atom are taken as independent of each other; as edges around a vertex
tend to close cycles, the share of look-ups that succeed is multiplied by one factor, with which the
results are as many as the estimate of the join's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, sqrt
from typing import NamedTuple

from ..algebra.joins import connected_to, is_forest, join_variables
from ..algebra.physical import MultiwayJoin
from .characteristics import LARGEST, Characteristics
from .derived import not_zero
from .joint import matches

MOST_PERMUTED = 4
"""The most variables of which all orders are tried; beyond, the next variable is the cheapest."""

_STEEPEST = 100.0
"""The exponent of the mean for lists whose lengths hardly vary."""

Place = tuple[int, int]
"""An atom and one of its columns."""


class Effort(NamedTuple):
    """Per time unit: keys looked up, rows visited, and rows that are joined in the end."""

    looked_up: float
    visited: float
    rows: float

    @property
    def work(self) -> float:
        """The look-ups and visits together."""
        return self.looked_up + self.visited


class RowList(NamedTuple):
    """The lists of the rows of an atom that a bound variable leads to, as a search meets them.

    Their lengths are taken as negative binomial, as around hubs and other vertices: of Poisson
    numbers whose means have a gamma distribution.

    Attributes:
        mean: the mean length.
        excess: the variance of the length over its mean, less 1; 0 for Poisson numbers.
    """

    mean: float
    excess: float = 0.0

    @property
    def filled(self) -> float:
        """The share of the lists that have a row."""
        return not_zero(self.mean, self.excess)

    @property
    def length(self) -> float:
        """The mean length of the lists that have a row."""
        return self.mean / filled if (filled := self.filled) > 0 else 1.0

    @property
    def beyond(self) -> tuple[float, float]:
        """The rows beyond the first one, of the lists that have a row: mean and variance."""
        length = self.length
        if length <= 1:
            return 0.0, 0.0
        square = length * (1 + self.excess + self.mean)
        return length - 1, max(square - length * length, 0.0)


def shortest(lists: Sequence[RowList]) -> float:
    """The mean length of the shortest of several independent lists that all have a row.

    The least of n exponential numbers has the n-th part of their mean, which is their mean with the
    exponent -1; numbers without variance have their minimum, by the exponent -∞. So the rows beyond
    the first are averaged with an exponent that follows their variance. It was fitted to negative
    binomial lengths, and is right within a tenth for two to four lists of one distribution.
    """
    if len(lists) == 1:
        return lists[0].length
    numbers = [one.beyond for one in lists]
    least = min([mean for mean, _ in numbers])
    if least <= 0:
        return 1.0
    steepness = sum([1 / _exponent(mean, variance) for mean, variance in numbers]) / len(lists)
    among = sum([(least / mean) ** (1 / steepness) for mean, _ in numbers])
    return float(1 + least * among**-steepness)


def _exponent(mean: float, variance: float) -> float:
    evenness = mean / sqrt(variance) if variance > 0 else inf
    return min(max(1.2 * evenness - 0.2, 0.2), _STEEPEST)


class _Prefix(NamedTuple):
    """The first variables of an order after a row of an atom.

    Attributes:
        order: the variables after those of the row.
        bound: for each bound variable the column whose value it has.
        rows: the rows per time unit that agree so far.
        looked_up: the lists and rows that were looked up so far, per time unit.
        visited: the rows that were visited so far, per time unit.
    """

    order: tuple[int, ...]
    bound: dict[int, Place]
    rows: float
    looked_up: float
    visited: float


def _by_work(prefix: _Prefix) -> tuple[float, tuple[int, ...]]:
    return prefix.looked_up + prefix.visited, prefix.order


def _by_rows(prefix: _Prefix) -> tuple[float, tuple[int, ...]]:
    return prefix.rows, prefix.order


class Extensions:
    """The expected work of extending the rows of one join.

    Args:
        join: the join; its orders do not matter.
        inputs: the characteristics of its inputs.
    """

    def __init__(self, join: MultiwayJoin, inputs: Sequence[Characteristics]) -> None:
        kept = held(join, inputs)
        bindings = join.bindings
        self.bindings = bindings
        self.shared = join_variables(bindings)
        self._shared_of = [self.shared.intersection(binding) for binding in bindings]
        self._has_own = [len(s) < len(b) for s, b in zip(self._shared_of, bindings, strict=True)]
        of_atoms = list(enumerate(self._shared_of))
        self._atoms_of = {v: [(k, s - {v}) for k, s in of_atoms if v in s] for v in self.shared}
        self._atoms = [kept[read] for read in join.reads]
        self._matching: dict[tuple[Place, Place], float] = {}
        self._reads = join.reads

    @cached_property
    def _beside(self) -> dict[int, frozenset[int]]:
        """The shared variables beside each one; only the choice of an order asks."""
        return {v: connected_to(self.bindings, v) & self.shared for v in self.shared}

    @cached_property
    def _is_forest(self) -> bool:
        return is_forest(self.bindings)

    def orders(self, delta: int) -> Iterator[tuple[int, ...]]:
        """The orders of the variables after a row of an atom; each is beside an earlier one."""
        missing = self.shared.difference(self.bindings[delta])
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            order = waiting.pop()
            if len(order) == len(missing):
                yield order
            waiting += [(*order, v) for v in reversed(self._next(delta, order))]

    def _next(self, delta: int, order: tuple[int, ...]) -> list[int]:
        """The variables that may follow the first ones of an order."""
        bound = {*order, *self.shared.intersection(self.bindings[delta])}
        return sorted(v for v in self.shared - bound if self._beside[v] & bound)

    def cheapest_order(self, delta: int, closing: float = 1.0) -> tuple[int, ...]:
        """The order with the least work after a row of an atom.

        All orders of up to ``MOST_PERMUTED`` variables are compared. Of more variables, the one
        that adds the least work is bound next; of forests, whose variables have one list each, the
        one that leaves the fewest rows.
        """
        start = self._start(delta, closing)
        missing = len(self.shared.difference(self.bindings[delta]))
        if missing > MOST_PERMUTED or self._is_forest:
            prefix = start
            while len(prefix.order) < missing:
                longer = [self._bind(prefix, v, closing) for v in self._next(delta, prefix.order)]
                key = _by_rows if self._is_forest else _by_work
                prefix = min(longer, key=key)
            return prefix.order
        best: _Prefix | None = None
        waiting = [start]
        while waiting:
            prefix = waiting.pop()
            if best is not None and _by_work(prefix) >= _by_work(best):
                continue
            if len(prefix.order) == missing:
                best = prefix
            followers = reversed(self._next(delta, prefix.order))
            waiting += [self._bind(prefix, v, closing) for v in followers]
        assert best is not None
        return best.order

    def closings(self, delta: int, order: tuple[int, ...]) -> int:
        """The number of look-ups after which a result of a row is complete."""
        return len(self.bindings) - 1 - len(order)

    def effort(self, delta: int, order: tuple[int, ...], closing: float = 1.0) -> Effort:
        """The work after the rows of an atom, in an order or a prefix of one.

        Args:
            delta: the atom whose rows arrive.
            order: the variables that are bound, in order.
            closing: multiplies the expected rows of look-ups.
        """
        prefix = self._start(delta, closing)
        for variable in order:
            prefix = self._bind(prefix, variable, closing)
        return Effort(min(prefix.looked_up, LARGEST), min(prefix.visited, LARGEST), prefix.rows)

    def _start(self, delta: int, closing: float) -> _Prefix:
        """A row of an atom, joined with the atoms that have no further shared variable."""
        bound = {v: (delta, c) for c, v in enumerate(self.bindings[delta]) if v in self.shared}
        start = _Prefix((), bound, self._atoms[delta].arrival_rate, 0.0, 0.0)
        stage = [
            k for k, shared in enumerate(self._shared_of) if k != delta and shared <= bound.keys()
        ]
        lists = [(RowList(self._rows_of(atom, bound, closing)), atom) for atom in stage]
        if not lists:
            return start
        # All of their rows are joined, so the shorter one is, the longer are the others.
        length, first = min((rows.length, atom) for rows, atom in lists)
        walked = _walked(start, [rows for rows, _ in lists], length)
        return _looked_up(walked, [rows.length for rows, atom in lists if atom != first])

    def _bind(self, prefix: _Prefix, variable: int, closing: float) -> _Prefix:
        """Walks the shortest list of a variable, and looks each value up in the other atoms."""
        before = prefix.bound
        stage = [k for k, others in self._atoms_of[variable] if others <= before.keys()]
        lists = list(self._lists(stage, variable, before))
        lengths = [rows for rows, _ in lists]
        walked = _walked(prefix, lengths, shortest(lengths))
        _, first = min(lists)
        bound = {**before, variable: (first, self.bindings[first].index(variable))}
        order = (*prefix.order, variable)
        longer = _Prefix(order, bound, walked.rows, walked.looked_up, walked.visited)
        if len(stage) == 1:
            return longer
        filled = {atom: rows.filled or 1.0 for rows, atom in lists}
        others = [
            self._rows_of(atom, bound, closing, filled.get(atom, 1.0))
            for atom in stage
            if atom != first
        ]
        return _looked_up(longer, others)

    def _rows_of(
        self, atom: int, bound: dict[int, Place], closing: float, filled: float = 1.0
    ) -> float:
        """The expected rows of a look-up in an atom whose shared variables are all bound.

        They are at most one, unless the atom has columns of its own. ``filled`` is the share of
        look-ups that are made, since the others had no row in the list of the atom.
        """
        rows = self._atoms[atom].population
        for column, variable in enumerate(self.bindings[atom]):
            if variable in self.shared:
                rows *= self._match(bound[variable], (atom, column))
        rows *= closing / filled
        return rows if self._has_own[atom] else min(rows, 1.0)

    def _lists(
        self, stage: Sequence[int], variable: int, bound: dict[int, Place]
    ) -> Iterator[tuple[RowList, int]]:
        """The lists of each atom beside its other, bound variable.

        Where degrees are measured, a search comes to vertices by their degree, and so to longer
        lists than those of all vertices on average. If the degrees have a gamma distribution, the
        difference is the excess of their variance.
        """
        for atom in stage:
            held_rows = self._atoms[atom]
            for column, other in enumerate(self.bindings[atom]):
                if other in bound and other != variable:
                    mean = self._match(bound[other], (atom, column)) * held_rows.population
                    of_all = held_rows.population / max(held_rows.distinct[column], 1.0)
                    yield RowList(mean, max(mean - of_all, 0.0)), atom

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


def _walked(prefix: _Prefix, lists: Sequence[RowList], length: float) -> _Prefix:
    """Finds the lists until one has no row, else walks one of this mean length."""
    looked_up, reached = prefix.looked_up, prefix.rows
    for one in lists:
        looked_up += reached
        reached *= one.filled
    rows = min(reached * length, LARGEST)
    return _Prefix(prefix.order, prefix.bound, rows, looked_up, prefix.visited + rows)


def _looked_up(prefix: _Prefix, lengths: Sequence[float]) -> _Prefix:
    """Looks the rows up in atoms with these rows each on average, the one with the fewest first.

    Each row found is visited, and looked up in the next atom.
    """
    rows, looked_up, visited = prefix.rows, prefix.looked_up, prefix.visited
    for length in sorted(lengths):
        looked_up += rows
        rows = min(rows * length, LARGEST)
        visited += rows
    return _Prefix(prefix.order, prefix.bound, rows, looked_up, visited)


def held(join: MultiwayJoin, inputs: Sequence[Characteristics]) -> list[Characteristics]:
    """The inputs with the rows that the join holds: the valid ones, or those within horizons.

    Without deletions it holds each value once, as long as its last copy is valid.
    """
    rows = list(inputs)
    if join.update_pattern is None:
        rows = [replace(r, population=min(r.population, r.most_values)) for r in rows]
    if join.horizons is None:
        return rows
    for number, side in enumerate(rows):
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
    efforts = [extensions.effort(d, order) for d, order in enumerate(join.orders)]
    _, factor = _results(extensions, join, output, efforts)
    orders = [extensions.cheapest_order(d, factor) for d in range(len(join.bindings))]
    return replace(join, orders=tuple(orders))


def effort(
    join: MultiwayJoin, output: Characteristics, inputs: Sequence[Characteristics]
) -> Effort:
    """The work of a multiway join, and the rows that it emits."""
    extensions = Extensions(join, inputs)
    efforts = [extensions.effort(d, order) for d, order in enumerate(join.orders)]
    rows, factor = _results(extensions, join, output, efforts)
    if factor != 1:
        efforts = [extensions.effort(d, order, factor) for d, order in enumerate(join.orders)]
    looked_up = min(sum([effort.looked_up for effort in efforts]), LARGEST)
    visited = min(sum([effort.visited for effort in efforts]), LARGEST)
    return Effort(looked_up, visited, rows)


def _results(
    extensions: Extensions, join: MultiwayJoin, output: Characteristics, efforts: Sequence[Effort]
) -> tuple[float, float]:
    """The rows that a join emits per time unit, and the factor on the share of look-ups that
    succeed with which there are so many.

    ``efforts`` are those after the rows of each atom if the columns of an atom are independent.
    Each combination of matching rows is one. If the result has all variables, its estimate counts
    them. A result without some variables has fewer different rows, of which the look-ups tell
    nothing; binary joins drop such variables before they multiply the rows, this join does not.
    """
    expected = sum([effort.rows for effort in efforts])
    rows = output.derivation_rate
    if not set().union(*join.bindings) <= set(join.output):
        rows = min(max(rows, expected), LARGEST)
    closings = max([extensions.closings(d, order) for d, order in enumerate(join.orders)])
    if expected <= 0 or rows <= 0 or closings <= 0:
        return rows, 1.0
    return rows, float(min(rows / expected, LARGEST) ** (1 / closings))

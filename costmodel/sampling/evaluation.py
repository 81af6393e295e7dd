"""Evaluates a relation on a snapshot, restricted to some values of one column.

The rows for some sources of a path are those of a breadth-first search over the product of the
snapshot and the path's automaton; the rows for some values of a join are those of its atoms joined
one after the other, beginning at these values. A row expires when the first of its edges does; of
equal rows the one that expires last counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...algebra import regex
from ...algebra.automaton import Automaton, minimal_dfa
from .relations import Edges, Either, Join, Reach, Relation, concatenation
from .snapshot import FOREVER, Ints, Links, Snapshot, links_of

CELLS = 1 << 21
"""The most entries of the table of a search: sources times states times vertices."""


ROUND = 400
"""The steps of a round of a search, beside the edges that it reads."""
ATOM = 3_000
"""The steps of joining an atom, beside its rows."""


class OverBudgetError(Exception):
    """An evaluation needs more steps than it may take."""


@dataclass(slots=True)
class Steps:
    """The steps that evaluations may still take; a step reads an edge or a row."""

    left: int
    taken: int = 0

    def take(self, steps: int) -> None:
        """Counts steps.

        Raises:
            OverBudgetError: if fewer are left.
        """
        if steps > self.left:
            raise OverBudgetError
        self.left -= steps
        self.taken += steps


class Rows(NamedTuple):
    """Different rows with their expiries.

    Attributes:
        columns: the values by column.
        expiry: the expiry of each row.
        derivations: the number of derivations of each row; None if each has one.
    """

    columns: tuple[Ints, ...]
    expiry: Ints
    derivations: Ints | None = None


def keys_of(columns: tuple[Ints, ...], values: int) -> Ints:
    """Numbers that are equal for equal rows and no others; the columns' values are below it."""
    keys, most = columns[0], values
    for column in columns[1:]:
        if most * values >= FOREVER:
            different, keys = np.unique(keys, return_inverse=True)
            most = len(different)
        keys = keys * values + column
        most *= values
    return keys


def last_of(keys: Ints, expiry: Ints) -> tuple[Ints, Ints]:
    """The position of the row that expires last among those of each key, and their number."""
    order: Ints = np.lexsort((expiry, keys))
    ordered = keys[order]
    last = np.ones(len(keys), np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    ends = np.flatnonzero(last)
    return order[ends], np.diff(ends, prepend=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Evaluates relations on one snapshot within a number of steps.

    Attributes:
        snapshot: the edges.
        steps: the steps that are left, shared with other evaluations.
    """

    snapshot: Snapshot
    steps: Steps
    _pairs: dict[tuple[Relation, bool], Links] = field(default_factory=dict)

    def rows(self, relation: Relation, column: int, values: Ints) -> Rows:
        """The rows whose ``column`` has one of ``values``, which are sorted and different.

        Raises:
            OverBudgetError: if the evaluation needs too many steps.
        """
        match relation:
            case Edges():
                return self._of_links(self.snapshot.links(relation, column == 1), column, values)
            case Reach(regex.Concat((regex.Symbol() as first, regex.Symbol() as second)), inputs):
                return self._joined(concatenation(first, second, inputs), column, values)
            case Reach(expression, inputs):
                forward = expression if column == 0 else regex.inverse(expression)
                sources, targets, expiry = self._reached(forward, inputs, values)
                return _pairs(sources, targets, expiry, column)
            case Join():
                return self._joined(relation, column, values)
            case Either(inputs):
                parts = [self.rows(below, column, values) for below in inputs]
                columns = tuple(map(np.concatenate, zip(*[p.columns for p in parts], strict=True)))
                return self._different(columns, np.concatenate([part.expiry for part in parts]))

    def candidates(self, relation: Relation, column: int) -> tuple[Ints, Ints]:
        """The values that a column may have, sorted, and the number of edges at each of them."""
        match relation:
            case Edges():
                degrees = self.snapshot.links(relation, column == 1).degrees
                values = np.flatnonzero(degrees)
                return values, degrees[values]
            case Reach(expression, inputs):
                forward = expression if column == 0 else regex.inverse(expression)
                moves = minimal_dfa(forward).moves
                firsts = {(ref, inverse) for state, ref, inverse in moves if state == 0}
                return _united([self.candidates(inputs[r], int(i)) for r, i in sorted(firsts)])
            case Join(bindings, output, inputs):
                variable = output[column]
                at = [
                    self.candidates(below, binding.index(variable))
                    for binding, below in zip(bindings, inputs, strict=True)
                    if variable in binding
                ]
                values, weights = min(at, key=lambda part: len(part[0]))
                for other, _ in at:
                    kept = np.isin(values, other, assume_unique=True)
                    values, weights = values[kept], weights[kept]
                return values, weights
            case Either(inputs):
                return _united([self.candidates(below, column) for below in inputs])

    def _of_links(self, links: Links, column: int, values: Ints) -> Rows:
        rows, pairs = links.of(values)
        self.steps.take(len(rows) + len(values))
        return _pairs(values[rows], links.targets[pairs], links.expiry[pairs], column)

    def _links(self, relation: Relation, inverse: bool) -> Links:
        """All rows of a relation of two columns as links."""
        if isinstance(relation, Edges):
            return self.snapshot.links(relation, inverse)
        links = self._pairs.get((relation, inverse))
        if links is None:
            values, _ = self.candidates(relation, 0)
            rows = self.rows(relation, 0, values)
            sources, targets = rows.columns
            ends = (targets, sources) if inverse else (sources, targets)
            links = links_of(*ends, rows.expiry, self.snapshot.vertices)
            self._pairs[relation, inverse] = links
        return links

    def _reached(
        self, expression: regex.Regex, inputs: tuple[Relation, ...], values: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """The pairs that a path connects from ``values``, and when they expire.

        The value of a node is the largest over all walks to it of the smallest expiry on the walk.
        """
        automaton = minimal_dfa(expression).with_fresh_start()
        vertices = self.snapshot.vertices
        nodes = automaton.states * vertices
        self.steps.take(len(values))
        if len(values) * nodes > CELLS:
            half = max(CELLS // nodes, 1)
            if half >= len(values):
                raise OverBudgetError
            parts = [
                self._reached(expression, inputs, values[k : k + half])
                for k in range(0, len(values), half)
            ]
            sources, targets, expiry = (
                np.concatenate(column) for column in zip(*parts, strict=True)
            )
            return sources, targets, expiry
        best = np.zeros(len(values) * nodes, np.int64)
        frontier = np.arange(len(values)) * nodes + values
        best[frontier] = FOREVER
        slot = np.empty(len(best), np.int64)
        moves = self._moves(automaton, inputs)
        final = np.isin(np.arange(automaton.states), automaton.accepting)
        accepted = [frontier[:0]]
        while len(frontier):
            tree, node = np.divmod(frontier, nodes)
            state, vertex = np.divmod(node, vertices)
            improved = [frontier[:0]]
            self.steps.take(ROUND)
            for at, to, links in moves:
                here = np.flatnonzero(state == at)
                rows, pairs = links.of(vertex[here])
                self.steps.take(len(rows))
                if not len(rows):
                    continue
                expiry = np.minimum(best[frontier[here]][rows], links.expiry[pairs])
                reached = tree[here][rows] * nodes + to * vertices + links.targets[pairs]
                better = np.flatnonzero(expiry > best[reached])
                np.maximum.at(best, reached[better], expiry[better])
                improved.append(reached[better])
            frontier = _once(np.concatenate(improved), slot)
            accepted.append(frontier[final[frontier % nodes // vertices]])
        ends = _once(np.concatenate(accepted), slot)
        self.steps.take(len(ends))
        sources, targets = values[ends // nodes], ends % vertices
        if len(automaton.accepting) == 1:
            return sources, targets, best[ends]
        different = self._different((sources, targets), best[ends])
        return different.columns[0], different.columns[1], different.expiry

    def _moves(
        self, automaton: Automaton, inputs: tuple[Relation, ...]
    ) -> list[tuple[int, int, Links]]:
        """The moves of an automaton with the pairs that they follow, one move for many labels."""
        edges: dict[tuple[int, int, bool], list[Edges]] = {}
        moves = []
        for at, ref, inverse, to in automaton.transitions:
            below = inputs[ref]
            if isinstance(below, Edges):
                edges.setdefault((at, to, inverse), []).append(below)
            else:
                moves.append((at, to, self._links(below, inverse)))
        for (at, to, inverse), parts in edges.items():
            scans = tuple(sorted({scan for part in parts for scan in part.scans}, key=str))
            moves.append((at, to, self.snapshot.links(Edges(scans), inverse)))
        return moves

    def _joined(self, join: Join, column: int, values: Ints) -> Rows:
        """The rows of a join, whose atoms are joined from ``values`` on."""
        bound: dict[int, Ints] = {join.output[column]: values}
        expiry = np.full(len(values), FOREVER)
        left = list(zip(join.bindings, join.inputs, strict=True))
        while left:
            number = _next(left, bound)
            binding, below = left.pop(number)
            bound, expiry = self._with_atom(bound, expiry, binding, below)
        columns = tuple([bound[v] for v in join.output])
        if set(join.output) == set(bound):
            return Rows(columns, expiry)
        return self._different(columns, expiry)

    def _with_atom(
        self, bound: dict[int, Ints], expiry: Ints, binding: tuple[int, ...], below: Relation
    ) -> tuple[dict[int, Ints], Ints]:
        """Joins rows with an atom that shares a variable with them."""
        self.steps.take(ATOM)
        at = next(k for k, variable in enumerate(binding) if variable in bound)
        values, place = np.unique(bound[binding[at]], return_inverse=True)
        rows = self.rows(below, at, values)
        order = np.argsort(rows.columns[at], kind="stable")
        begins = np.searchsorted(rows.columns[at][order], np.append(values, values[-1:] + 1))
        links = Links(begins.astype(np.int64), order, rows.expiry)
        left, pairs = links.of(place.astype(np.int64))
        right = order[pairs]
        self.steps.take(len(left))
        fresh: dict[int, Ints] = {}
        same = np.ones(len(left), np.bool_)
        for k, variable in enumerate(binding):
            value = rows.columns[k][right]
            if variable in bound:
                same &= bound[variable][left] == value
            elif variable in fresh:
                same &= fresh[variable] == value
            else:
                fresh[variable] = value
        kept = np.flatnonzero(same)
        joined = {variable: value[left[kept]] for variable, value in bound.items()}
        joined |= {variable: value[kept] for variable, value in fresh.items()}
        return joined, np.minimum(expiry[left[kept]], rows.expiry[right[kept]])

    def _different(self, columns: tuple[Ints, ...], expiry: Ints) -> Rows:
        """Of equal rows the one that expires last."""
        self.steps.take(len(expiry))
        last, derivations = last_of(keys_of(columns, max(self.snapshot.vertices, 1)), expiry)
        return Rows(tuple([column[last] for column in columns]), expiry[last], derivations)


def _once(places: Ints, slot: Ints) -> Ints:
    """The different ones of some places of a table; ``slot`` is scratch space of its length."""
    numbers = np.arange(len(places))
    slot[places] = numbers
    different: Ints = places[slot[places] == numbers]
    return different


def _pairs(first: Ints, second: Ints, expiry: Ints, column: int) -> Rows:
    return Rows((first, second) if column == 0 else (second, first), expiry)


def _united(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """The values of several columns, and the sums of their weights."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    values, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    weights = np.bincount(place, np.concatenate([part[1] for part in parts]), len(values))
    return values, weights.astype(np.int64)


def _next(left: list[tuple[tuple[int, ...], Relation]], bound: dict[int, Ints]) -> int:
    """The atom to join next: one with the most bound variables, edges before paths.

    Raises:
        OverBudgetError: if no atom shares a variable: the join is a product.
    """

    def preference(number: int) -> tuple[bool, bool, int]:
        binding, below = left[number]
        free = sum(variable not in bound for variable in binding)
        return free > 0, not isinstance(below, Edges), -number

    shared = [k for k, (binding, _) in enumerate(left) if any(v in bound for v in binding)]
    if not shared:
        raise OverBudgetError
    return min(shared, key=preference)

"""Evaluates a relation on snapshots, restricted to some values of one column.

The rows for some sources of a path are those of a breadth-first search over the product of the
snapshot and the path's automaton; the rows for some values of a join are those of its atoms joined
one after the other, beginning at these values. A row expires when the first of its edges does. A
row has a version for each expiry that COALESCE passes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...algebra import regex
from ...algebra.automaton import Automaton, minimal_dfa
from .counting import counted
from .relations import Edges, Either, Join, Reach, Relation, Wide, concatenation, is_search
from .snapshot import (
    FOREVER,
    Adjacency,
    Floats,
    Ints,
    Links,
    Pairs,
    Snapshot,
    Versions,
    coalesced,
    links_of,
)

CELLS = 1 << 19
"""The most entries of the table of a search: sources times states times vertices."""
CELLS_PER_STEP = 64
"""The entries of a table that are cleared in the time of a step."""

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
    """The versions of rows, as COALESCE passes them on, those of a row by time.

    Attributes:
        columns: the values by column.
        versions: since when and until when each is valid.
        emitted: the rows per time unit that an operator over coalesced inputs emits, of which the
            first is the version and the others repeat it.
    """

    columns: tuple[Ints, ...]
    versions: Versions
    emitted: Floats


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


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Evaluates relations on one snapshot within a number of steps.

    Attributes:
        snapshot: the edges.
        steps: the steps that are left, shared with other evaluations.
    """

    snapshot: Snapshot
    steps: Steps

    def rows(self, relation: Relation, column: int, values: Ints) -> Rows:
        """The rows whose ``column`` has one of ``values``, which are sorted and different.

        Raises:
            OverBudgetError: if the evaluation needs too many steps.
        """
        match relation:
            case Edges():
                return self._of_links(self.snapshot.links(relation, column == 1), column, values)
            case Wide(edges):
                return self.rows(edges, column, values)
            case Reach(expression, inputs):
                join = concatenation(relation)
                if join is not None:
                    return self._joined(join, column, values)
                forward = expression if column == 0 else regex.inverse(expression)
                return self._reached(forward, inputs, values, column)
            case Join():
                return self._joined(relation, column, values)
            case Either(inputs):
                parts = [self.rows(below, column, values) for below in inputs]
                columns = tuple(map(np.concatenate, zip(*[p.columns for p in parts], strict=True)))
                parts_of = zip(*[part.versions for part in parts], strict=True)
                versions = Versions(*map(np.concatenate, parts_of))
                moments = self.snapshot.moments[columns[0]]
                rates = self.rates(versions, moments, is_search(relation))
                return self._coalesced(columns, versions, rates)

    def rates(self, versions: Versions, moments: Ints, searched: bool) -> Floats:
        """By version the number per time unit for which it stands.

        An instant sees a version with a probability in proportion to its length, or to the time
        over which versions are kept if that is shorter. The changes of paths are known over a short
        time only.

        Args:
            versions: some versions.
            moments: the instant that sees each of them.
            searched: whether they are made of paths that are searched.
        """
        points = self.snapshot.points
        memory = points.since if searched else self.snapshot.memory
        begun = versions.created // points.slide * points.slide
        length = np.minimum(versions.expiry - begun, memory)
        seen = begun > moments - memory
        return np.where(seen, 1 / np.maximum(length, points.slide), 0.0)

    def candidates(self, relation: Relation, column: int) -> Floats:
        """By vertex the number of derivations of rows that have it in a column, roughly.

        It is 0 only if there are none, or a closure is longer than the walks that are counted.
        """
        key = (relation, column)
        known = self.snapshot.known_candidates.get(key)
        if known is None:
            known = self.snapshot.known_candidates[key] = counted(self.snapshot, relation, column)
        return known

    def _of_links(self, links: Links, column: int, values: Ints) -> Rows:
        rows, found = links.adjacency.of(values)
        self.steps.take(len(rows) + len(values))
        versions = links.versions.take(found)
        targets = links.adjacency.targets[found]
        columns = (values[rows], targets) if column == 0 else (targets, values[rows])
        return Rows(columns, versions, self.rates(versions, self.snapshot.moments[targets], False))

    def _pairs(self, relation: Relation, inverse: bool) -> Pairs:
        """All pairs of a relation of two columns."""
        pairs = self.snapshot.known_pairs.get((relation, inverse))
        if pairs is None:
            if isinstance(relation, Edges):
                links = self.snapshot.links(relation, inverse)
            else:
                values = np.flatnonzero(self.candidates(relation, 0))
                rows = self.rows(relation, 0, values)
                first, second = rows.columns[::-1] if inverse else rows.columns
                created, expiry, *_ = rows.versions
                links = links_of(first, second, created, expiry, self.snapshot.vertices)
            pairs = self.snapshot.pairs(links)
            self.snapshot.known_pairs[relation, inverse] = pairs
        return pairs

    def _reached(
        self, expression: regex.Regex, inputs: tuple[Relation, ...], values: Ints, column: int
    ) -> Rows:
        """The pairs that a path connects from ``values``, which have them in a column."""
        automaton = minimal_dfa(expression).with_fresh_start()
        moves = self._moves(automaton, inputs)
        room = automaton.states * max(self.snapshot.most_vertices, 1)
        most = max(CELLS // room, 1)
        parts = [
            self._reached_by(automaton, moves, values[k : k + most])
            for k in range(0, max(len(values), 1), most)
        ]
        sources, targets, expiry, before = (np.concatenate(c) for c in zip(*parts, strict=True))
        moments, since = self.snapshot.moments[sources], self.snapshot.points.since
        changed = np.flatnonzero(expiry > before)
        replaced = np.flatnonzero((expiry > before) & (before > 0))
        kept = np.flatnonzero(expiry == before)
        old, new = moments - 2 * since, moments - since // 2
        rows = np.concatenate([changed, replaced, kept])
        versions = Versions(
            np.concatenate([new[changed], old[replaced], old[kept]]),
            np.concatenate([expiry[changed], before[replaced], before[kept]]),
            np.concatenate(
                [np.full(len(changed), FOREVER), new[replaced], np.full(len(kept), FOREVER)]
            ),
            np.concatenate([before[changed] == 0, np.zeros(len(replaced) + len(kept), np.bool_)]),
        )
        ends = (sources[rows], targets[rows])
        columns = ends if column == 0 else ends[::-1]
        rates = self.rates(versions, moments[rows], True)
        if len(automaton.accepting) > 1:
            return self._coalesced(columns, versions, rates)
        return Rows(columns, versions, rates)

    def _reached_by(
        self, automaton: Automaton, moves: list[Move], values: Ints
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """The vertices that an automaton reaches from each of some values, with expiries."""
        vertices = self.snapshot.most_vertices
        nodes = automaton.states * vertices
        # Each search sees the vertices of one instant, which it numbers from 0.
        first = self.snapshot.begins[self.snapshot.instant[values]]
        self.steps.take(len(values) + 2 * len(values) * nodes // CELLS_PER_STEP)
        now, accepted = self._widest(automaton, moves, values, first, nodes, now=True)
        then, _ = self._widest(automaton, moves, values, first, nodes, now=False)
        self.steps.take(len(accepted))
        tree = accepted // nodes
        targets = accepted % nodes % vertices + first[tree]
        return values[tree], targets, now[accepted], then[accepted]

    def _widest(
        self,
        automaton: Automaton,
        moves: list[Move],
        values: Ints,
        first: Ints,
        nodes: int,
        *,
        now: bool,
    ) -> tuple[Ints, Ints]:
        """The expiry of each node of some searches, and the accepting nodes that are reached.

        It is the largest over all walks to the node of the smallest expiry on the walk.

        Args:
            automaton: the automaton of the path.
            moves: its moves.
            values: the vertex at which each search begins.
            first: the first vertex of the instant of each search.
            nodes: the number of states times the most vertices of an instant.
            now: whether the expiries are those at the instant, or those a short time before.
        """
        vertices = nodes // automaton.states
        best = np.zeros(len(values) * nodes, np.int64)
        frontier = np.arange(len(values)) * nodes + values - first
        best[frontier] = FOREVER
        slot = np.empty(len(best), np.int64)
        final = np.zeros(automaton.states, np.bool_)
        final[list(automaton.accepting)] = True
        accepted = [frontier[:0]]
        while len(frontier):
            tree, node = np.divmod(frontier, nodes)
            state, vertex = np.divmod(node, vertices)
            vertex += first[tree]
            improved = [frontier[:0]]
            self.steps.take(ROUND)
            for at, to, pairs in moves:
                here = np.flatnonzero(state == at)
                if not len(here):
                    continue
                rows, found = pairs.adjacency.of(vertex[here])
                self.steps.take(len(rows))
                if not len(rows):
                    continue
                expiries = pairs.expiry if now else pairs.before
                expiry = np.minimum(best[frontier[here]][rows], expiries[found])
                trees, targets = tree[here][rows], pairs.adjacency.targets[found]
                reached = trees * nodes + to * vertices + targets - first[trees]
                better = np.flatnonzero(expiry > best[reached])
                np.maximum.at(best, reached[better], expiry[better])
                improved.append(reached[better])
            frontier = _once(np.concatenate(improved), slot)
            accepted.append(frontier[final[frontier % nodes // vertices]])
        return best, _once(np.concatenate(accepted), slot)

    def _moves(self, automaton: Automaton, inputs: tuple[Relation, ...]) -> list[Move]:
        """The moves of an automaton with the pairs that they follow, one move for many labels."""
        edges: dict[tuple[int, int, bool], list[Edges]] = {}
        moves = []
        for at, ref, inverse, to in automaton.transitions:
            below = inputs[ref]
            if isinstance(below, Edges):
                edges.setdefault((at, to, inverse), []).append(below)
            else:
                moves.append((at, to, self._pairs(below, inverse)))
        for (at, to, inverse), parts in edges.items():
            scans = tuple(sorted({scan for part in parts for scan in part.scans}, key=str))
            moves.append((at, to, self._pairs(Edges(scans), inverse)))
        return moves

    def _joined(self, join: Join, column: int, values: Ints) -> Rows:
        """The rows of a join, whose atoms are joined from ``values`` on."""
        bound: dict[int, Ints] = {join.output[column]: values}
        whole = np.full(len(values), FOREVER)
        versions = Versions(np.zeros(len(values), np.int64), whole, whole, whole > 0)
        left = list(zip(join.bindings, join.inputs, strict=True))
        while left:
            number = _next(left, bound)
            binding, below = left.pop(number)
            bound, versions = self._with_atom(bound, versions, binding, below)
        columns = tuple([bound[v] for v in join.output])
        searched = is_search(join)
        rates = self.rates(versions, self.snapshot.moments[columns[0]], searched)
        # Of more than two inputs, a join below passes a renewal on only if the renewed row was the
        # first to expire, so 2 of n renewals are emitted.
        rates = np.where(versions.fresh, rates, rates * min(1.0, 2 / len(join.inputs)))
        return self._coalesced(columns, versions, rates)

    def _with_atom(
        self,
        bound: dict[int, Ints],
        versions: Versions,
        binding: tuple[int, ...],
        below: Relation,
    ) -> tuple[dict[int, Ints], Versions]:
        """Joins rows with an atom that shares a variable with them."""
        self.steps.take(ATOM)
        at = next(k for k, variable in enumerate(binding) if variable in bound)
        if isinstance(below, Edges):
            links = self.snapshot.links(below, at == 1)
            left, right = links.adjacency.of(bound[binding[at]])
            self.steps.take(len(left))
            ends = (bound[binding[at]][left], links.adjacency.targets[right])
            columns: tuple[Ints, ...] = ends if at == 0 else ends[::-1]
            other = links.versions.take(right)
        else:
            different, place = np.unique(bound[binding[at]], return_inverse=True)
            rows = self.rows(below, at, different)
            order = np.argsort(rows.columns[at], kind="stable")
            begins = np.searchsorted(
                rows.columns[at][order], np.append(different, different[-1:] + 1)
            )
            left, found = Adjacency(begins.astype(np.int64), order).of(place.astype(np.int64))
            right = order[found]
            self.steps.take(len(left))
            columns = tuple([column[right] for column in rows.columns])
            other = rows.versions.take(right)
        created = np.maximum(versions.created[left], other.created)
        # Both are there at one time before either is replaced.
        same = created < np.minimum(versions.replaced[left], other.replaced)
        fresh: dict[int, Ints] = {}
        for variable, value in zip(binding, columns, strict=True):
            if variable in bound:
                if variable != binding[at]:
                    same &= bound[variable][left] == value
            elif variable in fresh:
                same &= fresh[variable] == value
            else:
                fresh[variable] = value
        left, other = left[same], other.take(same)
        both = versions.take(left)
        joined = {variable: value[left] for variable, value in bound.items()}
        joined |= {variable: value[same] for variable, value in fresh.items()}
        return joined, Versions(
            created[same],
            np.minimum(both.expiry, other.expiry),
            np.minimum(both.replaced, other.replaced),
            np.where(other.created > both.created, other.fresh, both.fresh),
        )

    def _coalesced(self, columns: tuple[Ints, ...], versions: Versions, emitted: Floats) -> Rows:
        """The versions of different rows that expire after all earlier ones of the row."""
        self.steps.take(len(emitted))
        keys = keys_of(columns, max(self.snapshot.vertices, 1))
        order, kept, passed = coalesced(keys, versions.created, versions.expiry)
        rows = order[kept]
        sums = np.add.reduceat(emitted[order], kept) if len(kept) else emitted[order]
        return Rows(tuple([column[rows] for column in columns]), passed, sums)


Move = tuple[int, int, Pairs]
"""A move of an automaton: from state, to state, and the pairs that it follows."""


def _once(places: Ints, slot: Ints) -> Ints:
    """The different ones of some places of a table; ``slot`` is scratch space of its length."""
    numbers = np.arange(len(places))
    slot[places] = numbers
    different: Ints = places[slot[places] == numbers]
    return different


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

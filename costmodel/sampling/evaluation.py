"""Evaluates a relation on snapshots, restricted to some values of one column.

The rows for some sources of a path are those of a breadth-first search over the product of the
snapshot and the path's automaton; the rows for some values of a join are those of its atoms joined
one after the other, beginning at these values. A row expires when the first of its edges does. A
row has a version for each expiry that COALESCE passes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...algebra import regex
from ...algebra.automaton import Automaton, minimal_dfa
from ...algebra.predicate import Predicate
from .arrays import (
    FOREVER,
    Floats,
    Graphs,
    Ints,
    Links,
    Pairs,
    Versions,
    coalesced,
    graphs_of,
    links_of,
)
from .compiled import joined
from .counting import counted
from .parts import concatenation, is_search
from .properties import Checking, Properties, codes_of, undecided
from .relations import Edges, Either, Join, Reach, Relation, Wide, variables_of
from .rows import OverBudgetError, Rows, Steps, keys_of
from .search import reached
from .snapshot import Snapshot

SORTED_PER_STEP = 16
"""The entries of a sorted table that are made in the time of a step."""
COPIED_PER_STEP = 40
"""The numbers that are copied in the time of a step."""
ATOM = 3_000
"""The steps of joining an atom, beside its rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Evaluates relations on one snapshot within a number of steps.

    Attributes:
        snapshot: the edges.
        steps: the steps that are left, shared with other evaluations.
        check: decides conditions on the rows of joins.
    """

    snapshot: Snapshot
    steps: Steps
    check: Checking = undecided

    def rows(self, relation: Relation, column: int, values: Ints) -> Rows:
        """The rows whose ``column`` has one of ``values``, which are sorted and different.

        Raises:
            OverBudgetError: if the evaluation needs too many steps.
        """
        match relation:
            case Edges():
                return self._of_links(self.snapshot.links(relation, column == 1), column, values)
            case Wide():
                return self._of_edges(relation, column, values)
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

    def _of_edges(self, wide: Wide, column: int, values: Ints) -> Rows:
        """The edges with the codes of properties as further columns."""
        (adjacency, every), positions = self.snapshot.rows_of(wide.edges, column == 1)
        rows, found = adjacency.of(values)
        self.steps.take(len(rows) + len(values))
        versions, targets = every.take(found), adjacency.targets[found]
        ends = (values[rows], targets) if column == 0 else (targets, values[rows])
        sample = self.snapshot.samples[wide.edges.scans[0].stream]
        every_code = [codes_of(sample, name) for name in wide.properties]
        own = [codes[positions[found]] for codes in every_code if codes is not None]
        if len(own) < len(every_code):
            raise OverBudgetError
        rates = self.rates(versions, self.snapshot.moments[targets], False)
        return Rows((*ends, *own), versions, rates)

    def _pairs(self, relation: Relation, inverse: bool) -> Pairs:
        """All pairs of a relation of two columns."""
        pairs = self.snapshot.known_pairs.get((relation, inverse))
        if pairs is None:
            if isinstance(relation, Edges):
                pairs = self.snapshot.pairs_of_edges(relation, inverse)
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
        graphs = self._graphs(automaton, inputs)
        sources, targets, versions, _ = reached(
            self.snapshot, self.steps, automaton, graphs, values
        )
        columns = (sources, targets) if column == 0 else (targets, sources)
        rates = self.rates(versions, self.snapshot.moments[sources], True)
        if len(automaton.accepting) > 1:
            return self._coalesced(columns, versions, rates)
        return Rows(columns, versions, rates)

    def _graphs(self, automaton: Automaton, inputs: tuple[Relation, ...]) -> Graphs:
        """The pairs that the moves of an automaton follow, one move for many labels."""
        known = self.snapshot.known_graphs.get((automaton, inputs))
        if known is not None:
            return known
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
        copied = sum([len(pairs.expiry) for *_, pairs in moves])
        copied = len(moves) * self.snapshot.vertices + 3 * copied
        self.steps.take(copied // COPIED_PER_STEP, overhead=True)
        graphs = self.snapshot.known_graphs[automaton, inputs] = graphs_of(moves)
        return graphs

    def _joined(self, join: Join, column: int, values: Ints) -> Rows:
        """The rows of a join, whose atoms are joined from ``values`` on."""
        bound: dict[int, Ints] = {join.output[column]: values}
        whole = np.full(len(values), FOREVER)
        versions = Versions(np.zeros(len(values), np.int64), whole, whole, whole > 0)
        left = list(zip(join.bindings, join.inputs, strict=True))
        conditions = [] if join.condition is None else list(join.condition.conjuncts)
        while left:
            number = _next(left, bound)
            binding, below = left.pop(number)
            bound, versions = self._with_atom(bound, versions, binding, below)
            for condition in [each for each in conditions if each.columns <= bound.keys()]:
                conditions.remove(condition)
                bound, versions = self._where(condition, variables_of(join), bound, versions)
        columns = tuple([bound[v] for v in join.output])
        searched = is_search(join)
        rates = self.rates(versions, self.snapshot.moments[columns[0]], searched)
        # Of more than two inputs, a join below passes a renewal on only if the renewed row was the
        # first to expire, so 2 of n renewals are emitted.
        rates = np.where(versions.fresh, rates, rates * min(1.0, 2 / len(join.inputs)))
        return self._coalesced(columns, versions, rates)

    def _where(
        self,
        condition: Predicate,
        properties: Properties,
        bound: dict[int, Ints],
        versions: Versions,
    ) -> tuple[dict[int, Ints], Versions]:
        """The rows that satisfy a condition over variables."""
        self.steps.take(len(versions.created))
        read = {variable: bound[variable] for variable in condition.columns}
        kept = self.check(condition, properties, read, len(versions.created))
        if kept is None:
            raise OverBudgetError
        return {variable: value[kept] for variable, value in bound.items()}, versions.take(kept)

    def _with_atom(
        self,
        bound: dict[int, Ints],
        versions: Versions,
        binding: tuple[int, ...],
        below: Relation,
    ) -> tuple[dict[int, Ints], Versions]:
        """Joins rows with an atom that shares a variable with them."""
        self.steps.take(ATOM, overhead=True)
        shared = [k for k, variable in enumerate(binding) if variable in bound][:2]
        ends = [bound[binding[k]] for k in shared]
        if isinstance(below, Edges) and len(shared) == 1:
            links = self.snapshot.links(below, shared == [1])
            low, high = links.adjacency.begins[ends[0]], links.adjacency.begins[ends[0] + 1]
            other = links.versions
        elif isinstance(below, Edges):
            links = self.snapshot.links(below, False)
            self.steps.take(len(links.adjacency.targets) // SORTED_PER_STEP)
            low, high = _ranges(self._keys(links.adjacency.pairs), self._keys(ends))
            other = links.versions
        else:
            at, different = _fewest(bound, binding)
            rows = self.rows(below, at, different)
            keys = self._keys([rows.columns[k] for k in shared])
            order = np.argsort(keys, kind="stable")
            low, high = _ranges(keys[order], self._keys(ends))
            other = rows.versions.take(order)
        self.steps.take(int((high - low).sum()))
        left, right, both = joined(low, high, versions, other)
        columns: tuple[Ints, ...]
        if not isinstance(below, Edges):
            columns = tuple([column[order[right]] for column in rows.columns])
        elif len(shared) == 1:
            columns = (ends[0][left], links.adjacency.targets[right])
            columns = columns if shared == [0] else columns[::-1]
        else:
            columns = (ends[0][left], ends[1][left])
        result = {variable: value[left] for variable, value in bound.items()}
        same = np.ones(len(left), np.bool_)
        for k, (variable, value) in enumerate(zip(binding, columns, strict=True)):
            if variable not in result:
                result[variable] = value
            elif k not in shared:
                same &= result[variable] == value
        if same.all():
            return result, both
        return {variable: value[same] for variable, value in result.items()}, both.take(same)

    def _keys(self, ends: Sequence[Ints]) -> Ints:
        """Numbers that are equal for equal rows of one or two vertices."""
        return ends[0] if len(ends) == 1 else ends[0] * self.snapshot.vertices + ends[1]

    def _coalesced(self, columns: tuple[Ints, ...], versions: Versions, emitted: Floats) -> Rows:
        """The versions of different rows that expire after all earlier ones of the row."""
        self.steps.take(len(emitted))
        most = max([int(column.max(initial=0)) for column in columns])
        keys = keys_of(columns, max(self.snapshot.vertices, most + 1))
        order, kept, passed = coalesced(keys, versions.created, versions.expiry)
        rows = order[kept]
        sums = np.add.reduceat(emitted[order], kept) if len(kept) else emitted[order]
        return Rows(tuple([column[rows] for column in columns]), passed, sums)


def _fewest(bound: dict[int, Ints], binding: tuple[int, ...]) -> tuple[int, Ints]:
    """The column of an atom whose variable has the fewest bound values, and these values: a path
    that closes a cycle is searched from the end with fewer."""
    known = [(k, np.unique(bound[v])) for k, v in enumerate(binding) if v in bound]
    return min(known, key=lambda each: len(each[1]))


def _ranges(ordered: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """For each key where its equals in ``ordered`` keys begin and end."""
    return np.searchsorted(ordered, keys), np.searchsorted(ordered, keys, "right")


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

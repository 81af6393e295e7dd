"""Breadth-first searches over the product of a snapshot and the automaton of a path."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...algebra.automaton import Automaton
from .arrays import FOREVER, Ints, Mask, Pairs
from .rows import Steps
from .snapshot import Snapshot

CELLS = 1 << 19
"""The most entries of the table of a search of several sources, and of a table that is kept:
sources times states times vertices."""
CELLS_PER_STEP = 160
"""The entries of a table that count as a step: in a large one, those that a search reads are in no
cache."""
ROUND = 400
"""The steps of a round of a search, beside the edges that it reads."""

Move = tuple[int, int, Pairs]
"""A move of an automaton: from state, to state, and the pairs that it follows."""


class Table:
    """The table of a search, which goes on to later searches of the process.

    A search writes few of its entries, and clears these in the end. A new table would take longer
    than the search, since the system has to find and clear its pages.

    Attributes:
        best: the entries, which are 0 between searches.
        written: the places of the entries that a search has written.
    """

    def __init__(self) -> None:
        self.best = np.zeros(0, np.int64)
        self.written: list[Ints] = []
        self._slot = np.empty(0, np.int32)

    def grow(self, size: int) -> None:
        """Ensures that the table has at least ``size`` entries."""
        if size > len(self.best):
            size = max(size, CELLS)
            self.best, self._slot = np.zeros(size, np.int64), np.empty(size, np.int32)

    def once(self, places: Ints) -> Ints:
        """The different ones of some places of the table, each at its last position."""
        numbers = np.arange(len(places), dtype=np.int32)
        self._slot[places] = numbers
        different: Ints = places[self._slot[places] == numbers]
        return different

    def clear(self) -> None:
        """Clears the entries that a search has written."""
        for places in self.written:
            self.best[places] = 0
        self.written.clear()


_IDLE: deque[Table] = deque(maxlen=1)
"""A table that no search uses, for the next one; a search in another thread takes a new one."""


@contextmanager
def _table(size: int) -> Iterator[Table]:
    """A table of at least ``size`` entries."""
    try:
        table = _IDLE.pop()
    except IndexError:
        table = Table()
    table.grow(size)
    try:
        yield table
    finally:
        table.clear()
        if len(table.best) <= CELLS:
            _IDLE.append(table)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Searches along a path from some values.

    Attributes:
        snapshot: the edges.
        steps: the steps that are left.
        automaton: the automaton of the path.
        moves: its moves.
    """

    snapshot: Snapshot
    steps: Steps
    automaton: Automaton
    moves: list[Move]

    def reached(self, values: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """The vertices that the automaton reaches from each of some values.

        Returns:
            The value, the vertex, the latest expiry of a walk at the instant, and a short time
            before.
        """
        room = self.automaton.states * max(self.snapshot.most_vertices, 1)
        most = max(CELLS // (2 * room), 1)
        parts = [
            self._reached_by(values[k : k + most]) for k in range(0, max(len(values), 1), most)
        ]
        sources, targets, expiry, before = (np.concatenate(c) for c in zip(*parts, strict=True))
        return sources, targets, expiry, before

    def _reached_by(self, values: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        vertices, count = self.snapshot.most_vertices, len(values)
        nodes = self.automaton.states * vertices
        # Each search sees the vertices of one instant, which it numbers from 0.
        first = self.snapshot.begins[self.snapshot.instant[values]]
        self.steps.take(count + 2 * count * nodes // CELLS_PER_STEP)
        with _table(2 * count * nodes) as table:
            self._widen(values, first, nodes, table)
            begins, *others = table.written
            reached = table.once(np.concatenate([begins[:0], *others]))
            reached = reached[self._final[reached % nodes // vertices]]
            accepted = reached[reached < count * nodes]
            self.steps.take(len(accepted))
            expiry, before = table.best[accepted], table.best[accepted + count * nodes]
        tree = accepted // nodes
        return values[tree], accepted % nodes % vertices + first[tree], expiry, before

    @property
    def _final(self) -> Mask:
        """By state whether it accepts."""
        final = np.zeros(self.automaton.states, np.bool_)
        final[list(self.automaton.accepting)] = True
        return final

    def _widen(self, values: Ints, first: Ints, nodes: int, table: Table) -> None:
        """Writes the expiry of each node of some searches into a table, first that of the nodes at
        which they begin.

        The expiry is the largest over all walks to the node of the smallest expiry on the walk.
        Each value has two searches, which go on in the same rounds: one with the expiries at the
        instant, and behind all of these one with the expiries a short time before.

        Args:
            values: the vertex at which each search begins.
            first: the first vertex of the instant of each search.
            nodes: the number of states times the most vertices of an instant.
            table: the table.
        """
        best, written = table.best, table.written
        vertices, count = nodes // self.automaton.states, len(values)
        values, first = np.tile(values, 2), np.tile(first, 2)
        frontier = np.arange(len(values)) * nodes + values - first
        best[frontier] = FOREVER
        written.append(frontier)
        while len(frontier):
            tree, node = np.divmod(frontier, nodes)
            state, vertex = np.divmod(node, vertices)
            vertex += first[tree]
            improved = [frontier[:0]]
            self.steps.take(ROUND, overhead=True)
            for at, to, pairs in self.moves:
                here = np.flatnonzero(state == at)
                if not len(here):
                    continue
                rows, found = pairs.adjacency.of(vertex[here])
                self.steps.take(len(rows))
                if not len(rows):
                    continue
                trees, targets = tree[here][rows], pairs.adjacency.targets[found]
                expiries = np.where(trees < count, pairs.expiry[found], pairs.before[found])
                expiry = np.minimum(best[frontier[here]][rows], expiries)
                reached = trees * nodes + to * vertices + targets - first[trees]
                better = np.flatnonzero(expiry > best[reached])
                improved.append(reached[better])
                written.append(improved[-1])
                np.maximum.at(best, improved[-1], expiry[better])
            frontier = table.once(np.concatenate(improved))

"""Breadth-first searches over the product of a snapshot and the automaton of a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...algebra.automaton import Automaton
from .arrays import FOREVER, Ints, Pairs
from .rows import Steps
from .snapshot import Snapshot

CELLS = 1 << 19
"""The most entries of the table of a search: sources times states times vertices."""
CELLS_PER_STEP = 64
"""The entries of a table that are cleared in the time of a step."""
ROUND = 400
"""The steps of a round of a search, beside the edges that it reads."""

Move = tuple[int, int, Pairs]
"""A move of an automaton: from state, to state, and the pairs that it follows."""


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
        vertices = self.snapshot.most_vertices
        nodes = self.automaton.states * vertices
        # Each search sees the vertices of one instant, which it numbers from 0.
        first = self.snapshot.begins[self.snapshot.instant[values]]
        self.steps.take(len(values) + 2 * len(values) * nodes // CELLS_PER_STEP)
        best, accepted = self._widest(values, first, nodes)
        accepted = accepted[accepted < len(values) * nodes]
        self.steps.take(len(accepted))
        tree = accepted // nodes
        targets = accepted % nodes % vertices + first[tree]
        return values[tree], targets, best[accepted], best[len(values) * nodes + accepted]

    def _widest(self, values: Ints, first: Ints, nodes: int) -> tuple[Ints, Ints]:
        """The expiry of each node of some searches, and the accepting nodes that are reached.

        The expiry is the largest over all walks to the node of the smallest expiry on the walk.
        Each value has two searches, which go on in the same rounds: one with the expiries at the
        instant, and behind all of these one with the expiries a short time before.

        Args:
            values: the vertex at which each search begins.
            first: the first vertex of the instant of each search.
            nodes: the number of states times the most vertices of an instant.
        """
        automaton = self.automaton
        vertices, count = nodes // automaton.states, len(values)
        values, first = np.tile(values, 2), np.tile(first, 2)
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
                np.maximum.at(best, reached[better], expiry[better])
                improved.append(reached[better])
            frontier = _once(np.concatenate(improved), slot)
            accepted.append(frontier[final[frontier % nodes // vertices]])
        return best, _once(np.concatenate(accepted), slot)


def _once(places: Ints, slot: Ints) -> Ints:
    """The different ones of some places of a table; ``slot`` is scratch space of its length."""
    numbers = np.arange(len(places))
    slot[places] = numbers
    different: Ints = places[slot[places] == numbers]
    return different

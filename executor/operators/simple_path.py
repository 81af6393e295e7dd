"""SIMPLE_PATH: pairs of vertices connected by a path that repeats no vertex.

TRAIL_PATH (:mod:`headrace.executor.operators.trail_path`) runs the same search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from ...algebra.physical import SimplePath, TrailPath
from ..batch import Batch, IntArray
from ..kernels import region, stops
from ..kernels import simple as kernel
from ..kernels.pairs import copy_valid_pairs, count_valid_pairs
from ..kernels.path import MOVE_INPUT, ROW_INPUT, ROW_SOURCE, ROW_TS, Automaton
from ..kernels.region import Region, Stepping
from ..kernels.simple_search import STACK_FIELDS
from ..kernels.tables import EMPTY, enlarged_table, new_table
from .automaton import automaton_of, steps_by_state
from .base import Results, drive
from .edges import SMALLEST, EdgesOperator, IsRoot, mark_roots, merged_rows, walked_by


class StepBudgetError(ValueError):
    """The search for simple paths or trails exceeded the budget of steps for one edge."""


class PathSearch(EdgesOperator):
    """Holds the valid edges, and the largest reported expiry of each pair.

    Results are coalesced. For each new edge a search finds the pairs that the edge completes.

    Args:
        path: the physical operator.
        automaton: its automaton, over the inputs that the search reads.
        walked: for each 2 · input + inverse, 1 if adjacency lists are kept for it.
        is_root: tests which vertices are roots in this partition; None if all are.
    """

    what: ClassVar[str]
    """The paths that count, for messages."""

    def __init__(
        self,
        path: SimplePath | TrailPath,
        automaton: Automaton,
        walked: IntArray,
        is_root: IsRoot | None,
    ) -> None:
        super().__init__(walked, region.SIMPLE_EDGE_FIELDS)
        self._path = path
        self._is_root = is_root
        self._automaton = automaton
        moves, states = automaton.moves.tolist(), len(automaton.accepting)
        self._stepping = Stepping(
            steps_by_state([(s, 2 * i + inv, to) for s, i, inv, to in moves], states),
            steps_by_state([(to, 2 * i + 1 - inv, s) for s, i, inv, to in moves], states),
            automaton.accepting,
        )
        cursors: IntArray = np.zeros(region.HEADER_FIELDS, np.int64)
        cursors[region.MOVE] = cursors[region.PAIR] = EMPTY
        self._region = _new_region(cursors, SMALLEST)
        self._pairs = new_table(SMALLEST)

    def searched(self, rows: IntArray, wanted: bool) -> Batch:
        """The results of new edges: a row for each pair whose validity grows.

        ``rows`` are as in :mod:`headrace.executor.kernels.path`.

        Raises:
            StepBudgetError: if the search for an edge exceeds the plan's budget of steps.
        """
        results = Results(2, wanted)
        h = self._region.header
        take = partial(results.drain, h, region.OUT)

        def give_up() -> None:
            raise StepBudgetError(
                f"{self._path.op} {self._path.regex}: the search for the {self.what} of one "
                f"edge, at {rows[ROW_TS, h[region.ROW]]}, took more than "
                f"{self._path.budget:,} steps"
            )

        h[region.ROW] = 0
        drive(
            lambda: kernel.advance(
                rows, self._path.budget, self._automaton, self._stepping,
                self._edges, self._region, self._pairs, results.buffer,
            ),
            {
                stops.SWEEP_DUE: lambda: self.purge(int(rows[ROW_TS, h[region.ROW]])),
                stops.EDGES_FULL: self._enlarge_edges,
                stops.SPACE_FULL: self._enlarge_region,
                stops.PAIRS_FULL: self._enlarge_pairs,
                stops.OUT_FULL: take,
                stops.OVER_BUDGET: give_up,
            },
        )  # fmt: skip
        take()
        return results.batch()

    def _enlarge_region(self) -> None:
        self._region = _new_region(self._region.header, 2 * len(self._region.nodes))

    def _enlarge_pairs(self) -> None:
        self._pairs = enlarged_table(self._pairs, len(self._pairs))

    def purge(self, now: int) -> None:
        """Drops the edges and pairs that expired at or before ``now``.

        The new arrays have room for half as many entries again.
        """
        lasting, latest = self._sweep_edges(now)
        old = self._pairs
        pairs, lasting_pairs = count_valid_pairs(old, now)
        self._pairs = new_table(max(SMALLEST, pairs * 3 // 2))
        copy_valid_pairs(old, self._pairs, now)
        self._region.header[region.PAIRS] = pairs
        if not self.entries:
            self._region = _new_region(self._region.header, SMALLEST)
        self._swept(now, lasting + lasting_pairs, latest)

    def _state(self) -> Iterable[tuple[IntArray, ...]]:
        return self._edges, self._region, (self._pairs,)

    @property
    def entries(self) -> int:
        """Edges and pairs held."""
        return super().entries + int(self._region.header[region.PAIRS])


class SimplePathOperator(PathSearch):
    """Searches for simple paths.

    A loop, an edge from a vertex to itself, is on no simple path. Over a relation of sources a path
    begins at a stand-in for its source, a vertex with the one edge to the source, so that no path
    repeats it.

    Args:
        path: the physical operator.
        inputs: the number of inputs.
        is_root: tests which vertices are roots in this partition; None if all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    what = "simple paths"

    def __init__(self, path: SimplePath, inputs: int, is_root: IsRoot | None = None) -> None:
        automaton = automaton_of(path, inputs)
        keys = 2 * automaton.moves[:, MOVE_INPUT]
        walked = walked_by(np.concatenate([keys, keys + 1]), inputs)
        super().__init__(path, automaton, walked, is_root)
        self._from_relation = path.from_relation

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair whose simple paths last longer than its earlier rows.

        Raises:
            StepBudgetError: if the search for an edge exceeds the plan's budget of steps.
        """
        if not any(map(len, inputs)):
            return Batch.empty(2)
        rows = merged_rows(inputs)
        mark_roots(rows, self._is_root)
        if self._from_relation:
            of_sources = rows[ROW_INPUT] == 0
            rows[ROW_SOURCE, of_sources] = _stand_in(rows[ROW_SOURCE, of_sources])
        found = self.searched(rows, wanted)
        if self._from_relation:
            found.columns[0] = _stand_in(found.columns[0])
        return found


def _stand_in(codes: IntArray) -> IntArray:
    """The stand-ins of vertices, and the vertices of stand-ins; no two values are equal."""
    return -2 - codes


def _new_region(cursors: IntArray, nodes: int) -> Region:
    """An empty region with room for a number of nodes."""
    arcs = 4 * nodes
    return Region(
        cursors,
        np.empty((nodes, region.NODE_FIELDS), np.int64),
        np.empty((nodes, region.VERTEX_FIELDS), np.int64),
        new_table(2 * nodes),
        np.empty((arcs, region.ARC_FIELDS), np.int64),
        np.empty((arcs + 2, 2), np.int64),
        np.empty(2 * nodes, np.int64),
        np.empty((nodes + 1, STACK_FIELDS), np.int64),
    )

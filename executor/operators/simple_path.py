"""SIMPLE_PATH: pairs of vertices connected by a path that repeats none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...algebra.physical import SimplePath
from ..batch import Batch, IntArray
from ..kernels import region
from ..kernels import simple as kernel
from ..kernels.path import ALL_ROOTS, MOVE_INPUT, ROW_ROOTS, ROW_TS
from ..kernels.simple_search import STACK_FIELDS
from ..kernels.tables import EMPTY, enlarged, enlarged_table, new_table
from ..schedule import LEAST_ADDED, Schedule
from .base import Results
from .path import merged_rows, moves_by_input

_SMALLEST = 64


class StepBudgetError(ValueError):
    """The search for the simple paths of one edge took more steps than it may."""


class SimplePathOperator:
    """Holds the valid edges, and of each pair the largest expiry reported.

    Results are coalesced. A loop, an edge from a vertex to itself, is on no simple path.

    Args:
        path: what to look for.
        inputs: how many inputs there are.
        is_root: which of the vertices with these codes are roots here; None: all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    def __init__(
        self,
        path: SimplePath,
        inputs: int,
        is_root: Callable[[IntArray], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._is_root = is_root
        self._path = path
        self._moves, self._input_moves, self._moves_of_input = moves_by_input(path, inputs)
        moves = self._moves.tolist()
        self._walked: IntArray = np.zeros(2 * inputs, np.int64)
        for number in self._moves[:, MOVE_INPUT]:
            self._walked[2 * number : 2 * number + 2] = 1
        self._forwards = steps_by_state(
            [(s, 2 * i + inv, to) for s, i, inv, to in moves], path.states
        )
        self._backwards = steps_by_state(
            [(to, 2 * i + 1 - inv, s) for s, i, inv, to in moves], path.states
        )
        self._accepting: IntArray = np.zeros(path.states, np.int64)
        self._accepting[list(path.accepting)] = 1
        self._schedule = Schedule()
        self._h: IntArray = np.zeros(region.HEADER_LENGTH, np.int64)
        self._h[region.MOVE] = self._h[region.PAIR] = EMPTY
        self._h[region.SWEEP_AFTER] = LEAST_ADDED
        self._allocate(_SMALLEST, _SMALLEST)
        self._make_space(_SMALLEST)

    def _allocate(self, edges: int, pairs: int) -> None:
        self._edges: IntArray = np.empty((edges, region.SIMPLE_EDGE_FIELDS), np.int64)
        self._edge_map = new_table(edges)
        self._heads = new_table(2 * edges)
        self._results = new_table(pairs)

    def _make_space(self, nodes: int) -> None:
        """Room for a region of so many nodes."""
        arcs = 4 * nodes
        self._nodes: IntArray = np.empty((nodes, region.NODE_FIELDS), np.int64)
        self._vertices: IntArray = np.empty((nodes, region.VERTEX_FIELDS), np.int64)
        self._index = new_table(2 * nodes)
        self._arcs: IntArray = np.empty((arcs, region.ARC_FIELDS), np.int64)
        self._heap: IntArray = np.empty((arcs + 2, 2), np.int64)
        self._ends: IntArray = np.empty(2 * nodes, np.int64)
        self._stack: IntArray = np.empty((nodes + 1, STACK_FIELDS), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair whose simple paths last longer than was said before.

        Raises:
            StepBudgetError: if the search for an edge takes more steps than the plan allows.
        """
        if not any(map(len, inputs)):
            return Batch.empty(2)
        h = self._h
        rows = merged_rows(inputs)
        rows[ROW_ROOTS] = ALL_ROOTS
        if self._is_root is not None:
            rows[ROW_ROOTS] = self._is_root(rows[0]) + 2 * self._is_root(rows[1])
        results = Results(2, wanted)
        h[region.ROW] = 0
        while True:
            status = kernel.advance(
                h, rows, self._path.budget, self._moves, self._input_moves, self._moves_of_input,
                self._walked, *self._forwards, *self._backwards, self._accepting,
                self._edges, self._edge_map, self._heads,
                self._nodes, self._vertices, self._index, self._arcs,
                self._heap, self._ends, self._stack, self._results, results.buffer,
            )  # fmt: skip
            match status:
                case kernel.DONE | kernel.OUT_FULL:
                    results.take(int(h[region.OUT]))
                    h[region.OUT] = 0
                    if status == kernel.DONE:
                        return results.batch()
                case kernel.SWEEP_DUE:
                    self.purge(int(rows[ROW_TS, h[region.ROW]]))
                case kernel.EDGES_FULL:
                    length = 2 * len(self._edges)
                    self._edges = enlarged(self._edges, length)
                    self._edge_map = enlarged_table(self._edge_map, length)
                    self._heads = enlarged_table(self._heads, 2 * length)
                case kernel.SPACE_FULL:
                    self._make_space(2 * len(self._nodes))
                case kernel.RESULTS_FULL:
                    self._results = enlarged_table(self._results, len(self._results))
                case _:
                    raise StepBudgetError(
                        f"SIMPLE_PATH {self._path.regex}: the search for the simple paths of one "
                        f"edge, at {rows[ROW_TS, h[region.ROW]]}, took more than "
                        f"{self._path.budget:,} steps"
                    )

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``; leaves room for half as much again."""
        h, edges, results = self._h, self._edges, self._results
        edge_count, pairs, lasting, latest = kernel.count_valid(h, edges, results, now)
        self._allocate(max(_SMALLEST, edge_count * 3 // 2), max(_SMALLEST, pairs * 3 // 2))
        kernel.sweep(
            h, self._walked, edges, results,
            self._edges, self._edge_map, self._heads, self._results, now,
        )  # fmt: skip
        if not self.entries:
            self._make_space(_SMALLEST)
        self._schedule.swept(now, lasting, latest)
        h[region.SWEEP_AT] = self._schedule.due_at
        h[region.SWEEP_AFTER] = max(LEAST_ADDED, self.entries // 4)

    @property
    def entries(self) -> int:
        """Edges and pairs held."""
        return int(self._h[region.EDGES] + self._h[region.RESULTS])

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        arrays = (
            self._edges, self._edge_map, self._heads, self._results,
            self._nodes, self._vertices, self._index, self._arcs,
            self._heap, self._ends, self._stack,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)


def steps_by_state(steps: list[tuple[int, int, int]], states: int) -> tuple[IntArray, IntArray]:
    """Steps sorted by the state that they are taken from, and where each state's begin."""
    ordered = sorted(steps)
    starts = np.searchsorted([state for state, *_ in ordered], np.arange(states + 1))
    return np.array(ordered, np.int64).reshape(-1, 3), starts.astype(np.int64)

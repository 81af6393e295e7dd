"""S_PATH: pairs of vertices connected by a path of the automaton's language."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...algebra.physical import AutomatonPath, SPath
from ..batch import Batch, IntArray, merge_order
from ..counters import Tally, new_tally
from ..kernels import forest
from ..kernels import path as kernel
from ..kernels.tables import EMPTY, enlarged, enlarged_table, new_table
from ..schedule import LEAST_ADDED, Schedule
from .base import Results

_SMALLEST = 64
_SMALLEST_POOL = 1024


class PathOperator:
    """Holds the valid edges and, for each root, its widest paths.

    Results are coalesced, also where several states accept.

    Args:
        path: what to look for.
        inputs: how many inputs there are.
        is_root: which of the vertices with these codes are roots here; None: all are.

    Raises:
        ValueError: if a transition enters the start state.
    """

    def __init__(
        self,
        path: SPath,
        inputs: int,
        is_root: Callable[[IntArray], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._is_root = is_root
        self._moves, self._input_moves, self._moves_of_input = moves_by_input(path, inputs)
        self._moves_of_state = np.searchsorted(
            self._moves[:, kernel.MOVE_STATE], np.arange(path.states + 1)
        ).astype(np.int64)
        self._walked: IntArray = np.zeros(2 * inputs, np.int64)
        self._walked[
            2 * self._moves[:, kernel.MOVE_INPUT] + self._moves[:, kernel.MOVE_INVERSE]
        ] = 1
        self._finals = np.array(path.accepting, np.int64)
        self._accepting: IntArray = np.zeros(path.states, np.int64)
        self._accepting[self._finals] = 1
        self._rivals: IntArray = np.empty(path.states, np.int64)
        self._schedule = Schedule()
        self._h: IntArray = np.zeros(forest.HEADER_LENGTH, np.int64)
        self._h[forest.MOVE] = self._h[forest.EXPANDING] = EMPTY
        self._h[forest.SWEEP_AFTER] = LEAST_ADDED
        self._free: IntArray = np.full(forest.BLOCK_SIZES, EMPTY, np.int64)
        self.tally: Tally = new_tally()
        self._allocate(_SMALLEST, _SMALLEST, _SMALLEST_POOL)

    def _allocate(self, edges: int, nodes: int, slots: int) -> None:
        self._edges: IntArray = np.empty((edges, forest.EDGE_FIELDS), np.int64)
        self._edge_map = new_table(edges)
        self._heads = new_table(2 * edges)
        self._nodes: IntArray = np.empty((nodes, forest.NODE_FIELDS), np.int64)
        self._node_map = new_table(nodes)
        self._pool: IntArray = np.empty((slots, 2), np.int64)
        self._heap: IntArray = np.empty((_SMALLEST, 2), np.int64)
        self._arena: IntArray = np.empty((_SMALLEST_POOL, 2), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair whose paths last longer than was said before."""
        if not any(map(len, inputs)):
            return Batch.empty(2)
        results = Results(2, wanted)
        self._grow(merged_rows(inputs), results)
        return results.batch()

    def _grow(self, rows: IntArray, results: Results) -> None:
        """Takes edges in, in the form of :func:`merged_rows`."""
        h = self._h
        rows[kernel.ROW_ROOTS] = kernel.ALL_ROOTS
        if self._is_root is not None:
            rows[kernel.ROW_ROOTS] = self._is_root(rows[0]) + 2 * self._is_root(rows[1])
        h[forest.ROW] = 0
        while True:
            status = kernel.advance(
                h, rows, self._moves, self._moves_of_state, self._input_moves,
                self._moves_of_input, self._walked, self._accepting, self._finals, self._rivals,
                self._edges, self._edge_map, self._heads, self._nodes, self._node_map,
                self._pool, self._free, self._heap, self._arena, results.buffer, self.tally,
            )  # fmt: skip
            if status in (kernel.DONE, kernel.OUT_FULL):
                results.take(int(h[forest.OUT]), int(h[forest.NEED]))
                h[forest.OUT] = 0
                if status == kernel.DONE:
                    return
            elif status == kernel.SWEEP_DUE:
                self.purge(int(rows[kernel.ROW_TS, h[forest.ROW]]))
            else:
                self._enlarge(status)

    def _enlarge(self, status: int) -> None:
        need = int(self._h[forest.NEED])
        match status:
            case kernel.EDGES_FULL:
                length = 2 * len(self._edges)
                self._edges = enlarged(self._edges, length)
                self._edge_map = enlarged_table(self._edge_map, length)
                self._heads = enlarged_table(self._heads, 2 * length)
            case kernel.NODES_FULL:
                length = 2 * len(self._nodes)
                self._nodes = enlarged(self._nodes, length)
                self._node_map = enlarged_table(self._node_map, length)
            case kernel.POOL_FULL:
                self._pool = enlarged(self._pool, max(2 * len(self._pool), need))
            case kernel.HEAP_FULL:
                self._heap = enlarged(self._heap, 2 * len(self._heap))
            case kernel.ARENA_FULL:
                self._arena = enlarged(self._arena, max(2 * len(self._arena), need))
            case _:
                raise AssertionError(f"the kernel stopped with {status}")

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``; leaves room for half as much again."""
        h, edges, nodes, pool = self._h, self._edges, self._nodes, self._pool
        kept = forest.count_valid(h, edges, nodes, pool, now)
        edge_count, node_count, slots, lasting, latest = kept
        self._allocate(
            max(_SMALLEST, edge_count * 3 // 2),
            max(_SMALLEST, node_count * 3 // 2),
            max(_SMALLEST_POOL, slots * 3 // 2),
        )
        forest.sweep(
            h, self._walked, self._free, edges, nodes, pool,
            self._edges, self._edge_map, self._heads, self._nodes, self._node_map, self._pool, now,
        )  # fmt: skip
        self._schedule.swept(now, lasting, latest)
        h[forest.SWEEP_AT] = self._schedule.due_at
        h[forest.SWEEP_AFTER] = max(LEAST_ADDED, self.entries // 4)

    @property
    def entries(self) -> int:
        """Edges and tree nodes held."""
        return int(self._h[forest.EDGES] + self._h[forest.ENTRIES])

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        arrays = (
            self._edges, self._edge_map, self._heads, self._nodes, self._node_map,
            self._pool, self._heap, self._arena,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)


def moves_by_input(path: AutomatonPath, inputs: int) -> tuple[IntArray, IntArray, IntArray]:
    """The moves of a path's automaton, sorted; which of them read each input, one input after
    another; and where those of each input begin among these.

    Raises:
        ValueError: if a transition enters the start state.
    """
    moves = sorted(path.transitions)
    if any(to == 0 for *_, to in moves):
        raise ValueError("a transition of the path's automaton enters its start state")
    by_input = [[k for k, move in enumerate(moves) if move[1] == i] for i in range(inputs)]
    return (
        np.array(moves, np.int64).reshape(-1, 4),
        np.array([k for ks in by_input for k in ks], np.int64),
        np.cumsum([0, *map(len, by_input)], dtype=np.int64),
    )


def merged_rows(inputs: Sequence[Batch]) -> IntArray:
    """All inputs merged by ts, in the form that the kernel reads."""
    rows = np.empty((kernel.ROW_FIELDS, sum(map(len, inputs))), np.int64)
    if len(inputs) == 1:
        (batch,) = inputs
        rows[:2], rows[kernel.ROW_INPUT] = batch.columns, 0
        rows[kernel.ROW_TS], rows[kernel.ROW_EXP] = batch.ts, batch.exp
        return rows
    order = merge_order(inputs)
    rows[:2] = np.concatenate([b.columns for b in inputs], axis=1)[:, order]
    rows[kernel.ROW_INPUT] = np.repeat(np.arange(len(inputs)), [len(b) for b in inputs])[order]
    rows[kernel.ROW_TS] = np.concatenate([b.ts for b in inputs])[order]
    rows[kernel.ROW_EXP] = np.concatenate([b.exp for b in inputs])[order]
    return rows

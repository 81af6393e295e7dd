"""RAPQ: paths over streams with deletions (negative tuples)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...algebra.physical import SPath
from ..batch import Batch, IntArray
from ..kernels import forest, path_loss, taking_back
from ..kernels import path as path_kernel
from .bag import Bag
from .base import Results
from .path import PathOperator, merged_rows

_SMALLEST = 256
_EDGE_COLUMNS = 3  # source, target, input


class PathWithDeletions(PathOperator):
    """Like S_PATH; an edge may end early, and with it what rests on it.

    Each accepting state gives rows of its own, so the results are not coalesced.
    """

    def __init__(
        self,
        path: SPath,
        inputs: int,
        is_root: Callable[[IntArray], NDArray[np.bool_]] | None = None,
    ) -> None:
        super().__init__(path, inputs, is_root)
        self._h[forest.SIGNED] = 1
        self._inputs = inputs
        # What a node lost is sought along the edges that lead to it.
        self._walked |= self._walked.reshape(-1, 2)[:, ::-1].reshape(-1)
        self._held = Bag(_EDGE_COLUMNS, tuple(range(_EDGE_COLUMNS)))
        self._loss: IntArray = np.zeros(path_loss.HEADER_LENGTH, np.int64)
        self._lost: IntArray = np.empty((_SMALLEST, path_loss.LOST_FIELDS), np.int64)
        self._sought: IntArray = np.empty((_SMALLEST, 3), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Pairs whose paths last longer than was said, and pairs taken back."""
        if not any(map(len, inputs)):
            return Batch.empty(2)
        results = Results(2, wanted)
        rows = self._changes(merged_rows(inputs))
        start = 0
        for row in np.flatnonzero(rows[path_kernel.ROW_EXP] < 0).tolist():
            if row > start:
                self._grow(np.ascontiguousarray(rows[:, start:row]), results)
            self._lower(rows[:, row], results)
            start = row + 1
        if start < rows.shape[1]:
            self._grow(np.ascontiguousarray(rows[:, start:]), results)
        return results.batch()

    def _changes(self, rows: IntArray) -> IntArray:
        """How long each edge lasts, where that changes; ``~expiry`` where it shrinks."""
        held = self._held
        h: IntArray = np.zeros(taking_back.EDGE_FIELDS, np.int64)
        columns = np.ascontiguousarray(rows[:_EDGE_COLUMNS])
        ts, exp = rows[path_kernel.ROW_TS], rows[path_kernel.ROW_EXP]
        out: IntArray = np.empty((_EDGE_COLUMNS + 2, rows.shape[1]), np.int64)
        while taking_back.changes_of_edges(
            h, columns, ts, exp,
            held.h, held.columns, held.rows, held.values, held.index, out,
        ) != taking_back.DONE:  # fmt: skip
            held.sweep(int(ts[h[taking_back.EDGE_ROW]]))
        changed = int(h[taking_back.EDGE_OUT])
        found: IntArray = np.empty((path_kernel.ROW_FIELDS, changed), np.int64)
        found[: _EDGE_COLUMNS + 2] = out[:, :changed]
        return found

    def _lower(self, row: IntArray, results: Results) -> None:
        """Lets an edge last less long."""
        h, now = self._loss, int(row[path_kernel.ROW_TS])
        h[:] = 0
        edge = np.ascontiguousarray(row[:_EDGE_COLUMNS])
        expiry = ~int(row[path_kernel.ROW_EXP])
        while True:
            status = path_loss.lower(
                h, edge, now, expiry, self._inputs, self._moves, self._moves_of_state,
                self._edges, self._edge_map, self._heads, self._nodes, self._node_map,
                self._pool, self._lost, self._sought,
            )  # fmt: skip
            if status == path_loss.DONE:
                break
            if status == path_loss.LOST_FULL:
                self._lost = np.concatenate([self._lost, np.empty_like(self._lost)])
            else:
                self._sought = np.concatenate([self._sought, np.empty_like(self._sought)])
        results.take(0, 2 * int(h[path_loss.LOST]))
        written = path_loss.differences(
            h, now, self._accepting, self._nodes, self._pool, self._lost, results.buffer
        )
        results.take(written)

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``, and what was taken back."""
        super().purge(now)
        self._held.sweep(now)

    @property
    def entries(self) -> int:
        """Edges and tree nodes held."""
        return super().entries + self._held.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self._held.nbytes + self._lost.nbytes + self._sought.nbytes

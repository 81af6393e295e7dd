"""RAPQ: paths over streams with deletions (negative tuples)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...algebra.physical import SPath
from ..batch import Batch, IntArray
from ..kernels import path_deletion as kernel
from ..kernels import stops, taking_back
from ..kernels.path import ROW_EXP, ROW_FIELDS, ROW_TS
from ..kernels.tables import enlarged
from .bag import Bag
from .base import Results, drive
from .edges import IsRoot, merged_rows
from .path import PathOperator

_SMALLEST = 256
_EDGE_COLUMNS = 3  # source, target, input


class PathWithDeletions(PathOperator):
    """Like S_PATH; an edge may end early, and with it what rests on it.

    Each accepting state gives rows of its own, so the results are not coalesced.
    """

    _with_deletions = True

    def __init__(self, path: SPath, inputs: int, is_root: IsRoot | None = None) -> None:
        super().__init__(path, inputs, is_root)
        self._held = Bag(_EDGE_COLUMNS, tuple(range(_EDGE_COLUMNS)))
        self._losses = kernel.Losses(
            np.zeros(kernel.HEADER_FIELDS, np.int64),
            np.empty((_SMALLEST, kernel.LOST_FIELDS), np.int64),
            np.empty((_SMALLEST, 2), np.int64),
        )

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Pairs whose paths last longer than was said, and pairs taken back."""
        if not any(map(len, inputs)):
            return Batch.empty(2)
        results = Results(2, wanted)
        rows = self._changes(merged_rows(inputs))
        start = 0
        for row in np.flatnonzero(rows[ROW_EXP] < 0).tolist():
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
        ts, exp = rows[ROW_TS], rows[ROW_EXP]
        out: IntArray = np.empty((_EDGE_COLUMNS + 2, rows.shape[1]), np.int64)
        while taking_back.changes_of_edges(
            h, columns, ts, exp,
            held.h, held.columns, held.rows, held.values, held.index, out,
        ) != taking_back.DONE:  # fmt: skip
            held.sweep(int(ts[h[taking_back.EDGE_ROW]]))
        changed = int(h[taking_back.EDGE_OUT])
        changes: IntArray = np.empty((ROW_FIELDS, changed), np.int64)
        changes[: _EDGE_COLUMNS + 2] = out[:, :changed]
        return changes

    def _lower(self, row: IntArray, results: Results) -> None:
        """Lets an edge last less long."""
        now, expiry = int(row[ROW_TS]), ~int(row[ROW_EXP])
        edge = np.ascontiguousarray(row[:_EDGE_COLUMNS])
        self._losses.header[:] = 0
        drive(
            lambda: kernel.lower(
                edge, now, expiry, self._automaton, self._edges, self._forest, self._losses
            ),
            {stops.LOST_FULL: self._enlarge_losses},
        )
        results.take(0, 2 * int(self._losses.header[kernel.LOST]))
        written = kernel.differences(
            now, self._automaton.accepting, self._forest, self._losses, results.buffer
        )
        results.take(written)

    def _enlarge_losses(self) -> None:
        header, lost, heap = self._losses
        length = 2 * len(lost)
        self._losses = kernel.Losses(header, enlarged(lost, length), enlarged(heap, length))

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``, and what was taken back."""
        super().purge(now)
        self._held.sweep(now)

    def _state(self) -> Iterable[tuple[IntArray, ...]]:
        return *super()._state(), self._losses

    @property
    def entries(self) -> int:
        """Edges and tree nodes held."""
        return super().entries + self._held.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self._held.nbytes

"""RAPQ: paths over streams with deletions (negative tuples)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ...algebra.physical import AutomatonPath
from ..batch import IntArray
from ..kernels import path_deletion as kernel
from ..kernels import retraction, stops
from ..kernels.path import ROW_EXP, ROW_FIELDS, ROW_TS
from ..kernels.rows import Input
from ..kernels.tables import enlarged
from .base import drive
from .edges import IsRoot
from .path import PathOperator
from .rows import Bag

_SMALLEST = 256
_EDGE_COLUMNS = 3  # source, target, input


class PathWithDeletions(PathOperator):
    """S_PATH over edges that may be deleted: retracts the results that depend on a deleted edge.

    Each accepting state reports its own rows, so the results are not coalesced.
    """

    _with_deletions = True

    def __init__(self, path: AutomatonPath, inputs: int, is_root: IsRoot | None = None) -> None:
        super().__init__(path, inputs, is_root)
        self._held = Bag(_EDGE_COLUMNS, tuple(range(_EDGE_COLUMNS)))
        self._losses = kernel.Losses(
            np.zeros(kernel.HEADER_FIELDS, np.int64),
            np.empty((_SMALLEST, kernel.LOST_FIELDS), np.int64),
            np.empty((_SMALLEST, 2), np.int64),
        )

    def _advance(self, rows: IntArray, out: IntArray) -> int:
        return kernel.advance(
            rows, self._automaton, self._edges, self._forest, self._search, self._losses,
            out, self.tally,
        )  # fmt: skip

    def _changes(self, rows: IntArray) -> IntArray:
        """The changes of edges' expiries: the new expiry if it grew, ``~expiry`` if it shrank."""
        held, h = self._held, np.zeros(retraction.HEADER_FIELDS, np.int64)
        batch = Input(np.ascontiguousarray(rows[:_EDGE_COLUMNS]), rows[ROW_TS], rows[ROW_EXP])
        out: IntArray = np.empty((_EDGE_COLUMNS + 2, rows.shape[1]), np.int64)
        drive(
            lambda: retraction.changes_of_edges(h, batch, held.arrays, out),
            {stops.SWEEP_DUE: lambda: held.purge(int(batch.ts[h[retraction.ROW]]))},
        )
        changed = int(h[retraction.OUT])
        changes: IntArray = np.empty((ROW_FIELDS, changed), np.int64)
        changes[: _EDGE_COLUMNS + 2] = out[:, :changed]
        return changes

    def _enlargements(self) -> dict[int, Callable[[], None]]:
        return super()._enlargements() | {stops.LOST_FULL: self._enlarge_losses}

    def _enlarge_losses(self) -> None:
        header, lost, heap = self._losses
        length = 2 * len(lost)
        self._losses = kernel.Losses(header, enlarged(lost, length), enlarged(heap, length))

    def purge(self, now: int) -> None:
        """Drops the edges and values that expired at or before ``now`` or were taken back."""
        super().purge(now)
        self._held.purge(now)

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

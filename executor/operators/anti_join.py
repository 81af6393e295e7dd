"""ANTI_JOIN: the rows of an input while another input has no row with their key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import AntiJoin
from ..batch import Batch, IntArray, merged
from ..kernels import anti_join as kernel
from ..kernels import stops
from ..kernels.rows import Input
from .base import Results, drive
from .rows import RowSet
from .valid_values import ValidValues


class LeftRows(RowSet):
    """A store of rows by key, each with its open row.

    Args:
        width: the number of columns.
        keys: the columns of the key.
    """

    def __init__(self, width: int, keys: tuple[int, ...]) -> None:
        super().__init__(width, keys)
        self._fields = kernel.LEFT_FIELDS
        self._begin()


class AntiJoinOperator:
    """Holds the valid rows of the first input by key, and the keys of the second.

    The rows of an instant wait until application time has passed it, since a row of the instant may
    still come and take a result away. A retraction ends the validity of its value.
    """

    def __init__(self, join: AntiJoin) -> None:
        left, right = join.bindings
        shared = join.shared
        self._keys_of_right = [right.index(variable) for variable in shared]
        self._held = LeftRows(len(left), tuple(left.index(variable) for variable in shared))
        self._keys = ValidValues(len(shared), kernel.KEY_FIELDS)
        self._waiting = Batch.empty(len(left)), Batch.empty(len(shared))
        self._width = len(left)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._key: IntArray = np.empty((len(shared), 1), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Takes rows, for :meth:`advance`; returns none."""
        left, right = inputs
        waiting, keys = self._waiting
        self._waiting = (
            merged([waiting, left]),
            merged([keys, right.project(self._keys_of_right)]),
        )
        return Batch.empty(self._width)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The rows that begin before ``now``, and the retractions of those that end before."""
        h, held, keys = self._h, self._held, self._keys
        whole = [side.ts < now for side in self._waiting]
        left, right = (
            side if chosen.all() else side.take(chosen)
            for side, chosen in zip(self._waiting, whole, strict=True)
        )
        waiting, waiting_keys = (
            Batch.empty(side.width) if chosen.all() else side.take(~chosen)
            for side, chosen in zip(self._waiting, whole, strict=True)
        )
        self._waiting = waiting, waiting_keys
        rows, keys_read = Input(*_plain(left)), Input(*_plain(right))
        results = Results(self._width, wanted)
        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        drive(
            lambda: kernel.advance(self._state, rows, keys_read, now, results.buffer),
            {
                stops.SWEEP_DUE: lambda: held.purge(int(h[kernel.NOW])),
                stops.RIGHT_SWEEP_DUE: keys.enlarge,
                stops.EDGES_FULL: held.double,
                stops.OUT_FULL: lambda: results.drain(h, kernel.OUT),
            },
        )
        results.drain(h, kernel.OUT)
        return results.batch()

    @property
    def _state(self) -> kernel.AntiJoins:
        return kernel.AntiJoins(self._h, self._held.arrays, self._keys.expiring, self._key)

    def tick(self, now: int) -> None:
        """Sweeps the left rows if a sweep is due; keys leave as they expire."""
        self._held.tick(now)

    def purge(self, now: int) -> None:
        """Drops the left rows that expired at or before ``now``."""
        self._held.purge(now)

    @property
    def entries(self) -> int:
        """Rows and keys held, with those that wait."""
        return self._held.entries + self._keys.entries + sum(map(len, self._waiting))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        waiting = sum(array.nbytes for side in self._waiting for array in side.arrays)
        return self._held.nbytes + self._keys.nbytes + waiting


def _plain(batch: Batch) -> tuple[IntArray, IntArray, IntArray]:
    """The arrays in the form that kernels are compiled for."""
    columns, ts, exp = (np.require(array, np.int64, ["C", "W"]) for array in batch.arrays)
    return columns, ts, exp

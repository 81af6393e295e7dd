"""SEMI_JOIN: the rows of an input while another input has a row with their key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import SemiJoin
from ..batch import Batch, IntArray
from ..kernels import semi_join as kernel
from ..kernels import semi_join_deletions as deleting
from ..kernels import stops
from ..kernels.rows import Input
from ..kernels.tables import EMPTY
from .base import Holding, Results, drive
from .rows import Bag, RowSet


class SemiJoinOperator(Holding):
    """Holds the valid rows of the first input by key, and the keys of the second."""

    def __init__(self, join: SemiJoin) -> None:
        left, right = join.bindings
        self._columns = [left.index(variable) for variable in join.output]
        self._keys_of_right = [right.index(variable) for variable in join.shared]
        self._width = len(left)
        self._held = RowSet(len(left), tuple(left.index(variable) for variable in join.shared))
        self._keys = RowSet(len(join.shared), None)
        self._stores = (self._held, self._keys)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.PARTNER] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each validity that a row of the first input gains."""
        a, b = inputs
        if not (len(a) or len(b)):
            return Batch.empty(len(self._columns))
        h, held, keys = self._h, self._held, self._keys
        left = Input(*a.arrays)
        right = Input(np.ascontiguousarray(b.columns[self._keys_of_right]), b.ts, b.exp)
        results = Results(self._width, wanted)
        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        drive(
            lambda: kernel.advance(h, held.arrays, keys.arrays, left, right, results.buffer),
            {
                stops.SWEEP_DUE: lambda: held.purge(int(a.ts[h[kernel.LEFT_ROW]])),
                stops.RIGHT_SWEEP_DUE: lambda: keys.purge(int(b.ts[h[kernel.RIGHT_ROW]])),
                stops.OUT_FULL: lambda: results.drain(h, kernel.OUT),
            },
        )
        results.drain(h, kernel.OUT)
        return results.batch().project(self._columns)


class SemiJoinWithDeletions(Holding):
    """Holds the rows of the first input by key, and the keys of the second, as bags.

    A retraction of a row, or of the last row of a key, retracts results.
    """

    def __init__(self, join: SemiJoin) -> None:
        left, right = join.bindings
        self._columns = [left.index(variable) for variable in join.output]
        self._keys_of_right = [right.index(variable) for variable in join.shared]
        self._width, keys = len(left), len(join.shared)
        self._held = Bag(len(left), tuple(left.index(variable) for variable in join.shared))
        self._keys = Bag(keys, tuple(range(keys)))
        self._reaches = RowSet(keys, None)
        self._stores = (self._held, self._keys, self._reaches)
        self._h: IntArray = np.zeros(deleting.HEADER_FIELDS, np.int64)
        self._h[deleting.PARTNER] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Rows whose key came, went, or has another reach, and retractions of earlier ones."""
        a, b = inputs
        if not (len(a) or len(b)):
            return Batch.empty(len(self._columns))
        h, held = self._h, self._held
        left = Input(*a.arrays)
        right = Input(np.ascontiguousarray(b.columns[self._keys_of_right]), b.ts, b.exp)
        results = Results(self._width, wanted)
        h[deleting.LEFT_ROW] = h[deleting.RIGHT_ROW] = 0

        def sweep_right() -> None:
            for store in (self._keys, self._reaches):
                store.purge(int(b.ts[h[deleting.RIGHT_ROW]]))

        drive(
            lambda: deleting.advance(h, self._state, left, right, results.buffer),
            {
                stops.SWEEP_DUE: lambda: held.purge(int(a.ts[h[deleting.LEFT_ROW]])),
                stops.RIGHT_SWEEP_DUE: sweep_right,
                stops.OUT_FULL: lambda: results.drain(h, deleting.OUT),
            },
        )
        results.drain(h, deleting.OUT)
        return results.batch().project(self._columns)

    @property
    def _state(self) -> deleting.Stores:
        return deleting.Stores(self._held.arrays, self._keys.arrays, self._reaches.arrays)

"""LEFT_JOIN: the pairs of two inputs, and the rows of the first input while they have no pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import AntiJoin, HashJoin, LeftJoin
from ..batch import Batch, IntArray
from ..dictionary import Dictionary
from ..kernels import left_join as kernel
from ..kernels import stops
from ..kernels.rows import Input
from ..kernels.tables import EMPTY, enlarged
from .anti_join import AntiJoinOperator
from .base import Holding, Results, drive
from .coalesce import CoalesceWithDeletions
from .join import JoinOperator
from .rows import RowSet

_NEVER = -1
"""A time before all instants."""


class LeftRows(RowSet):
    """A store of rows by key, each with its open row, and a queue of the rows to look at.

    Args:
        width: the number of columns.
        keys: the columns of the key.
    """

    def __init__(self, width: int, keys: tuple[int, ...]) -> None:
        super().__init__(width, keys)
        self._fields = kernel.LEFT_FIELDS
        self._begin()
        self.queue = self._new_queue()

    def _new_queue(self) -> IntArray:
        """The queue of the rows as they lie now."""
        queue: IntArray = np.empty((len(self.arrays.rows), 2), np.int64)
        kernel.requeue(self.arrays, queue)
        return queue

    def _grow(self, capacity: int) -> None:
        super()._grow(capacity)
        self.queue = enlarged(self.queue, capacity)

    def _shrink(self, capacity: int) -> None:
        super()._shrink(capacity)
        self.queue = self._new_queue()

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self.queue.nbytes


class LeftJoinOperator:
    """Holds the valid rows of both inputs by key.

    Pairs are emitted as they are found. A row without a pair waits until application time has
    passed its instant, since a match of the instant may still come.
    """

    def __init__(self, join: LeftJoin, dictionary: Dictionary) -> None:
        left, right = join.bindings
        shared = join.shared
        self._left = LeftRows(len(left), tuple([left.index(variable) for variable in shared]))
        self._right = RowSet(len(right), tuple([right.index(variable) for variable in shared]))
        self._own: IntArray = np.array([right.index(v) for v in join.own], np.int64)
        self._missing: IntArray = np.array([dictionary.constant(None)], np.int64)
        self._nothing = (
            Input(*Batch.empty(len(left)).arrays),
            Input(*Batch.empty(len(right)).arrays),
        )
        self._width = len(join.output)
        self._passed = _NEVER
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.IN_WORK] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The pairs, and the changes of rows without a pair before the last instant."""
        left, right = inputs
        if not (len(left) or len(right)):
            return Batch.empty(self._width)
        return self._run(Input(*left.arrays), Input(*right.arrays), _NEVER, wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The changes of rows without a pair before ``now``; missing values stand in the columns of
        the second input."""
        self._passed = now
        return self._run(*self._nothing, now, wanted)

    def _run(self, left: Input, right: Input, until: int, wanted: bool) -> Batch:
        h, results = self._h, Results(self._width, wanted)
        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        drive(
            lambda: kernel.advance(self._state, left, right, until, results.buffer),
            {
                stops.SWEEP_DUE: lambda: self._left.purge(int(h[kernel.NOW])),
                stops.RIGHT_SWEEP_DUE: lambda: self._right.purge(int(h[kernel.NOW])),
                stops.OUT_FULL: lambda: results.drain(h, kernel.OUT),
            },
        )
        results.drain(h, kernel.OUT)
        return results.batch()

    @property
    def _state(self) -> kernel.LeftJoins:
        left, right = self._left.arrays, self._right.arrays
        return kernel.LeftJoins(self._h, left, right, self._left.queue, self._own, self._missing)

    def tick(self, now: int) -> None:
        """Sweeps the stores in which a sweep is due."""
        self._left.tick(min(now, self._passed))
        self._right.tick(now)

    def purge(self, now: int) -> None:
        """Drops rows that expired at or before ``now``; of the first input only those that expired
        before :meth:`advance` stopped, since others are still to be emitted."""
        self._left.purge(min(now, self._passed))
        self._right.purge(now)

    @property
    def entries(self) -> int:
        """Rows held."""
        return self._left.entries + self._right.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._left.nbytes + self._right.nbytes


class LeftJoinWithDeletions(Holding):
    """A join for the pairs, and an anti-join with the keys for the rows without one.

    Several rows of the second input may have one key, so the keys are coalesced.
    """

    def __init__(self, join: LeftJoin, dictionary: Dictionary) -> None:
        left, right = join.bindings
        shared = join.shared
        self._missing = dictionary.constant(None)
        self._own = len(join.own)
        self._keys_of_right = [right.index(variable) for variable in shared]
        self._pairs = JoinOperator(
            HashJoin(join.bindings, join.output, update_pattern=join.update_pattern), dictionary
        )
        self._unmatched = AntiJoinOperator(AntiJoin((left, shared)))
        self._keys = CoalesceWithDeletions(len(shared))
        self._stores = self._pairs, self._unmatched, self._keys

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The pairs; takes rows for :meth:`advance`."""
        left, right = inputs
        keys = self._keys.process([right.project(self._keys_of_right)], wanted=True)
        self._unmatched.process([left, keys], wanted)
        return self._pairs.process(inputs, wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The rows without a pair that begin before ``now``, and the retractions of those that end
        before; missing values stand in the columns of the second input."""
        rows = self._unmatched.advance(now, wanted)
        if not len(rows):
            return Batch.empty(rows.width + self._own)
        missing = np.full((self._own, len(rows)), self._missing, np.int64)
        return Batch(np.concatenate([rows.columns, missing]), rows.ts, rows.exp)


def left_join(join: LeftJoin, dictionary: Dictionary) -> LeftJoinOperator | LeftJoinWithDeletions:
    """The operator of a left join, with deletions or without."""
    if join.update_pattern is None:
        return LeftJoinOperator(join, dictionary)
    return LeftJoinWithDeletions(join, dictionary)

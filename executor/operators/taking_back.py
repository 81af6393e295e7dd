"""RETRACT, and HASH_JOIN and COALESCE over streams with deletions (negative tuples)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import HashJoin
from ..batch import Batch, IntArray, merged
from ..dictionary import Dictionary
from ..kernels import taking_back as kernel
from ..kernels.tables import EMPTY
from .bag import Bag
from .base import Holding, Results
from .join import Pairing


class RetractOperator(Holding):
    """What a deletion says of an edge, said of each row that the edge gave.

    In: the edges of a scan; one with a negative expiry is a deletion, of which only source and
    target count. Out: the edges, and for each deletion rows that take back all open edges
    from its source to its target, those of its own time included: so it waits until time has
    passed that.
    """

    def __init__(self, width: int) -> None:
        self._held = Bag(width, (0, 1))
        self._stores = (self._held,)
        self._waiting = Batch.empty(width)
        self._h: IntArray = np.zeros(kernel.SCAN_FIELDS, np.int64)
        self._h[kernel.CHAIN] = kernel.NOT_BEGUN

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Edges, and what is taken back; deletions of the latest instant wait."""
        (batch,) = inputs
        if not len(batch):
            return Batch.empty(batch.width)
        rows = merged([self._waiting, batch])
        rows = rows.take(np.lexsort((rows.exp < 0, rows.ts)))
        waits = (rows.exp < 0) & (rows.ts == rows.ts[-1])
        self._waiting = rows.take(waits)
        return self._retracted(rows.take(~waits) if waits.any() else rows, wanted)

    def advance(self, now: int, wanted: bool) -> Batch:
        """What waited, when no more edges of its time can come."""
        waiting = self._waiting
        if not len(waiting) or waiting.ts[0] >= now:
            return Batch.empty(waiting.width)
        self._waiting = Batch.empty(waiting.width)
        return self._retracted(waiting, wanted)

    def _retracted(self, batch: Batch, wanted: bool) -> Batch:
        h, held = self._h, self._held
        results = Results(batch.width, wanted)
        h[kernel.ROW] = 0
        while True:
            status = kernel.retract(
                h, batch.columns, batch.ts, batch.exp,
                held.h, held.columns, held.keys, held.rows, held.values, held.index,
                results.buffer,
            )  # fmt: skip
            if status == kernel.DUE:
                held.sweep(int(batch.ts[h[kernel.ROW]]))
            else:
                results.take(int(h[kernel.OUT]))
                h[kernel.OUT] = 0
                if status == kernel.DONE:
                    return results.batch()

    @property
    def unmatched(self) -> int:
        """Deletions, since the operator was built, of edges of which none was open."""
        return int(self._h[kernel.UNMATCHED])


class CoalesceWithDeletions(Holding):
    """Of each value how long the longest of its rows lasts."""

    def __init__(self, width: int) -> None:
        self._held = Bag(width, tuple(range(width)))
        self._stores = (self._held,)
        self._h: IntArray = np.zeros(kernel.COALESCE_FIELDS, np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Rows that last longer than what was said; what was said, where it holds no more."""
        (batch,) = inputs
        h, held = self._h, self._held
        results = Results(batch.width, wanted)
        h[kernel.COALESCE_ROW] = 0
        while True:
            status = kernel.coalesce(
                h, batch.columns, batch.ts, batch.exp,
                held.h, held.columns, held.rows, held.values, held.index, results.buffer,
            )  # fmt: skip
            if status == kernel.DUE:
                held.sweep(int(batch.ts[h[kernel.COALESCE_ROW]]))
            else:
                results.take(int(h[kernel.COALESCE_OUT]), int(h[kernel.COALESCE_NEED]))
                h[kernel.COALESCE_OUT] = 0
                if status == kernel.DONE:
                    return results.batch()


class JoinWithDeletions(Holding):
    """Holds the rows of both inputs, each as often as it was given.

    ``dictionary`` gave the codes; a join without a residual does not look at it.

    Raises:
        PlanError: if the residual is not on the allow-list.
    """

    def __init__(self, join: HashJoin, dictionary: Dictionary | None = None) -> None:
        left, right = join.bindings
        shared = [v for v in left if v in right]
        self._pairing = Pairing(join, dictionary or Dictionary())
        self._left = Bag(len(left), tuple(left.index(v) for v in shared))
        self._right = Bag(len(right), tuple(right.index(v) for v in shared))
        self._stores = (self._left, self._right)
        self._h: IntArray = np.zeros(kernel.JOIN_FIELDS, np.int64)
        self._h[kernel.IN_WORK] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair that is given or taken back."""
        a, b = inputs
        if not (len(a) or len(b)):
            return Batch.empty(self._pairing.width)
        h, left, right = self._h, self._left, self._right
        results = self._pairing.results(wanted)
        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        while True:
            status = kernel.join(
                h, a.columns, a.ts, a.exp, b.columns, b.ts, b.exp,
                left.h, left.rows, left.values, left.index,
                left.columns, left.keys, self._pairing.left_sources,
                right.h, right.rows, right.values, right.index,
                right.columns, right.keys, self._pairing.right_sources,
                results.buffer,
            )  # fmt: skip
            if status == kernel.DUE:
                left.sweep(int(a.ts[h[kernel.LEFT_ROW]]))
            elif status == kernel.OTHER_DUE:
                right.sweep(int(b.ts[h[kernel.RIGHT_ROW]]))
            else:
                self._pairing.take(results, int(h[kernel.JOIN_OUT]), wanted)
                h[kernel.JOIN_OUT] = 0
                if status == kernel.DONE:
                    return results.batch()

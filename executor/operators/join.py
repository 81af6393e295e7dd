"""HASH_JOIN: the symmetric hash join of two inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algebra.physical import HashJoin
from executor.batch import Batch, IntArray
from executor.kernels import join as kernel
from executor.kernels.tables import EMPTY
from executor.operators.base import Results
from executor.operators.rowset import RowSet


class JoinOperator:
    """Holds the valid rows of both inputs, each found by the variables that both bind."""

    def __init__(self, join: HashJoin) -> None:
        left, right = join.bindings
        shared = [v for v in left if v in right]
        self._width = len(join.output)
        self._left = RowSet(len(left), tuple(left.index(v) for v in shared))
        self._right = RowSet(len(right), tuple(right.index(v) for v in shared))
        self._left_sources = sources(join.output, left, right)
        self._right_sources = sources(join.output, right, left)
        self._h: IntArray = np.zeros(kernel.HEADER_LENGTH, np.int64)
        self._h[kernel.IN_WORK] = EMPTY

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair of matching rows that are valid together."""
        a, b = inputs
        if not (len(a) or len(b)):
            return Batch.empty(self._width)
        h, left, right = self._h, self._left, self._right
        results = Results(self._width, wanted)
        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        while True:
            status = kernel.advance(
                h, a.columns, a.ts, a.exp, b.columns, b.ts, b.exp,
                left.h, left.rows, left.values, left.index,
                left.columns, left.keys, self._left_sources,
                right.h, right.rows, right.values, right.index,
                right.columns, right.keys, self._right_sources,
                results.buffer,
            )  # fmt: skip
            if status == kernel.LEFT_DUE:
                left.sweep(int(a.ts[h[kernel.LEFT_ROW]]))
            elif status == kernel.RIGHT_DUE:
                right.sweep(int(b.ts[h[kernel.RIGHT_ROW]]))
            else:
                results.take(int(h[kernel.OUT]))
                h[kernel.OUT] = 0
                if status == kernel.DONE:
                    return results.batch()

    def tick(self, now: int) -> None:
        """Sweeps the sides where that is due."""
        self._left.tick(now)
        self._right.tick(now)

    def purge(self, now: int) -> None:
        """Drops what expired at or before ``now``."""
        self._left.sweep(now)
        self._right.sweep(now)

    @property
    def entries(self) -> int:
        """Rows held on both sides."""
        return self._left.entries + self._right.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._left.nbytes + self._right.nbytes


def sources(output: tuple[int, ...], own: tuple[int, ...], other: tuple[int, ...]) -> IntArray:
    """For each output variable its own column, or -1 - c for column c of the other side."""
    return np.array([own.index(v) if v in own else -1 - other.index(v) for v in output], np.int64)

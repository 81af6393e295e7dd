"""HASH_JOIN: the symmetric hash join of two inputs, with deletions or without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.physical import HashJoin, Horizon, index_forms
from ..batch import FOREVER, Batch, IntArray
from ..dictionary import Dictionary
from ..kernels import join as kernel
from ..kernels import stops
from ..kernels.rows import Input
from ..kernels.tables import EMPTY
from .base import Holding, Results, drive
from .condition import Check, Condition, checks_of
from .rows import RowSet
from .shared_index import SharedIndex, new_index

_NO_LOG: IntArray = np.empty((0, 0), np.int64)


class Pairing:
    """The columns that a join writes for each pair of matching rows, and its residual condition.

    The kernel writes no pair that fails a check (:func:`.condition.checks_of`). With a residual, it
    also writes the columns that the residual reads; :meth:`take` then drops the pairs that do not
    satisfy the rest of it, a buffer at a time.

    Raises:
        PlanError: if the residual is not on the allow-list.
    """

    def __init__(self, join: HashJoin, dictionary: Dictionary) -> None:
        left, right = join.bindings
        self.width = len(join.output)
        self._residual: Condition | None = None
        written = list(join.output)
        checks: Sequence[Check] = ()
        if join.residual is not None:
            variables = 1 + max(*left, *right, -1)
            self._residual = Condition(join.residual, variables, dictionary)
            written += [v for v in self._residual.columns if v not in written]
            self._looked_at = [written.index(v) for v in self._residual.columns]
            checks = checks_of(join.residual)
        self._further = len(written) - self.width
        self.left_sources = _sources(written, left, right)
        self.right_sources = _sources(written, right, left)
        self.left_checks = _checks(checks, left, right)
        self.right_checks = _checks(checks, right, left)

    def results(self, wanted: bool) -> Results:
        """An empty buffer for pairs."""
        return Results(self.width, wanted, self._further)

    def take(self, results: Results, pairs: int, wanted: bool) -> None:
        """Copies the pairs that satisfy the residual out of the buffer."""
        chosen = None
        if self._residual is not None and wanted and pairs:
            chosen = self._residual.mask(results.buffer[self._looked_at, :pairs])
        results.take(pairs, chosen=chosen)


class JoinOperator(Holding):
    """Holds the valid rows of both inputs, indexed by the variables that both bind.

    With deletions the rows are held as bags, and a retraction of a row retracts its pairs.

    A join without residual and horizons does not use ``dictionary``. A side with a shared index
    does not expire it, nor count it as its own state.

    Raises:
        PlanError: if the residual is not on the allow-list.
    """

    def __init__(
        self,
        join: HashJoin,
        dictionary: Dictionary | None = None,
        shared: Sequence[SharedIndex | None] = (None, None),
    ) -> None:
        self._dictionary = dictionary or Dictionary()
        self._pairing = Pairing(join, self._dictionary)
        self._horizons = join.horizon or (None, None)
        of_left, of_right = index_forms(join)
        left, right = join.bindings
        self._left_sought = _sought(left, right, of_right.keys)
        self._right_sought = _sought(right, left, of_left.keys)
        self._left, self._right = (
            new_index(form) if index is None else index
            for form, index in zip((of_left, of_right), shared, strict=True)
        )
        self._stores = tuple(
            [side for side in (self._left, self._right) if not isinstance(side, SharedIndex)]
        )
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.IN_WORK] = EMPTY
        self._h[kernel.ONE_INDEX] = self._left is self._right

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each pair of matching rows that are valid together."""
        a, b = inputs
        if not (len(a) or len(b)):
            return Batch.empty(self._pairing.width)
        h, left, right, pairing = self._h, self._left, self._right, self._pairing
        results = pairing.results(wanted)
        left_rows, right_rows = Input(*a.arrays), Input(*b.arrays)
        left_until, right_until = (
            held_until(batch, horizon, self._dictionary)
            for batch, horizon in zip(inputs, self._horizons, strict=True)
        )
        left_log = _log(left, a, left_until)
        right_log = left_log if left is right else _log(right, b, right_until)
        entries = self._dictionary.table

        def advance() -> int:
            return kernel.advance(
                h,
                kernel.Side(
                    left.arrays,
                    left_rows,
                    self._left_sought,
                    left_until,
                    pairing.left_sources,
                    pairing.left_checks,
                    left_log,
                ),
                kernel.Side(
                    right.arrays,
                    right_rows,
                    self._right_sought,
                    right_until,
                    pairing.right_sources,
                    pairing.right_checks,
                    right_log,
                ),
                entries,
                results.buffer,
            )

        def take() -> None:
            pairing.take(results, int(h[kernel.OUT]), wanted)
            h[kernel.OUT] = 0

        h[kernel.LEFT_ROW] = h[kernel.RIGHT_ROW] = 0
        drive(
            advance,
            {
                stops.SWEEP_DUE: lambda: left.purge(int(a.ts[h[kernel.LEFT_ROW]])),
                stops.RIGHT_SWEEP_DUE: lambda: right.purge(int(b.ts[h[kernel.RIGHT_ROW]])),
                stops.OUT_FULL: take,
            },
        )
        take()
        return results.batch()


def _log(side: RowSet | SharedIndex, batch: Batch, until: IntArray) -> IntArray:
    """The changes of a batch to a shared index; without fields for an index of one join."""
    return side.take_in(batch, until) if isinstance(side, SharedIndex) else _NO_LOG


def held_until(batch: Batch, horizon: Horizon | None, dictionary: Dictionary) -> IntArray:
    """The time until which each row is held: its expiry, or earlier by the horizon.

    A horizon (column, bound) says that no row after ``column + bound`` can match.
    """
    if horizon is None:
        return batch.exp
    column, bound = horizon
    times, is_integer = dictionary.integers(batch.columns[column])
    # Keep last + bound + 1 within 64 bits.
    last = np.where(times < FOREVER - max(bound, 0) - 1, times, FOREVER - max(bound, 0) - 1)
    until = np.where(is_integer, np.minimum(batch.exp, last + bound + 1), batch.exp)
    return np.require(until, np.int64, ["C", "W"])


def _sought(own: tuple[int, ...], other: tuple[int, ...], keys: tuple[int, ...]) -> IntArray:
    """The columns of a side that bind the variables of the other side's key columns ``keys``."""
    return np.array([own.index(other[column]) for column in keys], np.int64)


def _sources(output: Sequence[int], own: tuple[int, ...], other: tuple[int, ...]) -> IntArray:
    """For each output variable its own column, or -1 - c for column c of the other side."""
    return np.array([own.index(v) if v in own else -1 - other.index(v) for v in output], np.int64)


def _checks(checks: Sequence[Check], own: tuple[int, ...], other: tuple[int, ...]) -> IntArray:
    """Checks on variables, as checks on a row of a side and its partner."""
    rows = [(kind, *_sources((x, y), own, other), bound) for kind, x, y, bound in checks]
    return np.array(rows, np.int64).reshape(len(rows), kernel.CHECK_FIELDS)

"""Rows between operators: a struct of flat int64 arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

FOREVER: Final = 2**63 - 1
"""The expiry of a row that never expires (a stored graph)."""


def lasting(exp: IntArray) -> IntArray:
    """The expiry of each row; of a retraction, the expiry of the row that is taken back."""
    return np.where(exp < 0, ~exp, exp)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows sorted by ``ts``; each is valid in ``[ts, exp)``.

    In a stream with deletions a row with a negative expiry is a *retraction*: at its ``ts`` it
    takes back one earlier row of the same columns with the expiry ``~exp``.

    Attributes:
        columns: dictionary codes; ``columns[j, i]`` is column ``j`` of row ``i`` (shape width ×
            rows, C-contiguous).
        ts: when each row becomes valid, in ticks of the catalog's time unit.
        exp: the tick from which each row is no longer valid; ``~exp`` in a retraction.
    """

    columns: IntArray
    ts: IntArray
    exp: IntArray

    def __len__(self) -> int:
        return int(self.ts.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.columns.shape[0])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, IntArray]:
        """``columns``, ``ts`` and ``exp``."""
        return self.columns, self.ts, self.exp

    @staticmethod
    def empty(width: int) -> Batch:
        """No rows of ``width`` columns; the same batch for the same width."""
        return _empty(width)

    def pieces(self, rows: int) -> Iterator[Batch]:
        """Cuts the batch into pieces of at most ``rows`` rows."""
        for start in range(0, len(self), rows):
            part = slice(start, start + rows)
            yield Batch(self.columns[:, part], self.ts[part], self.exp[part])

    def take(self, rows: IntArray | NDArray[np.bool_]) -> Batch:
        """The chosen rows: positions in rising order, or a mask."""
        return Batch(
            np.ascontiguousarray(self.columns[:, rows]),
            np.ascontiguousarray(self.ts[rows]),
            np.ascontiguousarray(self.exp[rows]),
        )

    def project(self, columns: Sequence[int]) -> Batch:
        """A batch of chosen columns: its column ``i`` is column ``columns[i]`` of this one."""
        return Batch(self.columns[np.asarray(columns, np.int64)], self.ts, self.exp)


@cache
def _empty(width: int) -> Batch:
    none = np.empty(0, np.int64)
    return Batch(np.empty((width, 0), np.int64), none, none)


def without_repeated_ends(batch: Batch) -> Batch:
    """Drops a retraction that follows a retraction of the same value and ts.

    For a consumer that takes one retraction as the end of all earlier rows of the value.
    """
    if len(batch) < 2 or not (batch.exp < 0).any():
        return batch
    ends = batch.exp < 0
    repeats = ends[1:] & ends[:-1] & (batch.ts[1:] == batch.ts[:-1])
    repeats &= np.all(batch.columns[:, 1:] == batch.columns[:, :-1], axis=0)
    return batch.take(np.concatenate([[True], ~repeats]))


def merge_order(batches: Sequence[Batch]) -> IntArray:
    """The stable order by ts of the rows of all batches laid end to end."""
    return np.argsort(np.concatenate([b.ts for b in batches]), kind="stable")


def merged(batches: Sequence[Batch]) -> Batch:
    """All rows in one batch; rows of equal ts keep the order of the batches."""
    filled = [b for b in batches if len(b)]
    if len(filled) <= 1:
        return filled[0] if filled else batches[0]
    order = merge_order(filled)
    return Batch(
        np.take(np.concatenate([b.columns for b in filled], axis=1), order, axis=1),
        np.concatenate([b.ts for b in filled])[order],
        np.concatenate([b.exp for b in filled])[order],
    )

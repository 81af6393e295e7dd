"""The distinct values of a stream of rows, as held by operators at the root of a plan."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels import expiring as kernel
from ..kernels.rows import copy_index
from ..kernels.tables import EMPTY, enlarged

_SMALLEST = 48
"""The values for which there is space at first: three quarters of a power of two."""
_SMALLEST_QUEUE = 16
_RECENT = 64
"""The expiries whose bucket is found without a new one."""


class ValidValues:
    """A store of values with a queue by expiry (:mod:`headrace.executor.kernels.expiring`).

    Args:
        width: the number of columns.
        fields: the number of fields of the operator for each value.
    """

    def __init__(self, width: int, fields: int = 0) -> None:
        header: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        header[kernel.FREE] = header[kernel.FREE_BUCKET] = EMPTY
        self.expiring = kernel.Expiring(
            header,
            np.arange(width, dtype=np.int64),
            np.empty((_SMALLEST, width), np.int32),
            np.empty(_SMALLEST, np.int64),
            np.empty((_SMALLEST, kernel.LINKS), np.int32),
            np.empty((_SMALLEST, fields), np.int64),
            _index_for(_SMALLEST),
            np.empty((_SMALLEST_QUEUE + 1, 2), np.int64),
            np.empty(_SMALLEST_QUEUE, np.int32),
            np.full((_RECENT, 2), EMPTY, np.int64),
        )
        """The arrays of the values."""

    @property
    def capacity(self) -> int:
        """The number of values for which there is space."""
        return len(self.expiring.until)

    @property
    def entries(self) -> int:
        """Values held."""
        return int(self.expiring.header[kernel.COUNT])

    def enlarge(self) -> None:
        """Doubles the space for values or for expiries that is full; values keep their rows."""
        if self.entries == self.capacity:
            self._enlarge_rows()
        if self.expiring.header[kernel.QUEUED] == len(self.expiring.firsts):
            self._enlarge_queue()

    def _enlarge_rows(self) -> None:
        """Doubles the arrays one after the other, so that one of them at a time is there twice."""
        length = 2 * self.capacity
        for name in ("columns", "until", "links", "own"):
            larger = enlarged(getattr(self.expiring, name), length)
            self.expiring = self.expiring._replace(**{name: larger})
        slots = _index_for(length)
        copy_index(self.expiring.slots, slots)
        self.expiring = self.expiring._replace(slots=slots)

    def _enlarge_queue(self) -> None:
        length = len(self.expiring.firsts)
        if 2 * kernel.drop_empty_buckets(self.expiring) > length:
            self.expiring = self.expiring._replace(
                queue=enlarged(self.expiring.queue, 2 * length + 1),
                firsts=enlarged(self.expiring.firsts, 2 * length),
            )

    def last(self, otherwise: int) -> int:
        """The largest expiry below FOREVER; ``otherwise`` if there is none."""
        return int(kernel.last_expiry(self.expiring, otherwise))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(array.nbytes for array in self.expiring)


def _index_for(capacity: int) -> IntArray:
    """An empty index in which ``capacity`` values, 3 · 2^n, take three quarters of the slots."""
    return np.full(capacity // 3 * 4, EMPTY, np.int64)

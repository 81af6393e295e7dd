"""The distinct values of a stream of rows, as held by operators at the root of a plan."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..kernels.expiring import EXPIRING_FIELDS, Expiring, last_expiry
from ..kernels.tables import enlarged
from .rows import RowSet


class ValidValues(RowSet):
    """A store of values with a queue by expiry (:mod:`headrace.executor.kernels.expiring`).

    Args:
        width: the number of columns.
        further: the number of further fields of the operator in each row.
    """

    def __init__(self, width: int, further: int = 0) -> None:
        super().__init__(width, None)
        self._fields = EXPIRING_FIELDS + further
        self._begin()
        self.queue: IntArray = np.zeros((len(self.arrays.rows) + 1, 2), np.int64)

    @property
    def expiring(self) -> Expiring:
        """The arrays of the values."""
        return Expiring(self.arrays, self.queue)

    @property
    def capacity(self) -> int:
        """The number of values for which there is space."""
        return len(self.arrays.rows)

    def enlarge(self) -> None:
        """Doubles the space; all rows keep their numbers."""
        self._grow(2 * self.capacity)
        self.queue = enlarged(self.queue, self.capacity + 1)

    def last(self, otherwise: int) -> int:
        """The largest expiry below FOREVER; ``otherwise`` if there is none."""
        return int(last_expiry(self.expiring, otherwise))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self.queue.nbytes

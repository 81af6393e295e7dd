"""The arrays that an aggregation holds beside the valid values: groups, bags and sums."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..dictionary import Dictionary
from ..kernels import aggregate_layout, exact_sums, ordered
from ..kernels.tables import EMPTY, enlarged
from .rows import RowSet

_SMALLEST = 64


class Groups(RowSet):
    """A store of the groups by key.

    Attributes:
        changed: space for the numbers of all groups.
        open_fields: the fields of a group with the values of its open row.

    Args:
        keys: the number of key columns.
        calls: the number of aggregates.
    """

    def __init__(self, keys: int, calls: int) -> None:
        super().__init__(keys, None)
        opened = aggregate_layout.GROUP_FIELDS + calls * aggregate_layout.STATE_FIELDS
        self._fields = opened + 2 * calls
        self.open_fields = slice(keys + opened, keys + self._fields)
        self._begin()
        self.changed: IntArray = np.empty(len(self.arrays.rows), np.int64)

    def enlarge(self) -> None:
        """Doubles the space; all groups keep their numbers."""
        self._grow(2 * len(self.arrays.rows))
        self.changed = enlarged(self.changed, len(self.arrays.rows))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self.changed.nbytes


class Bags:
    """The nodes of ordered bags (:mod:`headrace.executor.kernels.ordered`)."""

    def __init__(self) -> None:
        self._h: IntArray = np.zeros(ordered.NODE_HEADER_FIELDS, np.int64)
        self._h[ordered.FREE] = EMPTY
        self._nodes: IntArray = np.empty((_SMALLEST, ordered.NODE_FIELDS), np.int64)

    def arrays(self, dictionary: Dictionary) -> ordered.Nodes:
        """The nodes, and the strings that they refer to."""
        return ordered.Nodes(self._h, self._nodes, dictionary.table, dictionary.strings)

    def enlarge(self) -> None:
        """Doubles the space."""
        self._nodes = enlarged(self._nodes, 2 * len(self._nodes))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._nodes.nbytes


class ExactSums:
    """The limbs of exact sums of floats (:mod:`headrace.executor.kernels.exact_sums`).

    Attributes:
        limbs: a sum in each row.
        scratch: space for one sum.
        pair: space for the sum of two values, or for a root.
        squares: space for a sum of squares.

    Args:
        squares: whether each row has a sum of squares too.
    """

    def __init__(self, *, squares: bool = False) -> None:
        limbs = exact_sums.LIMBS_WITH_SQUARES if squares else exact_sums.LIMBS
        self.limbs: IntArray = np.empty((_SMALLEST, limbs), np.int64)
        self.scratch: IntArray = np.empty(exact_sums.LIMBS, np.int64)
        self.pair: IntArray = np.empty((1, exact_sums.LIMBS), np.int64)
        self.squares: IntArray = np.empty(2 * exact_sums.LIMBS + 1, np.int64)

    def enlarge(self) -> None:
        """Doubles the space."""
        self.limbs = enlarged(self.limbs, 2 * len(self.limbs))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self.limbs.nbytes

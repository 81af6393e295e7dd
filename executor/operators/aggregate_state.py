"""The arrays that an aggregation holds beside the valid values: groups, bags and sums."""

from __future__ import annotations

import numpy as np

from ..batch import IntArray
from ..dictionary import Dictionary
from ..kernels import aggregate_groups, exact_sums, ordered
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
        opened = aggregate_groups.GROUP_FIELDS + calls * aggregate_groups.STATE_FIELDS
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
    """

    def __init__(self) -> None:
        self.limbs: IntArray = np.empty((_SMALLEST, exact_sums.LIMBS), np.int64)
        self.scratch: IntArray = np.empty(exact_sums.LIMBS, np.int64)

    def enlarge(self) -> None:
        """Doubles the space."""
        self.limbs = enlarged(self.limbs, 2 * len(self.limbs))

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self.limbs.nbytes

"""Sends rows to the cells of a hypercube, which are partitions.

In: the cells (:class:`headrace.algebra.properties.Cells`), and the values of rows, as codes or as
Arrow arrays. Out: for each partition a mask of its rows.

A value is in the same part of a dimension in every process, as in
:mod:`headrace.executor.partitions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..algebra.properties import Cells
from .batch import Batch, IntArray
from .dictionary import Dictionary

Mask = NDArray[np.bool_]


def coordinates_of(partition: int, shares: Sequence[int]) -> tuple[int, ...]:
    """The part of each dimension in which a partition lies; -1, which is no part, if it is no cell.

    Args:
        partition: the number of the partition.
        shares: the number of parts of each dimension.
    """
    rest, parts = partition, []
    for share in reversed(shares):
        rest, part = divmod(rest, share)
        parts.append(part)
    return (-1,) * len(parts) if rest else tuple(reversed(parts))


class PlacedRows:
    """Rows with the parts in which their values lie.

    Args:
        cells: the cells.
        rows: the number of rows.
        part_of: from a column and a number of parts to the part of each value of the column.
    """

    def __init__(self, cells: Cells, rows: int, part_of: Callable[[int, int], IntArray]) -> None:
        self._cells = cells
        self._rows = rows
        named = {pair for use in cells.coordinates for pair in enumerate(use)}
        self._parts = {
            (dimension, column): part_of(column, cells.shares[dimension])
            for dimension, column in named
            if column is not None
        }

    def on(self, partition: int) -> Mask:
        """The rows that have a copy on a partition."""
        here = coordinates_of(partition, self._cells.shares)
        mask = np.zeros(self._rows, np.bool_)
        if -1 not in here:
            for use in self._cells.coordinates:
                mask |= self._agreeing(use, here)
        return mask

    def counted_on(self, partition: int) -> Mask:
        """The rows on a partition that count there; each row counts on one of its partitions."""
        use = self._cells.coordinates[0]
        here = coordinates_of(partition, self._cells.shares)
        everywhere = [part for part, column in zip(here, use, strict=True) if column is None]
        if any(everywhere) or -1 in here:
            return np.zeros(self._rows, np.bool_)
        return self._agreeing(use, here)

    def _agreeing(self, use: Sequence[int | None], here: Sequence[int]) -> Mask:
        """The rows whose values lie in the parts of a cell."""
        mask = np.ones(self._rows, np.bool_)
        for dimension, column in enumerate(use):
            if column is not None:
                mask &= self._parts[dimension, column] == here[dimension]
        return mask


def codes_in_cells(cells: Cells, rows: Batch, dictionary: Dictionary) -> PlacedRows:
    """The places of rows of codes."""

    def part_of(column: int, parts: int) -> IntArray:
        return dictionary.partitions(rows.columns[column], parts)

    return PlacedRows(cells, len(rows), part_of)

"""Operators that hold the valid edges of their inputs, and how they read those."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch, IntArray, merge_order
from ..kernels import edges as kernel
from ..kernels.edges import Edges
from ..kernels.path import (
    ALL_ROOTS,
    ROW_EXP,
    ROW_FIELDS,
    ROW_INPUT,
    ROW_ROOTS,
    ROW_TS,
)
from ..kernels.store import HEADER_FIELDS
from ..kernels.tables import enlarged, enlarged_table, new_table
from .base import Swept

SMALLEST = 64
"""Entries that the arrays of an empty state have room for."""

IsRoot = Callable[[IntArray], NDArray[np.bool_]]
"""Which of the vertices with some codes are roots in a partition."""


class EdgesOperator(Swept, ABC):
    """Holds the valid edges, and what a subclass makes of them.

    Args:
        walked: for each 2 · input + inverse, whether there are adjacency lists of it.
        fields: how many fields an edge has.
    """

    def __init__(self, walked: IntArray, fields: int = kernel.EDGE_FIELDS) -> None:
        super().__init__(np.zeros(HEADER_FIELDS, np.int64))
        self._walked = walked
        self._fields = fields
        self._edges = self._new_edges(SMALLEST)

    def _new_edges(self, capacity: int) -> Edges:
        return Edges(
            self.header,
            np.empty((capacity, self._fields), np.int64),
            new_table(capacity),
            new_table(2 * capacity),
            self._walked,
        )

    def _enlarge_edges(self) -> None:
        edges = self._edges
        length = 2 * len(edges.rows)
        self._edges = edges._replace(
            rows=enlarged(edges.rows, length),
            edge_map=enlarged_table(edges.edge_map, length),
            adjacency=enlarged_table(edges.adjacency, 2 * length),
        )

    def _sweep_edges(self, now: int) -> tuple[int, int]:
        """Drops expired edges and leaves room for half as much again.

        Returns how many of the others never expire, and the latest expiry of the rest.
        """
        old = self._edges
        count, lasting, latest = kernel.count_valid(old, now)
        self._edges = self._new_edges(max(SMALLEST, count * 3 // 2))
        kernel.copy_valid(old, self._edges, now)
        return lasting, latest

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(array.nbytes for arrays in self._state() for array in arrays)

    @abstractmethod
    def _state(self) -> Iterable[tuple[NDArray[np.int64], ...]]:
        """All arrays that hold state."""


def walked_by(keys: IntArray, inputs: int) -> IntArray:
    """For each 2 · input + inverse, 1 if it is one of ``keys``."""
    walked: IntArray = np.zeros(2 * inputs, np.int64)
    walked[keys] = 1
    return walked


def merged_rows(inputs: Sequence[Batch]) -> IntArray:
    """All inputs merged by ts, in the form that the kernels read."""
    rows = np.empty((ROW_FIELDS, sum(map(len, inputs))), np.int64)
    if len(inputs) == 1:
        (batch,) = inputs
        rows[:2], rows[ROW_INPUT] = batch.columns, 0
        rows[ROW_TS], rows[ROW_EXP] = batch.ts, batch.exp
        return rows
    order = merge_order(inputs)
    rows[:2] = np.concatenate([b.columns for b in inputs], axis=1)[:, order]
    rows[ROW_INPUT] = np.repeat(np.arange(len(inputs)), [len(b) for b in inputs])[order]
    rows[ROW_TS] = np.concatenate([b.ts for b in inputs])[order]
    rows[ROW_EXP] = np.concatenate([b.exp for b in inputs])[order]
    return rows


def mark_roots(rows: IntArray, is_root: IsRoot | None) -> None:
    """Notes of each row which of its ends may be roots; all if there is no ``is_root``."""
    rows[ROW_ROOTS] = ALL_ROOTS if is_root is None else is_root(rows[0]) + 2 * is_root(rows[1])

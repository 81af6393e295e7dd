"""A base class of operators that hold the valid edges of their inputs, and its helpers."""

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
from ..kernels.rows import copy_index
from ..kernels.store import HEADER_FIELDS
from ..kernels.tables import EMPTY, capacity_for, enlarged
from .base import Swept

SMALLEST = 64
"""The capacity of the arrays of an empty state, in entries."""

IsRoot = Callable[[IntArray], NDArray[np.bool_]]
"""A mask of the vertex codes that are roots in a partition."""


class EdgesOperator(Swept, ABC):
    """Holds the valid edges; a subclass adds its own state.

    Args:
        walked: for each 2 · input + inverse, 1 if adjacency lists are kept for it.
        fields: the number of fields of an edge.
    """

    def __init__(self, walked: IntArray, fields: int = kernel.EDGE_FIELDS) -> None:
        super().__init__(np.zeros(HEADER_FIELDS, np.int64))
        self._walked = walked
        self._fields = fields
        # The most lists that one edge is in.
        self._lists = int(walked.reshape(-1, 2).sum(axis=1).max(initial=1))
        self._edges = self._new_edges(SMALLEST)

    def _new_edges(self, capacity: int) -> Edges:
        return Edges(
            self.header,
            np.empty((capacity, self._fields), np.int64),
            _index_for(capacity),
            _index_for(self._lists * capacity),
            self._walked,
        )

    def _enlarge_edges(self) -> None:
        edges = self._edges
        length = 2 * len(edges.rows)
        edge_map, adjacency = _index_for(length), _index_for(self._lists * length)
        copy_index(edges.edge_map, edge_map)
        copy_index(edges.adjacency, adjacency)
        self._edges = edges._replace(
            rows=enlarged(edges.rows, length), edge_map=edge_map, adjacency=adjacency
        )

    def _sweep_edges(self, now: int) -> tuple[int, int]:
        """Drops expired edges; the new arrays have room for half as many again.

        Returns the number of edges that never expire, and the latest expiry of the others.
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
        """All arrays of the state."""


def _index_for(entries: int) -> IntArray:
    """An empty index with room for ``entries`` at a load of at most a half."""
    return np.full(capacity_for(entries), EMPTY, np.int64)


def walked_by(keys: IntArray, inputs: int) -> IntArray:
    """For each 2 · input + inverse, 1 if ``keys`` contains it."""
    walked: IntArray = np.zeros(2 * inputs, np.int64)
    walked[keys] = 1
    return walked


def merged_rows(inputs: Sequence[Batch]) -> IntArray:
    """The rows of all inputs merged by ts, as int64[ROW_FIELDS, rows] for kernels."""
    rows = np.empty((ROW_FIELDS, sum(map(len, inputs))), np.int64)
    filled = [(number, batch) for number, batch in enumerate(inputs) if len(batch)]
    if len(filled) == 1:
        ((number, batch),) = filled
        rows[:2], rows[ROW_INPUT] = batch.columns, number
        rows[ROW_TS], rows[ROW_EXP] = batch.ts, batch.exp
        return rows
    order = merge_order(inputs)
    rows[:2] = np.concatenate([b.columns for b in inputs], axis=1)[:, order]
    rows[ROW_INPUT] = np.repeat(np.arange(len(inputs)), [len(b) for b in inputs])[order]
    rows[ROW_TS] = np.concatenate([b.ts for b in inputs])[order]
    rows[ROW_EXP] = np.concatenate([b.exp for b in inputs])[order]
    return rows


def mark_roots(rows: IntArray, is_root: IsRoot | None) -> None:
    """Sets in each row the flags of the vertices that may be roots; all without ``is_root``."""
    if is_root is None:
        rows[ROW_ROOTS] = ALL_ROOTS
    else:
        sources, targets = is_root(rows[:2].reshape(-1)).reshape(2, -1)
        rows[ROW_ROOTS] = sources + 2 * targets

"""Indexes that several joins of a stage read, each held once.

In: the operators of a stage with their inputs. Out: an index for each input that two or more sides
of HASH_JOINs read by the same key, whatever the order in which the joins name its columns.

Each join reads a batch as if the index were its own (:mod:`..kernels.shared_index`): the state that
it meets has the rows up to the one that it works on. Expired rows leave the index between two
batches, and not within one: another reader may still be at an earlier time. So an index holds the
valid rows and those of a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...algebra.physical import IndexForm, PhysicalOperator, shared_sides
from ...algebra.physical.indexes import Side
from ..batch import Batch, IntArray
from ..kernels import shared_index as kernel
from ..kernels.rows import Input, Rows
from .rows import Bag, RowSet

_NO_ROWS: IntArray = np.empty((kernel.LOG_FIELDS, 0), np.int64)


def new_index(form: IndexForm) -> RowSet:
    """A store of a form without rows."""
    if form.is_bag:
        return Bag(form.width, form.keys)
    return RowSet(form.width, form.keys, early=form.horizon is not None)


class SharedIndex:
    """An index that a number of operators read.

    Each operator calls :meth:`take_in` once for each batch that has rows, and then makes all
    changes of the log. Call :meth:`tick` and :meth:`purge` when all operators are done.
    """

    def __init__(self, form: IndexForm, readers: int) -> None:
        self._store = new_index(form)
        self._readers = readers
        self._waiting = 0
        self._log = _NO_ROWS
        self._now: int | None = None

    @property
    def arrays(self) -> Rows:
        """The arrays for kernels, valid until the next change of the index."""
        return self._store.arrays

    def take_in(self, batch: Batch, until: IntArray) -> IntArray:
        """The changes that the rows of a batch make, all undone for the next reader to make again.

        Args:
            batch: the batch, the same for each reader.
            until: the time until which each row is held.
        """
        if not len(batch):
            return _NO_ROWS
        if not self._waiting:
            self._absorb(batch, until)
            self._waiting = self._readers
        log = self._log
        kernel.rewind(self.arrays, batch.exp, log)
        self._waiting -= 1
        if not self._waiting:
            self._log = _NO_ROWS
        return log

    def _absorb(self, batch: Batch, until: IntArray) -> None:
        store, rows = self._store, len(batch)
        if store.entries + rows > len(store.arrays.rows) and self._now is not None:
            store.purge(self._now)
        self._log = np.empty((kernel.LOG_FIELDS, rows), np.int64)
        arriving, done = Input(*batch.arrays), 0
        while (done := kernel.absorb(store.arrays, arriving, until, self._log, done)) < rows:
            store.double()

    def tick(self, now: int) -> None:
        """Drops expired rows if a sweep is due at ``now``."""
        self._now = now
        self._store.tick(now)

    def purge(self, now: int) -> None:
        """Drops the rows that expired at or before ``now``."""
        self._now = now
        self._store.purge(now)

    @property
    def entries(self) -> int:
        """Rows held."""
        return self._store.entries

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return self._store.nbytes


class Sharing:
    """The shared indexes of a stage in one partition.

    Args:
        nodes: the id, the operator and the ids of the inputs of each node, in topological order.
    """

    def __init__(self, nodes: Iterable[tuple[int, PhysicalOperator, Sequence[int]]]) -> None:
        self._of_side: dict[Side, SharedIndex] = {}
        self._of_owner: dict[int, list[SharedIndex]] = {}
        for form, readers in shared_sides(nodes):
            index = SharedIndex(form, len({node for node, _ in readers}))
            self._of_side |= dict.fromkeys(readers, index)
            self._of_owner.setdefault(readers[0][0], []).append(index)

    def of(self, node: int, inputs: int) -> list[SharedIndex | None]:
        """The shared index of each input of a node."""
        return [self._of_side.get((node, position)) for position in range(inputs)]

    def owned(self, node: int) -> Sequence[SharedIndex]:
        """The shared indexes that count as the state of a node: that of their first reader."""
        return self._of_owner.get(node, ())

    def tick(self, now: int) -> None:
        """Drops expired rows where a sweep is due at ``now``; all nodes are done with a batch."""
        for indexes in self._of_owner.values():
            for index in indexes:
                index.tick(now)

    def purge(self, now: int) -> None:
        """Drops the rows that expired at or before ``now``."""
        for indexes in self._of_owner.values():
            for index in indexes:
                index.purge(now)

"""TOP_K: the first rows among the valid rows in an order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...algebra.orders import total
from ...algebra.physical import TopRows
from ..batch import Batch, IntArray, lasting, merged
from ..dictionary import Dictionary
from ..kernels import ordered, stops
from ..kernels import top as kernel
from ..kernels.rows import Input
from ..kernels.tables import enlarged
from .base import Results, drive
from .valid_values import ValidValues


class OrderedValues(ValidValues):
    """A store of values with their places in the heaps of first and further rows."""

    def __init__(self, width: int, heaps: int) -> None:
        super().__init__(width, kernel.ROW_FIELDS)
        self.heaps: IntArray = np.empty((heaps, self.capacity + 1, 2), np.int64)
        self.changed: IntArray = np.empty(self.capacity, np.int64)

    def enlarge(self) -> None:
        """Doubles the space; all rows keep their numbers."""
        super().enlarge()
        length = self.capacity + 1
        self.heaps = np.stack([enlarged(heap, length) for heap in self.heaps])
        self.changed = enlarged(self.changed, self.capacity)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return super().nbytes + self.heaps.nbytes + self.changed.nbytes


class TopOperator:
    """Holds the valid rows, the first of them apart from the others.

    The rows of an instant wait until application time has passed it, since a row of the instant may
    still push a result out. A retraction ends the validity of its value.
    """

    def __init__(self, top: TopRows, width: int, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._width = width
        order = [(column, direction == "desc") for column, direction in total(top.order, width)]
        self._order: IntArray = np.array(order, np.int64).reshape(width, 2)
        self._values = OrderedValues(width, 4 if top.offset else 2)
        self._waiting = Batch.empty(width)
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.KEPT], self._h[kernel.OFFSET] = top.kept, top.offset or 0
        self._no_nodes: IntArray = np.empty((0, ordered.NODE_FIELDS), np.int64)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """Takes rows, for :meth:`advance`; returns none."""
        (batch,) = inputs
        if len(batch):
            # Rows are compared after they have expired, when their instant is over.
            self._dictionary.hold(batch.columns, lasting(batch.exp))
            self._waiting = merged([self._waiting, batch]) if len(self._waiting) else batch
        return Batch.empty(self._width)

    def advance(self, now: int, wanted: bool) -> Batch:
        """The rows that begin before ``now``, and the retractions of those that end before."""
        h, values = self._h, self._values
        whole = int(np.searchsorted(self._waiting.ts, now))
        columns, ts, exp = self._waiting.arrays
        batch = Batch(columns[:, :whole], ts[:whole], exp[:whole])
        self._waiting = Batch(columns[:, whole:], ts[whole:], exp[whole:])
        rows = Input(*(np.require(array, np.int64, ["C", "W"]) for array in batch.arrays))
        results = Results(self._width, wanted)
        h[kernel.BEGIN] = 0
        drive(
            lambda: kernel.advance(self._state, rows, now, results.buffer),
            {
                stops.SWEEP_DUE: values.enlarge,
                stops.OUT_FULL: lambda: results.drain(h, kernel.OUT),
            },
        )
        results.drain(h, kernel.OUT)
        return results.batch()

    @property
    def _state(self) -> kernel.Tops:
        dictionary, values = self._dictionary, self._values
        texts = ordered.Nodes(self._h, self._no_nodes, dictionary.table, dictionary.strings)
        return kernel.Tops(
            self._h, values.expiring, self._order, values.heaps, values.changed, texts
        )

    def tick(self, now: int) -> None:
        """Does nothing: :meth:`advance` drops expired rows."""

    def purge(self, now: int) -> None:
        """Does nothing: :meth:`advance` drops expired rows."""

    @property
    def entries(self) -> int:
        """Rows held, with those that wait."""
        return self._values.entries + len(self._waiting)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        waiting = sum(array.nbytes for array in self._waiting.arrays)
        return self._values.nbytes + waiting

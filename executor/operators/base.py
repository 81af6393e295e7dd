"""The interfaces of operators, and base classes of operators that drive a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, cast

import numpy as np

from ..batch import Batch, IntArray
from ..kernels.stops import DONE
from ..kernels.store import COUNT, SWEEP_AFTER, SWEEP_AT
from ..predicates import Mask
from ..schedule import LEAST_ADDED, Schedule

CHUNK: Final = 1 << 16
"""The rows of a result buffer, unless one row of the input may have more results."""

_FIRST_CHUNK: Final = 1 << 10
"""The rows of the first buffer of a batch; it grows up to :data:`CHUNK`."""


class Store(Protocol):
    """A state that expires."""

    def tick(self, now: int) -> None:
        """Drops expired state if a sweep is due at ``now``, the current application time."""
        ...

    def purge(self, now: int) -> None:
        """Drops all state that expired at or before ``now``."""
        ...

    @property
    def entries(self) -> int:
        """Rows, edges and tree nodes held."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        ...


class Operator(Store, Protocol):
    """A running node of a pipeline."""

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The results of one batch per input; empty unless ``wanted``."""
        ...


class TimeDriven(Operator, Protocol):
    """An operator that emits results when time passes, not only when rows arrive."""

    def advance(self, now: int, wanted: bool) -> Batch:
        """Emits the results that are final at ``now``.

        Rows of ``now`` may still arrive, earlier ones may not. FOREVER is the end of the input:
        the operator emits all remaining results.
        """
        ...


class WithOpenRows(Operator, Protocol):
    """An operator with result rows whose begin does not follow from the still valid input.

    Attributes:
        records_changes: whether to record changes, for :meth:`open_row_changes`.
    """

    records_changes: bool

    def open_row_changes(self) -> Batch | None:
        """The rows that ended, then those that began, since the last call or the restoration.

        A row has the key and the values of a result; ``ts`` is its begin. A row that began has the
        expiry FOREVER, a row that ended has an earlier one. None: no row is ever open.
        """
        ...

    def restore_open_rows(self, rows: Batch, now: int) -> None:
        """Restores the open rows of ``now``, after a replay of the input that was valid then."""
        ...


# An instance check of a protocol compares all of its members, which takes as long as to build an
# operator; one method tells these two apart.
def time_driven(operator: Operator) -> TimeDriven | None:
    """The operator if the passing of time drives it."""
    return cast("TimeDriven", operator) if hasattr(operator, "advance") else None


def with_open_rows(operator: Operator) -> WithOpenRows | None:
    """The operator if it has open rows."""
    return cast("WithOpenRows", operator) if hasattr(operator, "open_row_changes") else None


class Stateless:
    """An operator without state."""

    entries = 0
    nbytes = 0

    def tick(self, now: int) -> None:
        """Does nothing: there is no state."""

    def purge(self, now: int) -> None:
        """Does nothing: there is no state."""


def drive(step: Callable[[], int], remedies: Mapping[int, Callable[[], None]]) -> None:
    """Calls a kernel until it is done, and runs the remedy of each stop between two calls.

    Args:
        step: calls the kernel with the current arrays and returns the reason of its stop
            (:mod:`headrace.executor.kernels.stops`).
        remedies: the action for each reason but DONE: enlarge an array, sweep, or drain results.
    """
    while (reason := step()) != DONE:
        remedies[reason]()


class Swept:
    """A store that is swept when enough of its entries can have expired.

    The fields SWEEP_AT and SWEEP_AFTER of the store's header
    (:mod:`headrace.executor.kernels.store`) make a kernel stop when a sweep is due within a batch.
    """

    def __init__(self, header: IntArray) -> None:
        self.header = header
        self.header[SWEEP_AFTER] = LEAST_ADDED
        self._schedule = Schedule()

    def tick(self, now: int) -> None:
        """Sweeps if a sweep is due at ``now``."""
        if self._schedule.is_due(now, self.entries):
            self.purge(now)

    def purge(self, now: int) -> None:
        """Drops the entries that expired at or before ``now``."""
        raise NotImplementedError

    @property
    def entries(self) -> int:
        """Entries held, expired ones included until a sweep."""
        return int(self.header[COUNT])

    def _swept(self, now: int, lasting: int, latest: int) -> None:
        """Plans the next sweep after one at ``now`` (see :meth:`Schedule.swept`)."""
        self._schedule.swept(now, lasting, latest)
        self.header[SWEEP_AT] = self._schedule.due_at
        self.header[SWEEP_AFTER] = max(LEAST_ADDED, self.entries // 4)


class Holding:
    """An operator that keeps its state in stores."""

    _stores: tuple[Store, ...]

    def tick(self, now: int) -> None:
        """Sweeps the stores in which a sweep is due."""
        for store in self._stores:
            store.tick(now)

    def purge(self, now: int) -> None:
        """Drops the entries that expired at or before ``now``."""
        for store in self._stores:
            store.purge(now)

    @property
    def entries(self) -> int:
        """Rows held."""
        return sum(store.entries for store in self._stores)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(store.nbytes for store in self._stores)


class Results:
    """Collects the rows that a kernel writes, through a buffer that is drained when it is full.

    ``buffer`` is int64[width + further + 2, rows]: the result columns, ``further`` columns that
    only a residual condition reads, ts and exp.
    """

    def __init__(
        self, width: int, wanted: bool, further: int = 0, room: int = _FIRST_CHUNK
    ) -> None:
        self._width = width
        self._wanted = wanted
        self._chunks: list[IntArray] = []
        self._further = further
        self.buffer = np.empty((width + further + 2, room), np.int64)

    def take(self, rows: int, room: int = 0, chosen: Mask | None = None) -> None:
        """Copies rows out of the buffer.

        Args:
            rows: the number of rows written.
            room: rows that the buffer must have space for afterwards.
            chosen: a mask of the written rows to keep; None for all.
        """
        if self._wanted and rows:
            written = self.buffer[:, :rows]
            if self._further:
                width = self._width
                written = np.delete(written, slice(width, width + self._further), axis=0)
            if chosen is not None:
                written = written[:, chosen]
            self._chunks.append(written.copy())
        length = self.buffer.shape[1]
        if 2 * rows > length:  # probably more rows follow
            room = max(room, min(4 * length, CHUNK))
        if room > length:
            self.buffer = np.empty((len(self.buffer), room), np.int64)

    def drain(self, header: IntArray, out: int, need: int | None = None) -> None:
        """Copies out the rows of a kernel, and resets its counter.

        Args:
            header: the kernel's header.
            out: the field that counts written rows.
            need: the field with the rows that the buffer must have space for afterwards.
        """
        self.take(int(header[out]), 0 if need is None else int(header[need]))
        header[out] = 0

    def batch(self) -> Batch:
        """The collected rows."""
        if not self._chunks:
            return Batch.empty(self._width)
        (*_, last) = self._chunks
        rows = last if len(self._chunks) == 1 else np.concatenate(self._chunks, axis=1)
        return Batch(rows[: self._width], rows[self._width], rows[self._width + 1])

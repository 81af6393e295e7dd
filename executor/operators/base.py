"""What all operators have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np

from ..batch import Batch, IntArray
from ..predicates import Mask

CHUNK: Final = 1 << 16
"""Rows of a result buffer."""


class Operator(Protocol):
    """A node of a pipeline at work."""

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """The results of one batch per input; none are gathered unless ``wanted``."""
        ...

    def tick(self, now: int) -> None:
        """Time has come to ``now``: gives state back if a sweep is due."""
        ...

    def purge(self, now: int) -> None:
        """Gives back all state that expired at or before ``now``."""
        ...

    @property
    def entries(self) -> int:
        """Rows, edges and tree nodes held."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        ...


@runtime_checkable
class TimeDriven(Operator, Protocol):
    """An operator that gives results when time passes, not only when rows come."""

    def advance(self, now: int, wanted: bool) -> Batch:
        """Time has come to ``now``, and what is before is final: rows of it may still come.

        FOREVER is the end of the input: all that is held is given.
        """
        ...


@runtime_checkable
class WithExtraState(Operator, Protocol):
    """An operator whose state is not a function of the still valid input alone."""

    def extra_state(self) -> bytes | None:
        """State to keep beside the input; None if there is none."""
        ...

    def restore(self, state: bytes, now: int) -> None:
        """Restores the extra state of ``now``, after a replay of the input that was valid then."""
        ...


class Stateless:
    """An operator that holds nothing."""

    entries = 0
    nbytes = 0

    def tick(self, now: int) -> None:
        """Nothing to give back."""

    def purge(self, now: int) -> None:
        """Nothing to give back."""


class Store(Protocol):
    """Rows that an operator holds until they expire."""

    def tick(self, now: int) -> None:
        """Sweeps if that is due."""
        ...

    def sweep(self, now: int) -> None:
        """Drops what is held no longer at ``now``."""
        ...

    @property
    def entries(self) -> int:
        """Rows held."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        ...


class Holding:
    """An operator whose state is in stores, one or one for each input."""

    _stores: tuple[Store, ...]

    def tick(self, now: int) -> None:
        """Sweeps the stores where that is due."""
        for store in self._stores:
            store.tick(now)

    def purge(self, now: int) -> None:
        """Drops what is held no longer at ``now``."""
        for store in self._stores:
            store.sweep(now)

    @property
    def entries(self) -> int:
        """Rows held."""
        return sum(store.entries for store in self._stores)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(store.nbytes for store in self._stores)


class Results:
    """Gathers what a kernel writes: a buffer of rows that is emptied when it is full.

    ``buffer`` is int64[width + further + 2, rows]: the columns, further ones that are looked at
    before a row is taken and are no part of the results, ts and exp.
    """

    def __init__(self, width: int, wanted: bool, further: int = 0) -> None:
        self._width = width
        self._wanted = wanted
        self._chunks: list[IntArray] = []
        self._places = np.r_[0:width, width + further : width + further + 2]
        self.buffer = np.empty((width + further + 2, CHUNK), np.int64)

    def take(self, rows: int, room: int = 0, chosen: Mask | None = None) -> None:
        """Takes the first rows of the buffer, of them those ``chosen``; afterwards it has space
        for ``room``."""
        if self._wanted and rows:
            places = self._places
            whole = self.buffer[:, :rows] if chosen is None else self.buffer[:, :rows][:, chosen]
            self._chunks.append(whole[places] if len(places) < len(whole) else whole.copy())
        if room > self.buffer.shape[1]:
            self.buffer = np.empty((len(self.buffer), room), np.int64)

    def batch(self) -> Batch:
        """All that was taken."""
        if not self._chunks:
            return Batch.empty(self._width)
        rows = np.concatenate(self._chunks, axis=1)
        return Batch(rows[: self._width], rows[self._width], rows[self._width + 1])

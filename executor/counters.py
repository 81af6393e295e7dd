"""Operator metrics, in the terms of the plan's estimates.

Each row is counted when it leaves an operator, with the length of its validity. An operator that
coalesces counts only the validity that a row *adds* to earlier rows of its value. The sum of
validities is then the population of distinct values, as the cost model defines it. Any other
operator counts each row in full.

By Little's law the sum of validities divided by the elapsed application time is the mean number of
rows valid at an instant. Validity that reaches past the end of the input counts in full, as if the
stream continued.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .batch import Batch, IntArray
from .kernels.counting import validity_of

Tally = NDArray[np.float64]
"""Counts of a coalescing kernel, at the positions :data:`ADDED_VALIDITY` and :data:`DROPPED`.

Floats, because a sum of validities may exceed 64-bit integers."""

ADDED_VALIDITY: Final = 0
DROPPED: Final = 1


def new_tally() -> Tally:
    """A tally of zeros."""
    return np.zeros(2, np.float64)


def tally_of(operator: object) -> Tally | None:
    """The tally of an operator that counts how much validity each of its rows adds."""
    tally: Tally | None = getattr(operator, "tally", None)
    return tally


@dataclass(frozen=True, slots=True)
class Counters:
    """The work of an operator over a period, and its state at the end of the period.

    Attributes:
        rows_in: rows read, over all inputs.
        rows_out: rows returned, retractions included.
        dropped: results that coalescing left out because earlier rows cover them, and deletions
            that matched no edge.
        endless: returned rows that never expire, less retractions of such rows.
        validity: the validity of the other returned rows, in ticks.
        seconds: time spent in the operator, without that of compiling its kernels.
        state_entries: rows, edges and tree nodes held, expired ones included until a sweep.
        state_bytes: memory allocated for state, in bytes.
    """

    rows_in: int = 0
    rows_out: int = 0
    dropped: int = 0
    endless: int = 0
    validity: float = 0.0
    seconds: float = 0.0
    state_entries: int = 0
    state_bytes: int = 0

    def __add__(self, other: Counters) -> Counters:
        """The sum over two partitions of one operator."""
        return Counters(*(getattr(self, f) + getattr(other, f) for f in _FIELDS))

    def then(self, later: Counters) -> Counters:
        """The sum of this period and a later one; the state is that of the later one."""
        return replace(
            self + later, state_entries=later.state_entries, state_bytes=later.state_bytes
        )

    def since(self, earlier: Counters) -> Counters:
        """The work since earlier counters of the same operator; the state is the current one."""
        done = {f: getattr(self, f) - getattr(earlier, f) for f in _FIELDS}
        state = {"state_entries": self.state_entries, "state_bytes": self.state_bytes}
        return Counters(**done | state)


_FIELDS = tuple(field.name for field in fields(Counters))


def counters_of(rows: Batch) -> Counters:
    """The counters of rows without coalescing: each row counts in full.

    A retraction subtracts the validity that its row would still have had.
    """
    endless, validity = validity_of(*map(_readable, (rows.ts, rows.exp)))
    return Counters(rows_out=len(rows), endless=endless, validity=validity)


def _readable(times: IntArray) -> IntArray:
    """An array in the one form that the kernel is compiled for."""
    return times if times.flags.carray else np.require(times, np.int64, ["C", "W"])


class Work:
    """The work of an operator, or the rows of an input, added up batch by batch.

    The attributes are those of :class:`Counters`, without the state.
    """

    __slots__ = ("dropped", "endless", "rows_in", "rows_out", "seconds", "validity")

    def __init__(self) -> None:
        self.rows_in = self.rows_out = self.dropped = self.endless = 0
        self.validity = self.seconds = 0.0

    def add(self, rows: Batch, added: float | None = None) -> None:
        """Counts returned rows.

        Args:
            rows: the rows.
            added: the validity that they add, if the operator coalesces; by default each row
                counts in full (:func:`counters_of`).
        """
        endless, validity = validity_of(rows.ts, rows.exp)
        self.rows_out += len(rows)
        self.endless += endless
        self.validity += validity if added is None else added

    def counters(self, state_entries: int = 0, state_bytes: int = 0) -> Counters:
        """The counters so far, with the present state."""
        return Counters(
            self.rows_in,
            self.rows_out,
            self.dropped,
            self.endless,
            self.validity,
            self.seconds,
            state_entries,
            state_bytes,
        )

"""What operators count, so that a run can be set beside the plan's estimates.

Rows are counted as they leave an operator, with how long each is valid. An operator that
coalesces counts of a row only what it *adds* to what earlier rows of its value said, so that the
sum of validities is what the set of valid values is made of, as the cost model means it; of any
other operator each row counts for itself. By Little's law the sum, divided by the time that it
was gathered in, is the mean number of rows valid at an instant, of a stream that goes on like
this: nothing is cut off at the end of the input.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .batch import FOREVER, Batch

Tally = NDArray[np.float64]
"""What a coalescing kernel counts, by :data:`ADDED_VALIDITY` and :data:`DROPPED`; floats, as
validities may be as long as time."""

ADDED_VALIDITY: Final = 0
DROPPED: Final = 1


def new_tally() -> Tally:
    """Nothing counted yet."""
    return np.zeros(2, np.float64)


@runtime_checkable
class Coalescing(Protocol):
    """An operator that knows what each of its rows adds."""

    tally: Tally


@dataclass(frozen=True, slots=True)
class Counters:
    """What an operator did in some time, and what it holds at its end.

    ``dropped`` counts results that coalescing left out, as earlier ones had said as much, and
    deletions of what was not there;
    ``validity`` sums how long the rows given are valid, but for the ``endless`` ones that never
    expire. ``state_entries`` counts rows, edges and tree nodes, expired ones included until they
    are swept; ``state_bytes`` is the memory allocated for them.
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
        """Those of an operator's work in two partitions together."""
        return Counters(*(getattr(self, f) + getattr(other, f) for f in _FIELDS))

    def then(self, work: Counters) -> Counters:
        """Those of this work and of what followed; state as that left it."""
        return replace(self + work, state_entries=work.state_entries, state_bytes=work.state_bytes)

    def since(self, earlier: Counters) -> Counters:
        """What was done since earlier counters of the same operator; state as it is now."""
        done = {f: getattr(self, f) - getattr(earlier, f) for f in _FIELDS}
        state = {"state_entries": self.state_entries, "state_bytes": self.state_bytes}
        return Counters(**done | state)


_FIELDS = tuple(field.name for field in fields(Counters))


def counters_of(rows: Batch) -> Counters:
    """Counts rows and sums their validity, without coalescing.

    A retraction subtracts the time for which the retracted row would still have been valid.
    """
    is_retraction = rows.exp < 0
    until = np.where(is_retraction, ~rows.exp, rows.exp)
    sign = np.where(is_retraction, -1, 1)
    endless = until == FOREVER
    lasting = np.where(endless, 0.0, sign * (until - rows.ts).astype(np.float64))
    return Counters(
        rows_out=len(rows), endless=int(sign[endless].sum()), validity=float(lasting.sum())
    )

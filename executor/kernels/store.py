"""The header of a store of rows or edges, and when a sweep of it is due."""

from __future__ import annotations

from ..batch import IntArray
from .compiling import kernel

# Rows held, rows added since the last sweep; a sweep is due from the time SWEEP_AT on, once
# SWEEP_AFTER rows were added.
COUNT, ADDED, SWEEP_AT, SWEEP_AFTER, HEADER_FIELDS = range(5)


@kernel
def is_sweep_due(header: IntArray, now: int) -> bool:
    """Whether enough was added, and enough time has passed, since the last sweep."""
    return now >= header[SWEEP_AT] and header[ADDED] >= header[SWEEP_AFTER]

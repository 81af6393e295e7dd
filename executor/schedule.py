"""Schedules sweeps of expired state: a trade of memory against time."""

from __future__ import annotations

from typing import Final

from .batch import FOREVER

SWEEPS_PER_VALIDITY: Final = 4
"""A sweep is due after the longest remaining validity divided by this number.

A sweep costs time proportional to the state, and each row sees at most about this many sweeps.
Expired rows that are still held are at most the rows of one such part of a window.
"""

LEAST_ADDED: Final = 1024
"""Additions before a sweep within a batch, so that small states are not swept all the time."""

MOST_KEPT: Final = 8
"""No sweep is due if less than one in this many entries can have expired."""


class Schedule:
    """Plans the next sweep from the entries that the last one left."""

    def __init__(self) -> None:
        self.due_at = 0
        self._lasting = 0

    def swept(self, now: int, lasting: int, latest: int) -> None:
        """Records a sweep.

        Args:
            now: the time of the sweep.
            lasting: the remaining entries that never expire.
            latest: the latest expiry of the other entries.
        """
        self.due_at = min(FOREVER, now + max(1, (latest - now) // SWEEPS_PER_VALIDITY))
        self._lasting = lasting

    def is_due(self, now: int, entries: int) -> bool:
        """Whether enough of ``entries`` can have expired by ``now``."""
        return now >= self.due_at and MOST_KEPT * (entries - self._lasting) >= entries > 0

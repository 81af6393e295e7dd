"""When to give back what has expired: often enough for memory, rarely enough for time."""

from __future__ import annotations

from typing import Final

from .batch import FOREVER

SWEEPS_PER_VALIDITY: Final = 4
"""A sweep is due when this part of the longest remaining validity has passed.

What a sweep costs is proportional to the state, and each row sees at most about so many
sweeps; what has expired and is still held is at most that part of a window's rows.
"""

LEAST_ADDED: Final = 1024
"""Within a batch a sweep waits for so many additions, so that tiny states cost nothing."""

MOST_KEPT: Final = 8
"""No sweep is due where less than one in so many entries can have expired."""


class Schedule:
    """Remembers what the last sweep left and says when the next one is due."""

    def __init__(self) -> None:
        self.due_at = 0
        self._lasting = 0

    def swept(self, now: int, lasting: int, latest: int) -> None:
        """A sweep at ``now`` left ``lasting`` entries that never expire.

        ``latest`` is the latest expiry of the others.
        """
        self.due_at = min(FOREVER, now + max(1, (latest - now) // SWEEPS_PER_VALIDITY))
        self._lasting = lasting

    def is_due(self, now: int, entries: int) -> bool:
        """Whether enough of ``entries`` can have expired by ``now``."""
        return now >= self.due_at and MOST_KEPT * (entries - self._lasting) >= entries > 0

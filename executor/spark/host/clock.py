"""Tells whether the clock of the machine was set back."""

from __future__ import annotations

import time
from typing import Final

_TOLERATED_SECONDS: Final = 0.5


class SteppedClock:
    """Compares the time of day with a clock that nobody can set."""

    def __init__(self) -> None:
        self._ahead = _ahead()

    def was_set_back(self) -> bool:
        """Whether the time of day was set back since the object was made.

        One that is set forth and back again counts: something may have begun to wait in between.
        """
        ahead = _ahead()
        self._ahead = max(self._ahead, ahead)
        return ahead < self._ahead - _TOLERATED_SECONDS


def _ahead() -> float:
    """Seconds by which the time of day is ahead of the monotonic clock."""
    return time.time() - time.monotonic()

"""Detects that the machine's clock was set back."""

from __future__ import annotations

import time
from typing import Final

_TOLERATED_SECONDS: Final = 0.5


class SteppedClock:
    """Compares the time of day with the monotonic clock, which nobody can set."""

    def __init__(self) -> None:
        self._ahead = _ahead()

    def was_set_back(self) -> bool:
        """Whether the time of day was set back since this object was created.

        A clock that was set forward and back again counts too: a timer may have started in between.
        """
        ahead = _ahead()
        self._ahead = max(self._ahead, ahead)
        return ahead < self._ahead - _TOLERATED_SECONDS


def _ahead() -> float:
    """Seconds by which the time of day is ahead of the monotonic clock."""
    return time.time() - time.monotonic()

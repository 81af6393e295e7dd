"""Turns of queries that start: a few at a time, so that each gets what it needs in time.

The start of a query takes some seconds of the JVM and of a Python process. Many at once take each
other's time until Spark gives them up.
"""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Final, Self

AT_ONCE: Final = max(1, (os.cpu_count() or 2) // 2)
"""How many queries of this process may start at the same time."""

LONGEST_SECONDS: Final = 60.0
"""A query whose sources do not answer keeps the others from their turn no longer than this."""

_LOOK_SECONDS: Final = 0.1
_TURNS = threading.BoundedSemaphore(AT_ONCE)  # of this process, which has one Spark at a time


class Turn:
    """The turn of one query, for the length of a ``with`` block or until it is given back."""

    def __init__(self) -> None:
        self.held = False
        self._since = 0.0

    def comes(self, cancelled: threading.Event) -> bool:
        """Waits for the turn; False if it was cancelled before."""
        while not self.held and not cancelled.is_set():
            self.held = _TURNS.acquire(timeout=_LOOK_SECONDS)
        self._since = time.monotonic()
        return self.held

    def is_long(self) -> bool:
        """Whether it was held as long as it may be."""
        return time.monotonic() - self._since > LONGEST_SECONDS

    def give_back(self) -> None:
        """Lets the next query start."""
        if self.held:
            self.held = False
            _TURNS.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.give_back()

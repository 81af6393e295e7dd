"""Limits how many queries start at the same time.

The start of a query takes seconds of work in the JVM and in a Python process. Many starts at once
slow each other down until Spark's time limits fail them.
"""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Final, Self

AT_ONCE: Final = max(1, (os.cpu_count() or 2) // 2)
"""The number of queries of this process that may start at the same time."""

LONGEST_SECONDS: Final = 60.0
"""The longest turn: a query whose sources do not answer delays others no longer than this."""

_LOOK_SECONDS: Final = 0.1
"""The time between two looks at whether a waiting query was cancelled."""

_TURNS = threading.BoundedSemaphore(AT_ONCE)  # one for the process, which has one Spark at a time


class Turn:
    """The turn of one query to start; it ends with the ``with`` block or with :meth:`give_back`."""

    def __init__(self) -> None:
        self.held = False
        self._since = 0.0

    def comes(self, cancelled: threading.Event) -> bool:
        """Waits for the turn; returns False if ``cancelled`` was set first."""
        while not self.held and not cancelled.is_set():
            self.held = _TURNS.acquire(timeout=_LOOK_SECONDS)
        self._since = time.monotonic()
        return self.held

    def is_long(self) -> bool:
        """Whether the turn has lasted longer than :data:`LONGEST_SECONDS`."""
        return time.monotonic() - self._since > LONGEST_SECONDS

    def give_back(self) -> None:
        """Ends the turn: the next query may start."""
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

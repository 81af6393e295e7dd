"""What bounds a search: expressions, time, and whether its caller still wants it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal

from optimizer.errors import SearchCancelledError
from optimizer.options import Options

StopReason = Literal["complete", "budget_ms", "budget_expressions", "cancelled"]

EXPLORING = 0.75
"""The part of the time in which expressions may be looked for; the rest is for costing them."""


class Budget:
    """The bounds of one search, which starts now; says why it ended."""

    def __init__(self, options: Options, cancelled: Callable[[], bool] | None = None) -> None:
        self._options = options
        self._cancelled = cancelled
        self._started = perf_counter()
        self.stop_reason: StopReason = "complete"

    @property
    def interruptible(self) -> bool:
        """Whether the search may end at any moment, rather than after so many expressions."""
        return self._options.budget_ms is not None or self._cancelled is not None

    def elapsed_ms(self) -> float:
        """The time since the search began."""
        return (perf_counter() - self._started) * 1000

    def explored(self, expressions: int) -> bool:
        """Whether exploration has to end with so many expressions."""
        limit = self._options.budget_expressions
        if limit is not None and expressions >= limit:
            self.stop_reason = "budget_expressions"
            return True
        return self.out_of_time(EXPLORING)

    def out_of_time(self, part: float = 1.0) -> bool:
        """Whether that part of the time is over, or the search was cancelled."""
        budget_ms = self._options.budget_ms
        if self._cancelled is not None and self._cancelled():
            self.stop_reason = "cancelled"
        elif budget_ms is not None and self.elapsed_ms() > budget_ms * part:
            self.stop_reason = "budget_ms"
        else:
            return False
        return True

    def check(self) -> None:
        """For what is done with the memo after the search.

        Raises:
            SearchCancelledError: if the search was cancelled.
        """
        if self._cancelled is not None and self._cancelled():
            raise SearchCancelledError("cancelled by the caller")

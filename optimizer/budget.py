"""What bounds a search: expressions, time, and whether its caller still wants it."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

from ..algebra.deadline import Deadline, OutOfTimeError
from .errors import SearchCancelledError
from .options import Options

StopReason = Literal["complete", "budget_ms", "budget_expressions", "cancelled"]

EXPLORING = 0.75
"""The part of the time in which expressions may be looked for; the rest is for costing them."""
LISTING = 2.0
"""How many budgets may be over when plans are listed: as long again as the search had."""


class Budget:
    """The bounds of one search, which starts now; says why it ended.

    The time is that of the whole request (:class:`headrace.algebra.deadline.Deadline`), which may
    have begun long before its search.
    """

    def __init__(self, options: Options, deadline: Deadline) -> None:
        self._options = options
        self._deadline = deadline
        self.interruptible = deadline.interruptible
        """Whether the search may end at any moment, rather than after so many expressions."""
        self._started = perf_counter()
        self.stop_reason: StopReason = "complete"

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
        if not self.interruptible:
            return False
        reason = self._deadline.passed(part)
        if reason is not None:
            self.stop_reason = reason
        return reason is not None

    def check(self) -> None:
        """For what is done with the memo after the search.

        Raises:
            SearchCancelledError: if the search was cancelled, or the time is over.
        """
        if self._deadline.cancelled():
            raise SearchCancelledError("cancelled by the caller")
        try:
            self._deadline.check("plans were listed", LISTING)
        except OutOfTimeError as error:
            raise SearchCancelledError(str(error)) from error

"""The bounds of a search: expressions, time, and cancellation by its caller."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

from ..algebra.deadline import Deadline, OutOfTimeError
from .errors import SearchCancelledError
from .options import Options

StopReason = Literal["complete", "budget_ms", "budget_expressions", "cancelled"]

EXPLORING = 0.75
"""The part of the time for exploring expressions; the rest is for costing them."""
LISTING = 2.0
"""The number of budgets within which plans may be listed, the search included."""


class Budget:
    """The bounds of one search, which starts now, and why it ended.

    The time is that of the whole request (:class:`headrace.algebra.deadline.Deadline`), which may
    have begun long before its search. Exploration, or a search, that is over never resumes.

    Attributes:
        interruptible: whether the search may end at any moment, rather than after a number of
            expressions.
        exploration_over: whether no rule is to be applied any more.
        cut: whether the search has to end.
        stop_reason: why the search ended.
    """

    def __init__(self, options: Options, deadline: Deadline) -> None:
        self._most_expressions = options.budget_expressions
        self._deadline = deadline
        self._started = perf_counter()
        self.interruptible = deadline.interruptible
        self.exploration_over = False
        self.cut = False
        self.stop_reason: StopReason = "complete"

    def elapsed_ms(self) -> float:
        """The time since the search began."""
        return (perf_counter() - self._started) * 1000

    def ends_exploration(self, expressions: int | None = None) -> bool:
        """Whether exploration has to end.

        ``expressions`` is their number in the memo; without it only the time counts.
        """
        if not self.exploration_over:
            limit = self._most_expressions
            if limit is not None and expressions is not None and expressions >= limit:
                self.stop_reason = "budget_expressions"
                self.exploration_over = True
            else:
                self.exploration_over = self.out_of_time(EXPLORING)
        return self.exploration_over

    def ends_search(self) -> bool:
        """Whether the search has to end."""
        if self.out_of_time():
            self.cut = self.exploration_over = True
        return self.cut

    def out_of_time(self, part: float = 1.0) -> bool:
        """Whether a part of the time is over, or the search was cancelled."""
        if not self.interruptible:
            return False
        reason = self._deadline.passed(part)
        if reason is not None:
            self.stop_reason = reason
        return reason is not None

    def check(self) -> None:
        """Ends work on the memo that goes on after the search.

        Raises:
            SearchCancelledError: if the search was cancelled, or the time is over.
        """
        if self._deadline.cancelled():
            raise SearchCancelledError("cancelled by the caller")
        try:
            self._deadline.check("plans were listed", LISTING)
        except OutOfTimeError as error:
            raise SearchCancelledError(str(error)) from error

"""The bounds of a search: expressions, time, and cancellation by its caller."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal

from ..algebra.deadline import LEAST_MS, Deadline, OutOfTimeError, Reason
from .errors import SearchCancelledError
from .options import Options

StopReason = Literal["complete", "no_gain", "budget_ms", "budget_expressions", "cancelled"]

EXPLORING = 0.75
"""The part of the time for exploring expressions; the rest is for costing them."""
LISTING = 2.0
"""The number of budgets within which plans may be listed, the search included."""
LISTING_EXPLORES = 0.5
"""The part of a listing's time in which it may explore expressions that the search left out."""


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
        listing_cut: why a listing could not explore what the search left out; None if it could.
    """

    def __init__(self, options: Options, deadline: Deadline) -> None:
        self._most_expressions = options.budget_expressions
        self._deadline = deadline
        self._listing: Deadline | None = None
        self.listing_cut: Reason | None = None
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

    def end_exploration(self, reason: StopReason) -> None:
        """Ends exploration for a reason other than its bounds."""
        self.stop_reason = reason
        self.exploration_over = True

    def has_passed(self, part: float) -> bool:
        """Whether a part of the time is over; does not end anything."""
        return self.interruptible and self._deadline.passed(part) is not None

    def ends_search(self) -> bool:
        """Whether the search has to end."""
        if self.out_of_time():
            self.cut = self.exploration_over = True
        return self.cut

    def out_of_time(self, part: float = 1.0) -> bool:
        """Whether a part of the time is over, or the search was cancelled."""
        if not self.interruptible:
            return False
        if self._listing is not None:
            reason = self._listing.passed(part * LISTING_EXPLORES)
            self.listing_cut = reason or self.listing_cut
        else:
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
            raise SearchCancelledError("cancelled by the caller", "cancelled")
        try:
            self._deadline.check("plans were listed", LISTING)
        except OutOfTimeError as error:
            raise SearchCancelledError(str(error), error.reason) from error

    def listing(
        self, milliseconds: float | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Callable[[], None]:
        """Begins a listing of plans with a deadline of its own, and returns its check.

        The deadline bounds exploration too, so that half of the time remains for other steps.

        Args:
            milliseconds: the time of the listing; by default as long again as the search may take.
            cancelled: whether the caller has cancelled the listing.

        Returns:
            a function that raises :class:`SearchCancelledError` once the listing has to end.
        """
        budget_ms = self._deadline.budget_ms
        if milliseconds is None and budget_ms is not None:
            milliseconds = max(budget_ms, LEAST_MS)
        deadline = Deadline(milliseconds, cancelled)

        def check() -> None:
            reason = deadline.passed()
            if reason is not None:
                raise SearchCancelledError(f"{reason} while plans were listed", reason)

        self._listing = deadline
        self.interruptible = True
        return check

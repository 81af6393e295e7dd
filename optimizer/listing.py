"""Lists of a query's plans that can end at any moment, with the plans so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from ..algebra.plan import PhysicalPlan

Doing = Literal["exploring", "pricing", "ranking", "sampling", "counting"]
"""The steps of a listing: find the expressions that the search left out, price all operators, rank
or draw plans, count all plans."""

ListingStop = Literal["complete", "budget_ms", "cancelled"]

_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, slots=True)
class ListingProgress:
    """The progress of a listing.

    Attributes:
        doing: the current step.
        plans: the number of plans in the list so far.
        cost_bound: the cost per time unit of the last ranked plan, which no later plan undercuts;
            None before the first one.
        seconds: the time since the listing began.
    """

    doing: Doing
    plans: int
    cost_bound: float | None
    seconds: float


OnProgress = Callable[[ListingProgress], None]


@dataclass(frozen=True, slots=True)
class PlanListing:
    """A list of plans, whole or cut.

    Attributes:
        plans: the plans, ranked by the cost of their trees or drawn at random.
        ranked: whether the plans are ranked.
        total: the number of complete plans in the memo; None if the listing was cut before.
        different: the number of different plans, None as ``total``.
        cost_bound: the cost per time unit of the last ranked plan, which no plan that is not listed
            undercuts; None without a ranked plan.
        stop_reason: why the listing ended: ``complete``, or the reason to cut it.
        seconds: the time that it took.
    """

    plans: tuple[PhysicalPlan, ...]
    ranked: bool
    total: int | None
    different: int | None
    cost_bound: float | None
    stop_reason: ListingStop
    seconds: float


class Watch:
    """Reports the progress of a listing, at most ten times a second.

    Args:
        check: raises an error that ends the listing.
        report: receives the progress.
    """

    def __init__(self, check: Callable[[], None], report: OnProgress | None = None) -> None:
        self._check = check
        self._report = report
        self._started = perf_counter()
        self._next = 0.0
        self._progress = ListingProgress("exploring", 0, None, 0.0)

    @property
    def seconds(self) -> float:
        """The time since the listing began."""
        return perf_counter() - self._started

    def begins(self, doing: Doing) -> None:
        """Reports the begin of a step."""
        self._progress = replace(self._progress, doing=doing)
        self._tell()

    def adds(self, cost: float | None) -> None:
        """Counts a plan; ``cost`` is that of a ranked plan."""
        done = self._progress
        self._progress = replace(done, plans=done.plans + 1, cost_bound=cost)
        self._tell_soon()

    def check(self) -> None:
        """Checks whether the listing has to end."""
        self._check()
        self._tell_soon()

    def _tell_soon(self) -> None:
        if self._report is not None and perf_counter() >= self._next:
            self._tell()

    def _tell(self) -> None:
        if self._report is not None:
            self._next = perf_counter() + _SECONDS_BETWEEN_REPORTS
            self._report(replace(self._progress, seconds=self.seconds))

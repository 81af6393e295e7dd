"""The deadline of planning: one value per request, handed to every step from text to plan.

A step that can end early with a usable result asks :meth:`Deadline.passed`. A step that every plan
needs calls :meth:`Deadline.check`, which raises once the time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal

Reason = Literal["budget_ms", "cancelled"]

LEAST_MS = 2_000.0
"""How long the steps before the first plan may take, in milliseconds, however small the budget:
reading a small query takes longer than a budget of 1 ms."""

WITHOUT_PLAN = 1.5
"""The number of budgets within which the search must have its first plan: a late plan is better
than none."""

_ASKING_MS = 10.0
"""How often a check asks whether the caller has cancelled, in milliseconds."""


class OutOfTimeError(Exception):
    """The time ran out before there was a plan; ``doing`` names the step that it interrupted."""

    def __init__(self, reason: Reason, doing: str) -> None:
        super().__init__(f"{reason} while {doing}")
        self.reason = reason
        self.doing = doing


class Deadline:
    """The time from now on that a request may take, and whether its caller still wants it.

    Args:
        budget_ms: milliseconds for all steps together; None sets no limit.
        cancelled: whether the caller has cancelled; polled until it first returns true.
    """

    def __init__(
        self, budget_ms: float | None = None, cancelled: Callable[[], bool] | None = None
    ) -> None:
        self.budget_ms = budget_ms
        self._cancelled = cancelled
        self._cancelled_at: float | None = None
        self._asked_at = 0.0
        self._started = perf_counter()

    @property
    def interruptible(self) -> bool:
        """Whether anything can end the work early."""
        return self.budget_ms is not None or self._cancelled is not None

    def elapsed_ms(self) -> float:
        """The time since the request came, in milliseconds."""
        return (perf_counter() - self._started) * 1000

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves out the time of work that a process does once, and not for this request."""
        before = perf_counter()
        yield
        self._started += perf_counter() - before

    def cancelled(self) -> bool:
        """Whether the caller cancelled the request."""
        if self._cancelled_at is None and self._cancelled is not None and self._cancelled():
            self._cancelled_at = self.elapsed_ms()
        return self._cancelled_at is not None

    def passed(self, part: float = 1.0) -> Reason | None:
        """The reason to end the work once that part of the time is over, None before."""
        if self.cancelled():
            return "cancelled"
        if self.budget_ms is not None and self.elapsed_ms() > self.budget_ms * part:
            return "budget_ms"
        return None

    def check(self, doing: str, budgets: float = 1.0) -> None:
        """Raises an error in a step that every plan needs, if the time is over.

        The steps before the first plan have at least :data:`LEAST_MS`, also after the caller has
        cancelled.

        Args:
            doing: the step, as in "the time was over while ...".
            budgets: how many times the budget may be over by now.

        Raises:
            OutOfTimeError: if the time is over.
        """
        if not self.interruptible:
            return
        now = self.elapsed_ms()
        if now - self._asked_at >= _ASKING_MS:
            self._asked_at = now
            self.cancelled()
        if self._cancelled_at is not None and now - self._cancelled_at > LEAST_MS:
            raise OutOfTimeError("cancelled", doing)
        if self.budget_ms is not None and now > max(self.budget_ms, LEAST_MS) * budgets:
            raise OutOfTimeError("budget_ms", doing)


NO_DEADLINE = Deadline()
"""For callers with all the time there is."""

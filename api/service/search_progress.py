"""The progress of a search in a worker process, in memory that the service reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal, get_args

from ...optimizer.events import Event, ExpressionAdded, GroupAdded
from ...optimizer.listing import Doing, ListingProgress

Step = Literal["searching"] | Doing
_STEPS: tuple[Step, ...] = ("searching", *get_args(Doing))
FIELDS = 6
_NUMBER, _STEP, _GROUPS, _EXPRESSIONS, _PLANS, _COST = range(FIELDS)


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a job.

    Attributes:
        doing: the current step.
        groups: the number of groups in the memo; 0 if the job does not count them.
        expressions: the number of expressions in the memo, as ``groups``.
        plans: the number of plans ranked so far.
        cost_bound: the cost of the last ranked plan, in microseconds per time unit.
    """

    doing: Step
    groups: int
    expressions: int
    plans: int
    cost_bound: float | None


class Reporter:
    """Writes the progress of one job at a time into shared memory; a listener of searches.

    Args:
        shared: an array of :data:`FIELDS` floats, or anything with such items.
    """

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        """Reports the progress of the job with a number during a block."""
        shared = self._shared
        shared[_STEP] = shared[_GROUPS] = shared[_EXPRESSIONS] = shared[_PLANS] = 0.0
        shared[_COST] = nan
        shared[_NUMBER] = number
        try:
            yield
        finally:
            shared[_NUMBER] = 0.0

    def __call__(self, event: Event, /) -> None:
        """Counts a new group or expression."""
        if isinstance(event, ExpressionAdded):
            self._shared[_EXPRESSIONS] += 1
        elif isinstance(event, GroupAdded):
            self._shared[_GROUPS] += 1

    def listing(self, progress: ListingProgress) -> None:
        """Reports the progress of a listing."""
        self._shared[_STEP] = _STEPS.index(progress.doing)
        self._shared[_PLANS] = progress.plans
        self._shared[_COST] = nan if progress.cost_bound is None else progress.cost_bound


def read(shared: Any, number: int) -> SearchProgress | None:
    """Returns the progress of the job with a number; None if it does not run."""
    values = tuple(shared)
    if values[_NUMBER] != number:
        return None
    cost = values[_COST]
    return SearchProgress(
        _STEPS[int(values[_STEP])],
        int(values[_GROUPS]),
        int(values[_EXPRESSIONS]),
        int(values[_PLANS]),
        None if isnan(cost) else cost,
    )

"""Lists plans of a planned query: the cheapest ones, or a sample."""

from __future__ import annotations

from collections.abc import Callable

from ..optimizer.listing import OnProgress, PlanListing
from .planner import Planned


def list_plans(
    planned: Planned,
    limit: int = 10,
    *,
    seed: int | None = None,
    seconds: float | None = None,
    progress: OnProgress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> PlanListing:
    """Lists the cheapest different plans of a query, or with a ``seed`` plans drawn uniformly.

    A listing that is cut has the plans so far; its ``stop_reason`` says why it was cut.

    Args:
        planned: the query with the result of its search.
        limit: the number of plans.
        seed: the seed of the sample; None to rank.
        seconds: the time limit; by default as long again as the search was allowed.
        progress: receives the progress, at most ten times a second and at each new step.
        cancelled: polled between steps; once it returns true, the listing ends.

    >>> from headrace import PlanRequest, PlanningOptions, list_plans, optimize
    >>> query = "Answer(x, z) <- a(x, y), b(y, z)"
    >>> planned = optimize(PlanRequest(query, options=PlanningOptions(window="1d")))
    >>> listing = list_plans(planned, limit=3, seconds=10)
    >>> listing.stop_reason, len(listing.plans)
    ('complete', 2)
    """
    return planned.optimization.plans.listed(
        limit,
        seed=seed,
        milliseconds=None if seconds is None else seconds * 1000,
        progress=progress,
        cancelled=cancelled,
    )

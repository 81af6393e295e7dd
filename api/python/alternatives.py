"""Other plans of a planned query, ranked by cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...documents.alternatives import plan_list
from ...documents.numbers import Unit
from ...documents.picture import picture_of_plan
from ...planning.listing import list_plans
from ..render import html, text

if TYPE_CHECKING:
    from ...algebra.plan import PhysicalPlan
    from ...optimizer.listing import ListingStop
    from ...planning.planner import Planned

_HEAD = ("rank", "cost", "shared", "plan")


@dataclass(frozen=True, slots=True)
class AlternativePlan:
    """A plan of the query.

    Attributes:
        rank: the place in the order of ``cost``, from 1; None for the chosen plan of a list that
            was cut before its first plan.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        chosen: whether the search chose this plan, or a mirror image of it.
        difference: how the plan differs from the chosen one; empty for the chosen one.
        plan: the plan, for `headrace.run_plan` and `headrace.results`.
        text: the tree of the plan with estimates.
    """

    rank: int | None
    cost: float
    shared_cost: float
    chosen: bool
    difference: str
    plan: PhysicalPlan
    text: str


class AlternativePlans(tuple[AlternativePlan, ...]):
    """The cheapest different plans of a query, the cheapest first.

    A notebook shows them as a table.

    Attributes:
        total: the number of complete plans that the search found; None if the list was cut.
        different: the same, with mirror images counted once.
        stop_reason: ``complete``, or why the list was cut: ``budget_ms``, ``cancelled``.
    """

    total: int | None
    different: int | None
    stop_reason: ListingStop
    _unit: Unit

    def _rows(self) -> list[tuple[str, ...]]:
        per = self._unit
        return [
            (
                "" if one.rank is None else str(one.rank),
                f"{per(one.cost)}/{per.sign}",
                f"{per(one.shared_cost)}/{per.sign}",
                "chosen" if one.chosen else one.difference,
            )
            for one in self
        ]

    def _title(self) -> str:
        if self.stop_reason != "complete":
            return f"{len(self)} plans; the list is incomplete"
        return f"{len(self)} of {self.different:,} different plans"

    def __repr__(self) -> str:
        rows = [_HEAD, *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join((*(row[k].rjust(widths[k]) for k in range(3)), row[3])) for row in rows]
        return "\n".join((self._title(), *lines))

    def _repr_html_(self) -> str:
        return html.titled_table(self._title(), _HEAD, self._rows())


def alternatives_of(
    planned: Planned,
    limit: int,
    *,
    seconds: float | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> AlternativePlans:
    """Lists the cheapest different plans; see `PlannedQuery.alternatives`."""
    listing = list_plans(planned, limit, seconds=seconds, cancelled=cancelled)
    listed = plan_list(planned.optimization, listing, text.render).plans
    plans = {plan.digest: plan for plan in (*listing.plans, planned.plan)}
    alternatives = AlternativePlans(
        AlternativePlan(
            one.rank,
            one.cost,
            one.shared_cost,
            one.chosen,
            "" if one.difference is None else one.difference.text,
            plans[one.digest],
            one.text,
        )
        for one in listed
    )
    alternatives.total = listing.total
    alternatives.different = listing.different
    alternatives.stop_reason = listing.stop_reason
    alternatives._unit = picture_of_plan(planned.plan).per
    return alternatives

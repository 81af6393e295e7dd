"""Lists of plans of a query, ranked or sampled at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import Field

from ..algebra.plan import PhysicalPlan
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class ListedPlan(Document):
    """A plan in a list.

    Attributes:
        rank: the place in the order of costs, from 1; null for a sampled plan.
        cost: the cost of the plan's tree, in microseconds per time unit.
        digest: the digest of the plan.
        text: the plan's tree with estimates.
        plan: the plan itself.
        picture: the drawing of the plan, for renderings.
    """

    rank: int | None
    cost: float
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument = Field(exclude=True)


class PlanList(Document):
    """A list of plans of a query; ``total`` counts all complete plans in the memo."""

    total: int
    plans: tuple[ListedPlan, ...]


class Alternative(Document):
    """One of the cheapest plans of a query.

    Attributes:
        rank: the place in the order of costs, from 1.
        cost: the cost of the plan's tree, in microseconds per time unit.
        digest: the digest of the plan.
        text: the plan's tree with estimates.
        plan: the plan itself.
        picture: the drawing of the plan.
    """

    rank: int
    cost: float
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument


class Alternatives(Document):
    """The cheapest plans of a query; ``total`` counts all complete plans in the memo."""

    total: int
    plans: tuple[Alternative, ...]


def plan_list(
    total: int,
    plans: Iterable[tuple[int | None, PhysicalPlan]],
    draw: Callable[[PictureDocument], str],
) -> PlanList:
    """Builds the list of ranked or sampled plans.

    Args:
        total: the number of all complete plans in the memo.
        plans: each plan with its rank, or None for a sampled plan.
        draw: renders the tree of a plan as text.
    """
    return PlanList(total=total, plans=tuple(_listed(rank, plan, draw) for rank, plan in plans))


def alternatives(plans: PlanList) -> Alternatives:
    """Converts a list of ranked plans to the document with pictures."""
    return Alternatives(
        total=plans.total, plans=tuple(Alternative(**dict(plan)) for plan in plans.plans)
    )


def _listed(
    rank: int | None, plan: PhysicalPlan, draw: Callable[[PictureDocument], str]
) -> ListedPlan:
    picture = picture_of_plan(plan)
    return ListedPlan(
        rank=rank,
        cost=plan.nodes[plan.root].estimate.cumulative_cost,
        digest=plan.digest,
        text=draw(picture),
        plan=plan_document(plan),
        picture=picture,
    )

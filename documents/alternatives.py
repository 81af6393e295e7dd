"""The plans of a query, ranked or drawn by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import Field

from ..algebra.plan import PhysicalPlan
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class ListedPlan(Document):
    """One of many plans; ``rank`` counts from 1, a plan drawn by chance has none.

    ``cost`` is that of its tree per time unit, ``text`` the tree with its estimates.
    """

    rank: int | None
    cost: float
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument = Field(exclude=True)


class PlanList(Document):
    """Plans of a query, of ``total`` that there are."""

    total: int
    plans: tuple[ListedPlan, ...]


class Alternative(Document):
    """One of the cheapest plans of a query; ``rank`` counts from 1."""

    rank: int
    cost: float
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument


class Alternatives(Document):
    """The cheapest plans of a query, of ``total`` that there are."""

    total: int
    plans: tuple[Alternative, ...]


def plan_list(
    total: int,
    plans: Iterable[tuple[int | None, PhysicalPlan]],
    draw: Callable[[PictureDocument], str],
) -> PlanList:
    """Plans with their ranks, of ``total`` that there are; ``draw`` gives the text of a tree."""
    return PlanList(total=total, plans=tuple(_listed(rank, plan, draw) for rank, plan in plans))


def alternatives(plans: PlanList) -> Alternatives:
    """Ranked plans with their pictures."""
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

"""Lists of plans of a query, ranked or sampled at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256

from pydantic import Field

from ..algebra.plan import PhysicalPlan
from ..optimizer import SearchResult
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class ListedPlan(Document):
    """A plan in a list.

    Attributes:
        rank: the place in the order of ``cost``, from 1; null for a sampled plan.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        chosen: whether the search chose this plan, or a mirror image of it.
        digest: the digest of the plan.
        text: the plan's tree with estimates.
        plan: the plan itself.
        picture: the drawing of the plan, for renderings.
    """

    rank: int | None
    cost: float
    shared_cost: float
    chosen: bool
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument = Field(exclude=True)


class PlanList(Document):
    """A list of different plans of a query.

    ``total`` counts all complete plans in the memo, and ``different`` counts mirror images and
    equal-cost duplicates once.
    """

    total: int
    different: int
    plans: tuple[ListedPlan, ...]


class Alternative(Document):
    """One of the cheapest plans of a query.

    Attributes:
        rank: the place in the order of ``cost``, from 1.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        chosen: whether the search chose this plan, or a mirror image of it.
        digest: the digest of the plan.
        text: the plan's tree with estimates.
        plan: the plan itself.
        picture: the drawing of the plan.
    """

    rank: int
    cost: float
    shared_cost: float
    chosen: bool
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument


class Alternatives(Document):
    """The cheapest different plans of a query.

    ``total`` counts all complete plans in the memo, and ``different`` counts mirror images and
    equal-cost duplicates once.
    """

    total: int
    different: int
    plans: tuple[Alternative, ...]


def plan_list(
    search: SearchResult,
    plans: Iterable[tuple[int | None, PhysicalPlan]],
    draw: Callable[[PictureDocument], str],
) -> PlanList:
    """Builds the list of ranked or sampled plans.

    Args:
        search: the search for the plans of the query.
        plans: each plan with its rank, or None for a sampled plan.
        draw: renders the tree of a plan as text.
    """
    chosen = _form(search.plan)
    return PlanList(
        total=search.plans.count,
        different=search.plans.different.count,
        plans=tuple(
            listed_plan(rank, plan, draw, chosen=_form(plan) == chosen) for rank, plan in plans
        ),
    )


def alternatives(plans: PlanList) -> Alternatives:
    """Converts a list of ranked plans to the document with pictures."""
    return Alternatives(
        total=plans.total,
        different=plans.different,
        plans=tuple(Alternative(**dict(plan)) for plan in plans.plans),
    )


def listed_plan(
    rank: int | None,
    plan: PhysicalPlan,
    draw: Callable[[PictureDocument], str],
    *,
    chosen: bool = False,
) -> ListedPlan:
    """Builds a plan of a list; see :func:`plan_list`."""
    picture = picture_of_plan(plan)
    return ListedPlan(
        rank=rank,
        cost=plan.nodes[plan.root].estimate.cumulative_cost,
        shared_cost=sum(node.estimate.cost for node in plan.nodes),
        chosen=chosen,
        digest=plan.digest,
        text=draw(picture),
        plan=plan_document(plan),
        picture=picture,
    )


def _form(plan: PhysicalPlan) -> str:
    """The digest of a plan that its mirror images share.

    A node has its kind of operator, its cost, and its inputs in any order; a scan has all of its
    operator.
    """
    forms: list[str] = []
    for node in plan.nodes:
        kind = node.op if node.inputs else repr(node.operator)
        inputs = sorted(forms[i] for i in node.inputs)
        text = f"{kind} {node.estimate.cost:.12g} {inputs}"
        forms.append(sha256(text.encode()).hexdigest())
    return forms[plan.root]

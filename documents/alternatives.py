"""Lists of plans of a query, ranked or sampled at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import repeat

from pydantic import Field

from ..algebra.plan import PhysicalPlan
from ..optimizer import SearchResult
from ..optimizer.listing import ListingStop, PlanListing
from .difference import Difference, difference
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class ListedPlan(Document):
    """A plan in a list. Its JSON has the members of :class:`Alternative` except the drawing."""

    rank: int | None
    cost: float
    shared_cost: float
    chosen: bool
    difference: Difference | None
    digest: str
    text: str
    plan: PlanDocument
    picture: PictureDocument = Field(exclude=True)


class PlanList(Document):
    """A list of different plans of a query, with the members of :class:`Alternatives`."""

    total: int | None
    different: int | None
    stop_reason: ListingStop
    cost_bound: float | None
    plans: tuple[ListedPlan, ...]


class Alternative(ListedPlan):
    """One of the cheapest plans of a query.

    Attributes:
        rank: the place in the order of ``cost``, from 1; null for a sampled plan, and for the
            chosen plan of a ranking that was cut before its first plan.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        chosen: whether the search chose this plan, or a mirror image of it.
        difference: how the plan differs from the chosen one, or from an earlier plan of a ranking
            that is named; null for the chosen one.
        digest: the digest of the plan.
        text: the plan's tree with estimates.
        plan: the plan itself.
        picture: the drawing of the plan.
    """

    picture: PictureDocument


class Alternatives(PlanList):
    """The cheapest different plans of a query.

    Attributes:
        total: the number of complete plans in the memo; null if the list was cut before.
        different: the same, with mirror images and equal-cost duplicates counted once.
        stop_reason: ``complete``, or why the list was cut: ``budget_ms``, ``cancelled``.
        cost_bound: the cost of the last ranked plan, which no plan that is not listed undercuts, in
            microseconds per time unit; null without a ranked plan.
        plans: the plans.
    """

    plans: tuple[Alternative, ...]


def plan_list(
    search: SearchResult,
    listing: PlanListing,
    draw: Callable[[PictureDocument], str],
) -> PlanList:
    """Builds the list of ranked or sampled plans.

    A ranking that was cut before its first plan has the chosen plan alone, without a rank.

    Args:
        search: the search for the plans of the query.
        listing: the plans.
        draw: renders the tree of a plan as text.
    """
    plans = listing.plans
    ranks: Iterable[int | None] = range(1, len(plans) + 1)
    if not listing.ranked:
        ranks = repeat(None)
    elif not plans and listing.stop_reason != "complete":
        plans, ranks = (search.plan,), (None,)
    return PlanList(
        total=listing.total,
        different=listing.different,
        stop_reason=listing.stop_reason,
        cost_bound=listing.cost_bound,
        plans=tuple(
            listed_plan(rank, plan, draw, differs)
            for rank, plan, differs in zip(
                ranks, plans, _differences(plans, search.plan, listing.ranked), strict=False
            )
        ),
    )


def alternatives(plans: PlanList) -> Alternatives:
    """Converts a list of ranked plans to the document with pictures."""
    return Alternatives(
        total=plans.total,
        different=plans.different,
        stop_reason=plans.stop_reason,
        cost_bound=plans.cost_bound,
        plans=tuple(Alternative(**dict(plan)) for plan in plans.plans),
    )


def listed_plan(
    rank: int | None,
    plan: PhysicalPlan,
    draw: Callable[[PictureDocument], str],
    differs: Difference | None,
) -> ListedPlan:
    """Builds a plan of a list; ``differs`` is None for the chosen plan."""
    picture = picture_of_plan(plan)
    return ListedPlan(
        rank=rank,
        cost=plan.nodes[plan.root].estimate.cumulative_cost,
        shared_cost=plan.shared_cost,
        chosen=differs is None,
        difference=differs,
        digest=plan.digest,
        text=draw(picture),
        plan=plan_document(plan),
        picture=picture,
    )


def _differences(
    plans: Sequence[PhysicalPlan], chosen: PhysicalPlan, ranked: bool
) -> list[Difference | None]:
    """How each plan of a list differs from the chosen one; None for the chosen plan.

    Lines name few operators. If two plans of a ranking have the same line, the second one is
    compared with the first one instead, so that no line occurs twice.
    """
    same_as_chosen = _digest_of(chosen, plans)
    differences: list[Difference | None] = []
    ranks: dict[str, int] = {}
    for rank, plan in enumerate(plans, 1):
        if plan.digest == same_as_chosen:
            differences.append(None)
            continue
        line = difference(plan, chosen)
        while ranked and (same := ranks.get(line.text)) is not None:
            # Each line names a later plan than the one before, so this ends.
            nearer = difference(plan, plans[same - 1])
            line = Difference(kind=nearer.kind, text=f"as #{same}, but {nearer.text}")
        ranks[line.text] = rank
        differences.append(line)
    return differences


def _digest_of(chosen: PhysicalPlan, plans: Sequence[PhysicalPlan]) -> str | None:
    """The digest of the listed plan that is the chosen one or a mirror image of it.

    A list has one of plans that are alike, perhaps with other variables than the chosen plan. Where
    labels repeat, plans that join other variables may have one form without them.
    """
    for variables in (True, False):
        form = _form(chosen, variables=variables)
        for plan in plans:
            if _form(plan, variables=variables) == form:
                return plan.digest
    return None


def _form(plan: PhysicalPlan, *, variables: bool) -> str:
    """The digest of a plan that its mirror images share.

    A node has its kind of operator, its cost, and its inputs in any order; a scan has all of its
    operator. With ``variables`` a node has the names of its columns too, in any order.
    """
    forms: list[str] = []
    for node in plan.nodes:
        kind = node.op if node.inputs else repr(node.operator)
        inputs = sorted(forms[i] for i in node.inputs)
        names = sorted(node.columns) if variables else ()
        text = f"{kind} {node.estimate.cost:.12g} {names} {inputs}"
        forms.append(sha256(text.encode()).hexdigest())
    return forms[plan.root]

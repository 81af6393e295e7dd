"""``headrace plans``: the complete plans of the memo, ranked or sampled."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...planning.errors import UsageError
from .. import options as opt
from ..console import write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...algebra.plan import PhysicalPlan
    from ...documents.alternatives import PlanList
    from ...optimizer.plans import Plans


def plans(
    query: opt.Query,
    *,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            "-n",
            min=0,
            help="The number of plans to show, cheapest first; 0 only counts.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = 10,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Draw this many uniformly from all different plans instead, with replacement.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="The seed of the sample; 0 by default.", rich_help_panel=opt.OUTPUT),
    ] = None,
    format_: Annotated[
        Literal["text", "json"],
        typer.Option(
            "--format", "-f", help="The form to show them in.", rich_help_panel=opt.OUTPUT
        ),
    ] = "text",
    out: opt.Out = None,
    options: opt.QueryOptions,
    debug: opt.Debug = False,
) -> None:
    """Show the complete plans of a query: how many there are, and the cheapest different ones."""
    from ...documents.alternatives import plan_list
    from ...documents.model import json_text
    from ...optimizer.errors import SearchCancelledError
    from ...planning.planner import optimize
    from ..render.text import render
    from ..request import plan_request, read_query, warn

    if seed is not None and sample is None:
        raise UsageError("--seed needs --sample: the ranking is the same every time")
    planned = optimize(plan_request(read_query(query), options))
    warn(planned)
    try:
        search = planned.optimization
        listing = _listing(search.plans.different, limit, sample, seed)
        shown = plan_list(search, listing, render)
    except SearchCancelledError as error:
        raise UsageError(
            "there are too many plans to list them in time",
            code="E-SIZE",
            hint="allow more time, or a smaller --budget-expressions",
        ) from error
    write(json_text(shown) if format_ == "json" else _text(shown), out)


def _listing(
    space: Plans, limit: int, sample: int | None, seed: int | None
) -> Iterable[tuple[int | None, PhysicalPlan]]:
    """The plans to show, with their ranks if they are ranked."""
    if sample is not None:
        return ((None, plan) for plan in space.sample(sample, seed or 0))
    return enumerate(itertools.islice(space.ranked(), limit), start=1)


def _text(shown: PlanList) -> str:
    different = f"{shown.different:,} different of " if shown.different < shown.total else ""
    parts = [f"{different}{shown.total:,} {'plan' if shown.total == 1 else 'plans'}\n"]
    for plan in shown.plans:
        rank = "drawn" if plan.rank is None else f"#{plan.rank}"
        per = plan.picture.per
        once = ""
        if plan.shared_cost < plan.cost * 0.995:
            once = f", {per(plan.shared_cost)} with shared parts counted once"
        chosen = "  chosen" if plan.chosen else ""
        cost = f"cost {per(plan.cost)}/{per.sign}{once}"
        parts.append(f"{rank}  {cost}  plan {plan.digest}{chosen}\n{plan.text}")
    return "\n".join(parts)

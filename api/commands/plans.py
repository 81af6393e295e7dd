"""``headrace plans``: the complete plans of the memo, ranked or sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...planning.errors import UsageError
from .. import options as opt
from ..console import write

if TYPE_CHECKING:
    from ...documents.alternatives import PlanList


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
    from ...planning.listing import list_plans
    from ...planning.planner import optimize
    from ..listing import interruptible, shown_listing, stopped
    from ..render.text import render
    from ..request import plan_request, read_query, warn

    if seed is not None and sample is None:
        raise UsageError("--seed needs --sample: the ranking is the same every time")
    request = plan_request(read_query(query), options)
    with interruptible() as interrupted:
        planned = optimize(request, cancelled=interrupted)
        warn(planned)
        with shown_listing(planned.plan) as show:
            listing = list_plans(
                planned,
                limit if sample is None else sample,
                seed=None if sample is None else seed or 0,
                progress=show,
                cancelled=interrupted,
            )
        shown = plan_list(planned.optimization, listing, render)
        write(json_text(shown) if format_ == "json" else _text(shown), out)
    stopped(listing)


def _text(shown: PlanList) -> str:
    parts = [f"{_counted(shown)}\n"]
    for plan in shown.plans:
        rank = "drawn" if plan.rank is None else f"#{plan.rank}"
        if plan.rank is None and shown.stop_reason != "complete" and len(shown.plans) == 1:
            rank = "not ranked"
        per = plan.picture.per
        once = ""
        if plan.shared_cost < plan.cost * 0.995:
            once = f", {per(plan.shared_cost)} with shared parts counted once"
        chosen = "  chosen" if plan.chosen else ""
        cost = f"cost {per(plan.cost)}/{per.sign}{once}"
        differs = "" if plan.difference is None else f"{plan.difference.text}\n"
        parts.append(f"{rank}  {cost}  plan {plan.digest}{chosen}\n{differs}{plan.text}")
    return "\n".join(parts)


def _counted(shown: PlanList) -> str:
    """The first line: the number of plans, and whether the list is complete."""
    total, different = shown.total, shown.different
    if total is None:
        number = "an unknown number of" if different is None else f"{different:,}"
        counted = f"{number} different plans"
    else:
        less = "" if different is None or different == total else f"{different:,} different of "
        counted = f"{less}{total:,} {'plan' if total == 1 else 'plans'}"
    return counted if shown.stop_reason == "complete" else f"{counted}; the list is incomplete"

"""``headrace plans``: the complete plans of the memo, ranked or sampled."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...algebra.physical import DEFAULT_STEPS
from ...planning.errors import UsageError
from .. import options as opt
from ..console import write

if TYPE_CHECKING:
    from ...documents.explained import RankedPlan
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
            help="So many, cheapest first; 0 only counts.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = 10,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="So many drawn uniformly from all instead, with replacement.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the sample; 0 unless said.", rich_help_panel=opt.OUTPUT)
    ] = None,
    format_: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", help="How.", rich_help_panel=opt.OUTPUT),
    ] = "text",
    out: opt.Out = None,
    language: opt.Language = None,
    input_: opt.Inputs,
    stored: opt.Stored,
    vertices: opt.Vertices,
    columns: opt.Columns = None,
    sep: opt.Separator = None,
    time_unit: opt.TimeUnit = None,
    vertex_type: opt.VertexTypeOf = None,
    catalog: opt.CatalogFile = None,
    window: opt.WindowRange = None,
    slide: opt.WindowSlide = None,
    cost_model: opt.CostModel = "saturating",
    disable_rule: opt.DisabledRules,
    budget_ms: opt.BudgetMs = None,
    budget_expressions: opt.BudgetExpressions = None,
    parallelism: opt.Parallelism = 1,
    path_semantics: opt.PathSemantics = "arbitrary",
    simple_budget: opt.SimpleBudget = None,
    evaluate: opt.Evaluate = "eager",
    debug: opt.Debug = False,
) -> None:
    """Show the complete plans of a query: how many there are, and the cheapest ones."""
    from ...documents.explained import plans_document
    from ...optimizer.errors import SearchCancelledError
    from ...planning.planner import optimize
    from ...planning.requests import PlanningOptions
    from ..explanation import json_text
    from ..request import plan_request, read_query, warn

    if seed is not None and sample is None:
        raise UsageError("--seed needs --sample: the ranking is the same every time")
    planned = optimize(
        plan_request(
            read_query(query),
            language=language,
            catalog=catalog,
            inputs=input_,
            stored=stored,
            vertices=vertices,
            columns=columns,
            separator=sep,
            time_unit=time_unit,
            vertex_type=vertex_type,
            options=PlanningOptions(
                window,
                slide,
                cost_model,
                tuple(disable_rule),
                budget_ms,
                budget_expressions,
                parallelism,
                path_semantics,
                simple_budget or DEFAULT_STEPS,
                evaluate,
            ),
        )
    )
    warn(planned)
    try:
        total, shown = _listing(planned.optimization.plans, limit, sample, seed)
    except SearchCancelledError as error:
        raise UsageError(
            "there are too many plans to list them in time",
            code="E-SIZE",
            hint="allow more time, or a smaller --budget-expressions",
        ) from error
    if format_ == "json":
        write(json_text(plans_document(total, shown, _drawn)), out)
    else:
        write(_text(total, shown), out)


def _listing(
    space: Plans, limit: int, sample: int | None, seed: int | None
) -> tuple[int, list[RankedPlan]]:
    """How many plans there are, and those to be shown."""
    from ...documents.explained import RankedPlan

    if sample is not None:
        return space.count, [RankedPlan(None, plan) for plan in space.sample(sample, seed or 0)]
    cheapest = itertools.islice(space.ranked(), limit)
    return space.count, [RankedPlan(rank, plan) for rank, plan in enumerate(cheapest, start=1)]


def _drawn(ranked: RankedPlan) -> str:
    from ...documents.picture import of_plan
    from ..render import text

    return text.render(of_plan(ranked.plan))


def _text(total: int, shown: list[RankedPlan]) -> str:
    from ...documents.picture import of_plan

    parts = [f"{total:,} {'plan' if total == 1 else 'plans'}\n"]
    for ranked in shown:
        rank = "drawn" if ranked.rank is None else f"#{ranked.rank}"
        per = of_plan(ranked.plan).per
        parts.append(
            f"{rank}  cost {per(ranked.cost)}/{per.sign}  plan {ranked.plan.digest}\n"
            + _drawn(ranked)
        )
    return "\n".join(parts)

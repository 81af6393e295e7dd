"""``headrace explain``: every stage of a query's way, in every form."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ...algebra.physical import DEFAULT_STEPS
from ...planning.errors import UsageError
from ...planning.requests import Format, Stage
from .. import options as opt
from ..console import watched, write

if TYPE_CHECKING:
    from ...planning.query_text import QueryText
    from ...planning.requests import PlanRequest


def explain(
    query: opt.Query,
    *,
    stage: Annotated[
        Stage,
        typer.Option(
            help="query: as understood; logical: canonical algebra; memo: everything found to "
            "be equal; physical: the plan chosen, with costs; plan: the document that is run.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = "physical",
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="How.", rich_help_panel=opt.OUTPUT)
    ] = "text",
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            help="Show the cost formula of each operator with its numbers (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Show each step of the search: what entered, what rules found, what became "
            "cheaper; and what each rule did (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Show of each operator by which rules it came from the query as written, what "
            "the next best way was, and what decided (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    analyze: Annotated[
        bool,
        typer.Option(
            "--analyze",
            help="Run the plan on its input, and set measured beside estimated (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
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
    """Show how a query is understood, planned and costed."""
    from ...planning.requests import PlanningOptions
    from ..explanation import misplaced
    from ..request import plan_request, read_query

    details = {"costs": costs, "trace": trace, "why": why, "analyze": analyze}
    wrong = misplaced(stage, format_, **details)
    if wrong is not None:
        raise UsageError(f"--{wrong} goes with --stage physical and --format text or json")
    read = read_query(query)
    if read.is_plan:
        asked = " and ".join(f"--{name}" for name, given in details.items() if given)
        if asked:
            want = "want" if " and " in asked else "wants"
            raise UsageError(f"{asked} {want} a query, and {read.name} is a plan")
        write(_stored_plan(read, stage, format_), out)
        return
    request = plan_request(
        read,
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
    colour = out is None and watched(sys.stdout)
    shown = _Shown(stage, format_, costs, trace, why, colour)
    if analyze:
        write(
            _analyzed(request, shown, input_, columns, sep, stored=stored, vertices=vertices), out
        )
    else:
        write(_explained(request, shown), out)


@dataclass(frozen=True, slots=True)
class _Shown:
    stage: Stage
    form: Format
    costs: bool
    trace: bool
    why: bool
    colour: bool


def _explained(request: PlanRequest, shown: _Shown) -> str:
    from ...planning.planner import optimize, translate_query
    from ..explanation import explained
    from ..request import warn

    if shown.stage in ("query", "logical"):
        translated = translate_query(request)
        warn(translated)
        return explained(translated, shown.stage, shown.form)
    planned = optimize(request, trace=shown.trace)
    warn(planned)
    return explained(
        planned, shown.stage, shown.form, costs=shown.costs, why=shown.why, colour=shown.colour
    )


def _analyzed(
    request: PlanRequest,
    shown: _Shown,
    inputs: list[str],
    columns: str | None,
    separator: str | None,
    *,
    stored: list[str],
    vertices: list[str],
) -> str:
    from ...planning.planner import optimize
    from ...running.analysis import analyze
    from ...running.runs import files_alone, inputs_of_plan
    from ..explanation import explained
    from ..request import warn

    planned = optimize(request, trace=shown.trace)
    warn(planned)
    files = inputs_of_plan(
        planned.plan, request.catalog, inputs, columns, separator, stored=stored, vertices=vertices
    )
    return explained(
        planned,
        shown.stage,
        shown.form,
        costs=shown.costs,
        why=shown.why,
        colour=shown.colour,
        analysis=analyze(planned.plan, files_alone(files)),
    )


def _stored_plan(read: QueryText, stage: Stage, form: Format) -> str:
    from ..explanation import stored_plan

    if stage not in ("physical", "plan"):
        raise UsageError(f"{read.name} is a plan, which has only the stages physical and plan")
    return stored_plan(read.plan, read.name, stage, form)

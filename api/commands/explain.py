"""``headrace explain``: each stage of a query, in each form."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ...planning.errors import UsageError
from ...planning.requests import Format, Stage
from .. import options as opt
from ..console import say_warning, watched, write

if TYPE_CHECKING:
    from ...planning.planner import Planned
    from ...planning.query_text import QueryText
    from ...running.analysis import Analysis


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
        Format,
        typer.Option("--format", "-f", help="The form to show it in.", rich_help_panel=opt.OUTPUT),
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
            help="Show each step of the search (expressions added, rules applied, cheaper plans) "
            "and what each rule did (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Show for each operator which rules derived it from the query as written, the "
            "next best alternative, and what decided (physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    analyze: Annotated[
        bool,
        typer.Option(
            "--analyze",
            help="Run the plan on its input, and show measured numbers beside the estimates "
            "(physical).",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    out: opt.Out = None,
    options: opt.QueryOptions,
    debug: opt.Debug = False,
) -> None:
    """Show how a query is understood, planned and costed."""
    from ...planning.planner import optimize
    from ...planning.translating import translate_query
    from ..explanation import explained, misplaced
    from ..request import plan_request, read_query, warn

    details = {"costs": costs, "trace": trace, "why": why, "analyze": analyze}
    wrong = misplaced(stage, format_, **details)
    if wrong is not None:
        raise UsageError(f"--{wrong} needs --stage physical and --format text or json")
    read = read_query(query)
    if read.is_plan:
        wanted = " and ".join(f"--{name}" for name, requested in details.items() if requested)
        if wanted:
            need = "need" if " and " in wanted else "needs"
            raise UsageError(f"{wanted} {need} a query, but {read.name} is a plan")
        write(_stored_plan(read, stage, format_), out)
        return
    request = plan_request(read, options)
    if stage in ("query", "logical"):
        translated = translate_query(request)
        warn(translated)
        write(explained(translated, stage, format_), out)
        return
    planned = optimize(request, trace=trace)
    warn(planned)
    shown = explained(
        planned,
        stage,
        format_,
        costs=costs,
        why=why,
        colour=out is None and watched(sys.stdout),
        analysis=_analysis(planned, options) if analyze else None,
    )
    write(shown, out)


def _analysis(planned: Planned, options: opt.QueryOptions) -> Analysis:
    from ...running.analysis import analyze
    from ...running.runs import files_alone
    from ..request import inputs_to_run, recorder

    analysis = analyze(planned.plan, files_alone(inputs_to_run(planned.plan, options)))
    counters = {node: measured.counters for node, measured in analysis.nodes.items()}
    warning = recorder(planned.plan, options).keep(counters, analysis.ticks)
    if warning is not None:
        say_warning(warning)
    return analysis


def _stored_plan(read: QueryText, stage: Stage, form: Format) -> str:
    from ..explanation import stored_plan

    if stage not in ("physical", "plan"):
        raise UsageError(f"{read.name} is a plan, which has only the stages physical and plan")
    return stored_plan(read.plan, read.name, stage, form)

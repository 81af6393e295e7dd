"""``headrace run``: a query or a plan, over files, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...algebra.physical import DEFAULT_STEPS
from ...planning.errors import UsageError
from .. import options as opt
from ..console import say, write

RUNNING = "Running"
_AT_ONCE = "available-now"


def run(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY|PLAN.json",
            help="A file, - for standard input, or the text itself.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="PLACE",
            help="A folder, a file (.jsonl, .csv, .parquet), or - for stdout.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = "-",
    output_format: Annotated[
        Literal["jsonl", "csv", "parquet"] | None,
        typer.Option(
            "--output-format",
            help="Of the results; else the file's ending tells, else jsonl.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the account of the run and of each operator here, as JSON.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            help="Show progress on stderr, and at the end what each operator did beside its "
            "estimates; by default a bar alone, and if stderr is a terminal.",
            rich_help_panel=opt.OUTPUT,
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep here what a restart needs; by default beside the output.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            help='At most one micro-batch in so much time, as "10 seconds"; or, over files, '
            '"available-now", which is as fast as it goes, as without it.',
            rich_help_panel=RUNNING,
            show_default=False,
        ),
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Replay the input at so much of its time per second: 1d, or time units. The "
            "trigger says how often, each second unless said.",
            rich_help_panel=RUNNING,
            show_default=False,
        ),
    ] = None,
    largest_batch: Annotated[
        int | None,
        typer.Option(
            metavar="EDGES",
            min=1,
            help="Take at most so many edges per micro-batch; 65536 unless said.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Stop at the first row that is no edge.", rich_help_panel=RUNNING
        ),
    ] = False,
    conf: Annotated[
        list[str],
        typer.Option(
            "--conf",
            metavar="KEY=VALUE",
            help="A setting of Spark's, such as spark.jars.packages. Repeatable.",
            rich_help_panel=RUNNING,
            default_factory=list,
            show_default=False,
        ),
    ],
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
    """Run a query, or a plan made before, on Spark, until its input ends or you stop it."""
    from ...catalog.live import LiveSource
    from ...planning.planner import optimize
    from ...planning.requests import PlanningOptions
    from ...running.runs import inputs_of_plan
    from ..account import account, operators
    from ..progress import shown_progress
    from ..request import (
        per_second,
        plan_request,
        read_catalog,
        read_query,
        spark_settings,
        trigger_interval,
        warn,
    )

    interval = None if trigger is None else trigger_interval(trigger, _AT_ONCE)
    read = read_query(query)
    if read.is_plan:
        for option, given in (
            ("--window", window), ("--slide", slide), ("--disable-rule", disable_rule),
            ("--budget-ms", budget_ms), ("--budget-expressions", budget_expressions),
            ("--parallelism", parallelism > 1), ("--language", language),
            ("--path-semantics", path_semantics != "arbitrary"),
            ("--evaluate", evaluate != "eager"),
            ("--time-unit", time_unit), ("--vertex-type", vertex_type),
        ):  # fmt: skip
            if given:
                raise UsageError(f"{option} is for planning, and {read.name} is a plan already")
        plan = read.plan
        if simple_budget is not None:
            plan = plan.with_simple_budget(simple_budget)
    else:
        planned = optimize(
            plan_request(
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
        )
        warn(planned)
        plan = planned.plan
    inputs = inputs_of_plan(
        plan, read_catalog(catalog), input_, columns, sep, stored=stored, vertices=vertices
    )
    live = [given for given in inputs.values() if isinstance(given, LiveSource)]
    if live:
        if trigger == _AT_ONCE:
            raise UsageError(
                f"--trigger {_AT_ONCE} is for files; a live source is read until you stop it"
            )
        reading = ", ".join(source.description for source in live)
        say(f"reading {reading} until Ctrl-C; the same command goes on from there")
    with shown_progress(progress, plan) as show:
        from ...executor.spark.host.errors import OutputError
        from ...executor.spark.reading.replay import LARGEST_SLICE
        from ...executor.spark.results.claims import check_lasting
        from ...executor.spark.results.sinks import output_of
        from ...executor.spark.run import RunOptions
        from ...executor.spark.session.session import SessionOptions
        from ...running.runs import as_headrace_error, run_plan

        try:
            place = output_of(output, output_format)
            check_lasting(place, checkpoint)
        except OutputError as error:
            raise as_headrace_error(error) from error
        report = run_plan(
            plan,
            inputs,
            place,
            RunOptions(
                checkpoint=checkpoint,
                strict=strict,
                interval=interval,
                speed=None if speed is None else per_second(speed, plan.time_unit),
                largest_slice=largest_batch or LARGEST_SLICE,
                session=SessionOptions(debug=debug, conf=spark_settings(conf)),
            ),
            on_progress=show,
        )
    if metrics is not None:
        from ...running.measures import metrics_document
        from ..explanation import json_text

        write(json_text(metrics_document(plan, report)), metrics)
    say(account(report, "stdout" if output == "-" else output))
    if progress:
        say(operators(plan, report))

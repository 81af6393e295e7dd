"""``headrace run``: a query or a plan, over files, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...planning.errors import UsageError
from .. import options as opt
from ..console import say, say_warning, write

if TYPE_CHECKING:
    from ...executor.spark.report import Progress, RunReport

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
            help="A folder, a file (.jsonl, .csv, .parquet), - for stdout, a topic of Kafka, "
            "kafka://HOST:PORT/TOPIC, or a sink of the catalog, sink:NAME.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = "-",
    output_format: Annotated[
        Literal["jsonl", "csv", "parquet"] | None,
        typer.Option(
            "--output-format",
            help="The format of the results; by default that of the file's ending, or else jsonl.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the metrics of the run and of each operator here, as JSON.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            help="Show progress on stderr, and at the end each operator's measured numbers beside "
            "its estimates; by default only a bar, if stderr is a terminal.",
            rich_help_panel=opt.OUTPUT,
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Literal["spark", "local"],
        typer.Option(
            "--engine",
            help="spark; or local: this process alone, for files, without Spark and without a "
            "checkpoint.",
            rich_help_panel=RUNNING,
        ),
    ] = "spark",
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the state for a restart here; by default beside the output.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            help='The least time between two micro-batches, as "10 seconds"; or, over files, '
            '"available-now", as fast as possible, which is the default.',
            rich_help_panel=RUNNING,
            show_default=False,
        ),
    ] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Replay this much of the input's time per second: 1d, or a number of time units. "
            "The trigger says how often, by default each second.",
            rich_help_panel=RUNNING,
            show_default=False,
        ),
    ] = None,
    largest_batch: Annotated[
        int | None,
        typer.Option(
            metavar="EDGES",
            min=1,
            help="The most edges in a micro-batch; 65536 by default.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Stop at the first row that is not an edge.", rich_help_panel=RUNNING
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Run on a cluster, spark://HOST:PORT; or in local mode with N task slots, "
            "local[N].",
            rich_help_panel=RUNNING,
            show_default=False,
        ),
    ] = None,
    conf: Annotated[
        list[str],
        typer.Option(
            "--conf",
            metavar="KEY=VALUE",
            help="A Spark setting, such as spark.jars.packages. Repeatable.",
            rich_help_panel=RUNNING,
            default_factory=list,
            show_default=False,
        ),
    ],
    options: opt.QueryOptions,
    debug: opt.Debug = False,
) -> None:
    """Run a query, or a plan made before, until its input ends or you stop it."""
    from ...catalog.live import LiveSource
    from ...executor.spark.host.errors import OutputError
    from ...executor.spark.options import RunOptions
    from ...executor.spark.reading.replay import LARGEST_SLICE
    from ...executor.spark.results.claims import check_lasting
    from ...executor.spark.results.sinks import ToKafka, ToSink, described_output
    from ...executor.spark.session.options import SessionOptions
    from ...planning.planner import optimize
    from ...running.outputs import output_of
    from ...running.runs import as_headrace_error, check_local, run_plan
    from ..account import account, operators
    from ..progress import shown_progress
    from ..request import (
        catalog_of,
        inputs_to_run,
        master_url,
        per_second,
        plan_request,
        read_query,
        recorder,
        spark_settings,
        trigger_interval,
        warn,
    )

    interval = None if trigger is None else trigger_interval(trigger, _AT_ONCE)
    read = read_query(query)
    if read.is_plan:
        if (option := options.only_for_planning) is not None:
            raise UsageError(f"{option} needs a query, but {read.name} is a plan already")
        plan = read.plan
        if options.simple_budget is not None:
            plan = plan.with_simple_budget(options.simple_budget)
    else:
        planned = optimize(plan_request(read, options))
        warn(planned)
        plan = planned.plan
    inputs = inputs_to_run(plan, options)
    of_spark = spark_settings(conf)
    settings = RunOptions(
        checkpoint=checkpoint,
        strict=strict,
        interval=interval,
        speed=None if speed is None else per_second(speed, plan.time_unit),
        largest_slice=largest_batch or LARGEST_SLICE,
        session=SessionOptions(debug=debug, master=master_url(master, of_spark), conf=of_spark),
    )
    try:
        place = output_of(output, catalog_of(options), output_format)
        check_lasting(place, checkpoint)
    except OutputError as error:
        raise as_headrace_error(error) from error
    if engine == "local":
        check_local(inputs, place, settings, partitions=options.parallelism > 1)
    live = [source for source in inputs.values() if isinstance(source, LiveSource)]
    if live:
        if trigger == _AT_ONCE:
            raise UsageError(
                f"--trigger {_AT_ONCE} is for files; a live source is read until you stop it"
            )
        reading = ", ".join(source.description for source in live)
        say(f"reading {reading} until Ctrl-C; the same command resumes the run")
    if isinstance(place, ToKafka | ToSink):
        output = described_output(place)
        say(f"writing to {output}")
    with shown_progress(progress, plan) as show:
        keeping = recorder(plan, options, output)
        measured: Progress | RunReport | None = None

        def heard(progress: Progress) -> None:
            nonlocal measured
            measured = progress
            show(progress)

        try:
            report = measured = run_plan(
                plan,
                inputs,
                place,
                settings,
                engine=engine,
                on_progress=heard,
            )
        finally:  # a live run ends when it is stopped
            if measured is not None:
                warning = keeping.keep(measured.operators, measured.ticks)
                if warning is not None:
                    say_warning(warning)
    if metrics is not None:
        from ...documents.model import json_text
        from ...documents.runs import metrics_document

        write(json_text(metrics_document(plan, report)), metrics)
    say(account(report, "stdout" if output == "-" else output))
    if progress:
        say(operators(plan, report))

"""Measures the regret of chosen plans, and reports it.

``python -m bench.regret --data FOLDER`` measures; ``python -m bench.regret report FILES`` writes
tables and plots of the measurements.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.corpus import STREAMS
from bench.measuring import headline, machine
from bench.regret.job import Settings
from bench.regret.report import write_report
from bench.regret.series import Series, measure_all
from bench.regret.workload import TUNING

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    *,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; without it the bundled slices.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Append the measurements here, as JSON lines.")] = Path(
        "regret.jsonl"
    ),
    streams: Annotated[
        str, typer.Option(help=f"Of {', '.join(STREAMS)}; separated by commas.")
    ] = "",
    queries: Annotated[
        str, typer.Option(help="Queries with one of these, separated by commas, in their names.")
    ] = "",
    seed: Annotated[
        int, typer.Option(help="1 is for tuning, other seeds are for checking.")
    ] = TUNING,
    label: Annotated[str, typer.Option(help="Name of the version; by default the commit.")] = "",
    time_limit: Annotated[
        float | None, typer.Option(help="Minutes; then no further query begins.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="The number of queries of each stream.")
    ] = None,
    edges: Annotated[int | None, typer.Option(help="Edges of each stream.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds over all plans of a query.")] = 3,
    most_rounds: Annotated[
        int, typer.Option(help="The most rounds of chosen and fastest plan.")
    ] = 15,
    width: Annotated[
        float, typer.Option(help="Relative width of the interval of chosen / fastest.")
    ] = 0.06,
    limit: Annotated[
        float, typer.Option(help="Seconds of the first run; above, the window is smaller.")
    ] = 4.0,
    query_limit: Annotated[
        float, typer.Option(help="Seconds of a query; then no further round begins.")
    ] = 120.0,
) -> None:
    """Measures plans of queries over streams; goes on where an earlier call ended."""
    if context.invoked_subcommand is not None:
        return
    console = Console()
    console.print(headline(machine()))
    series = Series(
        data,
        out,
        tuple(filter(None, streams.split(","))) or tuple(STREAMS),
        tuple(filter(None, queries.split(","))),
        seed,
        label,
        sample,
        edges,
        Settings(rounds, most_rounds, width, limit, query_limit=query_limit),
    )
    measure_all(series, console, time_limit)


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="Files of measurements.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Write the report here, as Markdown, with plots beside it.")
    ] = None,
) -> None:
    """Summarizes measurements: regret, rank correlation, q-errors."""
    text = write_report(files, out)
    if out is None:
        print(text)


if __name__ == "__main__":
    app()

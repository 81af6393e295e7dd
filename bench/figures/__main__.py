"""Measures the experiments of thesis 6.5, and reports them.

``python -m bench.figures operators`` (Figures 6.3 to 6.5), ``trees`` (6.8) and ``paths`` (6.9)
measure; ``python -m bench.figures report FILE --out FOLDER`` writes tables and plots.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.figures.points import EXPERIMENTS, FULL, SHORT, Experiment
from bench.figures.report import reports, write_reports
from bench.figures.series import Series, measure_all
from bench.measuring import headline, machine

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
Out = Annotated[Path, typer.Option(help="Append the measurements here, as JSON lines.")]
Rounds = Annotated[int, typer.Option(help="Timed runs of each point; six or more for intervals.")]
Label = Annotated[str, typer.Option(help="Name of the version; by default the commit.")]
Limit = Annotated[float | None, typer.Option(help="Minutes; then no further run begins.")]
Short = Annotated[bool, typer.Option(help="Few points over short streams, one round.")]


def measure(
    experiment: Experiment, out: Path, rounds: int, label: str, limit: float | None, *, short: bool
) -> None:
    """Measures the points of an experiment; goes on where an earlier call ended."""
    console = Console()
    console.print(headline(machine()))
    size = SHORT if short else replace(FULL, rounds=rounds)
    count = measure_all(Series(experiment, out, size, label), console, limit)
    console.print(f"{count} runs added to {out}")


def _command(experiment: Experiment, about: str) -> None:
    @app.command(experiment, help=about)
    def run(
        *,
        out: Out = Path("figures.jsonl"),
        rounds: Rounds = FULL.rounds,
        label: Label = "",
        time_limit: Limit = None,
        short: Short = False,
    ) -> None:
        measure(experiment, out, rounds, label, time_limit, short=short)


ABOUT = {
    "operators": "Figures 6.3 to 6.5: WSCAN, PATTERN and PATH over rates and windows.",
    "trees": "Figure 6.8: all join trees of the star query.",
    "paths": "Figure 6.9: all plans of the path query.",
}
for each in EXPERIMENTS:
    _command(each, ABOUT[each])


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="The file of measurements.")],
    *,
    label: Annotated[str, typer.Option(help="The version; by default the last one.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write a page for each experiment here, with plots.")
    ] = None,
) -> None:
    """Compares measured and estimated costs."""
    if out is None:
        for text in reports(file, label).values():
            print(text)
    else:
        write_reports(file, label, out)


if __name__ == "__main__":
    app()

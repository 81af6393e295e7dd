"""``headrace calibrate``: measures the constants of the cost model on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options as opt
from ..console import say, watched, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...planning.calibration import Calibration
    from ...running.calibration.fitting import Measurement


def calibrate(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the constants here; by default into the data directory, where all "
            "commands find them.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Measure once and less, for a first impression.")
    ] = False,
    spark: Annotated[
        bool,
        typer.Option(
            "--spark/--no-spark",
            help="Whether to start Spark for the constants network and convert; otherwise they "
            "keep their defaults.",
        ),
    ] = True,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Show each measurement beside the fitted formula.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    debug: opt.Debug = False,
) -> None:
    """Measure what the elementary actions of operators cost on this machine, for the optimizer."""
    from ...planning.calibration import default_file
    from ...running.calibration.calibrate import QUICK, Effort
    from ...running.calibration.calibrate import calibrate as measure_constants

    effort = QUICK if quick else Effort()
    if not spark:
        effort = replace(effort, spark_rows=0)
    file = output or default_file()
    with _shown_steps() as on_step:
        calibration, measurements = measure_constants(effort, on_step)
    if output is None:
        file.parent.mkdir(parents=True, exist_ok=True)
    write(_table(calibration))
    if details:
        write(_details(calibration, measurements))
    write(calibration.to_json(), file)
    say(f"constants written to {file}")


@contextmanager
def _shown_steps() -> Iterator[Callable[[str, float], None]]:
    """Yields a function that shows a step: a bar on a terminal, elsewhere a line for each step."""
    if not watched(sys.stderr):
        shown: list[str] = []

        def show(step: str, done: float) -> None:
            if step not in shown[-1:]:
                say(f"{done:4.0%} {step}")
                shown.append(step)

        yield show
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
    ) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda step, done: bar.update(task, description=step, completed=done)


def _table(calibration: Calibration) -> str:
    head = ("constant", "µs", "low", "high", "measured on")
    rows = [
        (
            name,
            f"{value:.3g}",
            *(f"{each:.3g}" for each in _spread(calibration, name)),
            calibration.measured_on.get(name, "default"),
        )
        for name, value in calibration.constants.items()
    ]
    fits = [
        (
            fit.operator + ("" if fit.fitted else " (not fitted)"),
            str(fit.measurements),
            f"{fit.ratio:.2f}",
            f"{fit.worst:.2f}",
        )
        for fit in calibration.operators
    ]
    fit_head = ("operator", "measurements", "estimated/measured", "worst factor")
    return f"{_columns((head, *rows))}\n\n{_columns((fit_head, *fits))}\n"


def _spread(calibration: Calibration, name: str) -> tuple[float, ...]:
    interval = calibration.spread.get(name)
    return () if interval is None else (interval.low, interval.high)


def _details(calibration: Calibration, measurements: Sequence[Measurement]) -> str:
    rows = [
        (
            each.kind,
            each.workload,
            f"{each.microseconds:.3f}",
            f"{each.predicted(calibration.values):.3f}",
        )
        for each in measurements
    ]
    return "\n" + _columns((("operator", "streams", "µs/row", "estimated"), *rows)) + "\n"


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    most = max(map(len, rows))
    # A constant without a spread has two empty cells before its last one.
    full = [(*row[:-1], *[""] * (most - len(row)), row[-1]) for row in rows]
    widths = [max(len(row[k]) for row in full) for k in range(most)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in full
    )

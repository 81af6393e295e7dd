"""Results of a run on a terminal: some results of each micro-batch, and the total number."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..documents.numbers import printable, seconds_in
from .console import watched
from .progress import bar

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..executor.spark.report import Progress

_SHOWN_PER_BATCH = 4


@contextmanager
def shown_results(plan: PhysicalPlan, folder: Path) -> Iterator[Callable[[Progress], None]]:
    """Yields a function for a run's progress that prints new results in ``folder`` to stdout.

    The run writes JSON lines to ``folder``. Before the first results a line says what the run waits
    for. A terminal also shows a progress bar below.
    """
    seconds = seconds_in(plan.time_unit)
    seen: set[str] = set()
    said = ""

    def new_lines(progress: Progress) -> Iterator[str]:
        nonlocal said
        wait = awaited(progress)
        if wait not in {None, said}:
            said = wait or ""
            yield f"  {said}"
        if progress.phase != "running" or not folder.is_dir():
            return
        for path in sorted(folder.glob("part-*.jsonl")):
            if path.name in seen:
                continue
            seen.add(path.name)
            with path.open(encoding="utf-8") as lines:
                first = [json.loads(line) for line in itertools.islice(lines, _SHOWN_PER_BATCH)]
            yield from (result_text(result, seconds) for result in first)
        now = "" if progress.now is None else f", now {_instant(progress.now, seconds)}"
        yield f"  ... {progress.results:,} results of {progress.edges:,} edges{now}"

    if watched(sys.stdout):
        with bar(sys.stdout) as (show, say):

            def on_terminal(progress: Progress) -> None:
                for line in new_lines(progress):
                    say(line)
                show(progress)

            yield on_terminal
    else:

        def in_pipe(progress: Progress) -> None:
            for line in new_lines(progress):
                print(line, flush=True)

        yield in_pipe


def awaited(progress: Progress) -> str | None:
    """Returns what a run waits for before its first results; None when it has some."""
    match progress.phase:
        case "starting":
            return "waiting for Spark's JVM to start ..."
        case "reading" if progress.fraction is not None and progress.fraction < 1:
            return "reading the input ..."
        case "reading":
            return "waiting for Spark to plan the query and to start its Python workers ..."
        case "waiting":
            return f"waiting to start again: {progress.reason}"
        case _:
            return None


def result_text(result: dict[str, Any], seconds: float | None) -> str:
    """``x = 12  y = 7   from 2010-06-08 20:23 to 2010-06-11 00:00``, or of a report
    ``x = 12  y = 7   entering at 2010-06-08 20:23``."""
    values = "  ".join(
        f"{printable(name)} = {printable(str(value)):<5}"
        for name, value in result["bindings"].items()
    )
    if "at" in result:
        return f"  {values}  {result['event']} at {_instant(result['at'], seconds)}"
    end = "on" if result["exp"] is None else f"to {_instant(result['exp'], seconds)}"
    return f"  {values}  from {_instant(result['ts'], seconds)} {end}"


def _instant(ticks: int, seconds: float | None) -> str:
    """Returns an instant as a date if ticks count from 1970 in a known unit, else as a number."""
    if seconds is None:
        return str(ticks)
    try:
        instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=ticks * seconds)
    except OverflowError:
        return str(ticks)
    return f"{instant:%Y-%m-%d %H:%M}"

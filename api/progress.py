"""The progress of a run: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from .console import say, watched

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..executor.spark.report import Progress

    OnProgress = Callable[[Progress], None]

_SECONDS_BETWEEN_LINES = 5.0
_PHASES = {
    "reading": "reading the input",
    "starting": "starting Spark",
    "waiting": "waiting to start again",
    "running": "running",
    "done": "done",
}


@contextmanager
def shown_progress(
    wanted: bool | None = None, plan: PhysicalPlan | None = None
) -> Iterator[OnProgress]:
    """Yields a function that shows progress on stderr; if ``wanted`` is None, only on a terminal.

    A terminal that shows results has no bar, since both would mix. With a ``plan``, each line names
    the operator with the largest q-error so far.
    """
    mixed = sys.stdout.isatty()
    if wanted is False or (wanted is None and not watched(sys.stderr)):
        yield _show_wait
    elif watched(sys.stderr) and not mixed:
        with bar(sys.stderr) as (show, _):
            yield show
    else:
        yield _Lines(plan)


def _show_wait(progress: Progress) -> None:
    """Shows why a run waits for another start, even without progress."""
    if progress.phase == "waiting":
        say(f"{_PHASES['waiting']}: {progress.reason}")


def description(progress: Progress) -> str:
    """Returns the phase of a run, with its numbers or the reason to wait, as text."""
    if progress.phase == "waiting":
        return f"{_PHASES['waiting']}: {progress.reason}"
    counted = f": {counts(progress)}" if progress.phase == "running" else ""
    return f"{_PHASES[progress.phase]}{counted}"


def counts(progress: Progress) -> str:
    """Returns the number of edges and results so far, as text."""
    text = f"{progress.edges:,} edges, {progress.results:,} results"
    aside = [("late", progress.late), ("rejected", progress.rejected)]
    return text + "".join(f", {count:,} {what}" for what, count in aside if count)


class _Lines:
    """Shows a line every few seconds."""

    def __init__(self, plan: PhysicalPlan | None) -> None:
        self._plan = plan
        self._next = 0.0
        self._phase = ""
        self._lock = threading.Lock()

    def __call__(self, progress: Progress) -> None:
        with self._lock:
            now = time.monotonic()
            if progress.phase == "waiting":
                self._phase = progress.phase
                _show_wait(progress)
                return
            if progress.phase == self._phase and now < self._next:
                return
            self._phase, self._next = progress.phase, now + _SECONDS_BETWEEN_LINES
        done = "" if progress.fraction is None else f" {progress.fraction:.0%}"
        counted = f": {counts(progress)}" if progress.phase == "running" else ""
        say(f"{_PHASES[progress.phase]}{done}{counted}{self._furthest_off(progress)}")

    def _furthest_off(self, progress: Progress) -> str:
        if self._plan is None or not progress.operators:
            return ""
        from ..documents.picture import picture_of_plan
        from ..documents.runs import operator_documents
        from .render.measured import furthest_off

        operators = operator_documents(self._plan, progress.operators, progress.ticks)
        nodes = {done.node: done for done in operators}
        line = furthest_off(picture_of_plan(self._plan), nodes).strip()
        return f"; {line}" if line else ""


@contextmanager
def bar(stream: TextIO) -> Iterator[tuple[OnProgress, Callable[[str], None]]]:
    """Yields a progress bar at the bottom of a terminal, and a function to print above it."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeElapsedColumn(),
        console=Console(file=stream),
        transient=True,
        redirect_stdout=False,  # stdout is for results
    ) as display:
        task = display.add_task("starting", total=1.0, counted="")

        def show(progress: Progress) -> None:
            if progress.phase == "waiting":
                say_above(f"{_PHASES['waiting']}: {progress.reason}")
            if progress.fraction is None or (
                progress.phase == "reading" and progress.fraction >= 1
            ):
                # Spark may still be starting, or the input is unbounded: the progress is unknown.
                display.tasks[0].total = None  # update() cannot reset the total
                phase = "starting" if progress.phase == "reading" else progress.phase
                counted = counts(progress) if progress.phase == "running" else ""
                display.update(task, description=_PHASES[phase], counted=counted)
                return
            display.update(
                task,
                total=1.0,
                completed=progress.fraction,
                description=_PHASES[progress.phase],
                counted=counts(progress) if progress.phase == "running" else "",
            )

        def say_above(line: str) -> None:
            display.console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield show, say_above

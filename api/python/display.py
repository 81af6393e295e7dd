"""What a notebook shows: objects, and the progress of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import progress as terminal
from ..render import html

if TYPE_CHECKING:
    from ...algebra.plan import PhysicalPlan
    from ...executor.spark.report import Progress


def in_notebook() -> bool:
    """Returns whether this process serves a notebook, which shows HTML."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def displayed(shown: object) -> bool:
    """Shows an object in the notebook; returns False outside a notebook."""
    if not in_notebook():
        return False
    from IPython.display import display

    display(shown)
    return True


@contextmanager
def shown_progress(wanted: bool | None, plan: PhysicalPlan) -> Iterator[Callable[[Progress], None]]:
    """Yields a function that shows the progress of a run, in a notebook or on a terminal.

    Args:
        wanted: whether to show it; None for a notebook and a terminal only.
        plan: the plan of the run.
    """
    if wanted is False or not in_notebook():
        with terminal.shown_progress(wanted, plan) as show:
            yield show
        return
    bar = _NotebookBar()
    yield bar
    bar.end()


class _NotebookBar:
    """A bar in the output of a cell, updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        text = terminal.description(progress)
        self._show(html.progress_bar(text, progress.fraction))
        self._last = progress

    def end(self) -> None:
        """Shows the numbers of the end."""
        if self._last is not None:
            self._show(html.progress_bar(f"done: {terminal.counts(self._last)}", 1.0))

    def _show(self, bar: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(bar), display_id=True)
        else:
            self._handle.update(HTML(bar))

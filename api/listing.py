"""Lists of plans on the command line: progress on a terminal, and Ctrl-C to end a list early."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

import typer

from .console import say_warning, watched

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..optimizer.listing import ListingProgress, PlanListing

INTERRUPTED = 130
_ERASE = "\r\x1b[K"
_DOING = {
    "exploring": "finding all plans",
    "pricing": "pricing all operators",
    "ranking": "ranking",
    "sampling": "drawing plans",
    "counting": "counting",
}
_CUT = {"budget_ms": "the time was over", "cancelled": "it was interrupted"}


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether the user pressed Ctrl-C; a second one interrupts at once.

    Other threads get no signals, so there the function never returns true.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def shown_listing(plan: PhysicalPlan) -> Iterator[Callable[[ListingProgress], None] | None]:
    """Yields a function that shows progress in a line of stderr; None unless it is a terminal.

    ``plan`` is a plan of the query, in whose unit costs are shown.
    """
    if not watched(sys.stderr):
        yield None
        return
    from ..documents.picture import picture_of_plan

    per = picture_of_plan(plan).per

    def show(progress: ListingProgress) -> None:
        parts = [f"{_DOING[progress.doing]} ({progress.seconds:.1f} s)"]
        if progress.plans:
            parts.append(f"{progress.plans:,} {'plan' if progress.plans == 1 else 'plans'}")
        if progress.cost_bound is not None:
            parts.append(f"the others cost {per(progress.cost_bound)}/{per.sign} or more")
        _write(f"{_ERASE}{', '.join(parts)}; Ctrl-C ends the list")

    try:
        yield show
    finally:
        _write(_ERASE)


def stopped(listing: PlanListing) -> None:
    """Warns of a list that was cut, and ends the command with code 130 if the user did that."""
    if listing.stop_reason == "complete":
        return
    say_warning(f"the list of plans is incomplete: {_CUT[listing.stop_reason]}")
    if listing.stop_reason == "cancelled":
        raise typer.Exit(INTERRUPTED)


def _write(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()

"""How long tasks of a page block the main thread, from a trace of Chromium.

Lighthouse scores the total blocking time: of each task between the first paint and the end, the
part beyond 50 ms, on a processor that is four times slower. This module computes the same from the
processor time of the tasks, which other programs on the machine hardly change; Lighthouse takes
their wall time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser

PHONE: dict[str, Any] = {
    "viewport": {"width": 412, "height": 823},
    "device_scale_factor": 1.75,
    "is_mobile": True,
    "has_touch": True,
}
"""The screen that Lighthouse measures with."""

LONG_MS = 50
"""A task blocks the page with the part of its time beyond this."""

SLOWDOWN = 4
"""How much slower the processor of a phone is, by the settings of Lighthouse."""

_CATEGORIES = ["toplevel", "loading", "devtools.timeline"]
_TASKS = ("ThreadControllerImpl::RunTask", "BlinkScheduler_PerformMicrotaskCheckpoint")
"""What continues after an answer of a request runs as microtasks: within a task, or behind it."""
_SETTLED_MS = 2_000
"""From the answer of the last document: long enough to draw the view on a busy machine."""


@dataclass(frozen=True, slots=True)
class Blocking:
    """The tasks of the main thread, at the slowdown.

    blocking_ms: the parts beyond 50 ms of the tasks after the first paint, together.
    longest_ms: the longest task after the first paint.
    busy_ms: all tasks, also before the first paint.
    """

    blocking_ms: float
    longest_ms: float
    busy_ms: float

    @staticmethod
    def of(events: Iterable[dict[str, Any]], slowdown: float = SLOWDOWN) -> Blocking:
        """Reads a trace of one page.

        Raises:
            ValueError: the page painted nothing during the trace.
        """
        events = list(events)
        painted = [event for event in events if event["name"] == "firstContentfulPaint"]
        if not painted:
            raise ValueError("the trace has no first paint")
        first = painted[-1]
        tasks = [
            (event["ts"], event["ts"] + event["dur"], slowdown * event["tdur"] / 1000)
            for event in _tasks(events, first["pid"], first["tid"])
        ]
        after = [ms for _, end, ms in tasks if end > first["ts"]]
        return Blocking(
            sum(max(0.0, ms - LONG_MS) for ms in after),
            max(after, default=0.0),
            sum(ms for _, _, ms in tasks),
        )


def _tasks(events: Iterable[dict[str, Any]], process: int, thread: int) -> Iterator[dict[str, Any]]:
    """The tasks of a thread in their order; one within another is a part of it."""
    whole = [
        event
        for event in events
        if event["name"] in _TASKS
        and "tdur" in event
        and (event["pid"], event["tid"]) == (process, thread)
    ]
    end = 0
    for event in sorted(whole, key=lambda one: (one["ts"], -one["dur"])):
        if event["ts"] >= end:
            end = event["ts"] + event["dur"]
            yield event


def traced(browser: Browser, address: str, answer: str, seen: str) -> Blocking:
    """Opens an address on the screen of a phone and returns how long its tasks block.

    Args:
        browser: opens the page with an empty profile.
        address: where the page lies, with the view and the plan.
        answer: a part of the address of the last document that the view fetches.
        seen: a selector that the drawn view matches.

    Raises:
        ValueError: the view was not drawn, or painted nothing.
    """
    context = browser.new_context(**PHONE)
    page = context.new_page()
    browser.start_tracing(page=page, categories=_CATEGORIES)
    # Nothing may be evaluated in the page meanwhile: that would be a task of its main thread.
    with page.expect_request_finished(lambda request: answer in request.url):
        page.goto(address, wait_until="commit")
    page.wait_for_timeout(_SETTLED_MS)
    trace = json.loads(browser.stop_tracing())
    drawn = page.locator(seen).count()
    context.close()
    if not drawn:
        raise ValueError(f"{address} shows nothing that matches {seen}")
    return Blocking.of(trace["traceEvents"])

"""A run that has ended, shown to a page as one that goes on and stands still at one moment.

Rates and times of a run differ each time, so a page that shows a run has no reference picture. Here
the page reads the service's own documents of the run, with fixed numbers in place of those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from typing import Any

from playwright.sync_api import Page, Route

MOMENTS = (0.15, 0.3, 0.45)
"""The parts of the input that have been read when the page looks; it then stays at the last."""

LISTED = re.compile(r"/queries$")
READ = re.compile(r"/queries/[0-9a-f]+$")
RESULTS = re.compile(r"/queries/[0-9a-f]+/results(\?|$)")


def freeze(page: Page) -> None:
    """Lets the page see its queries as running, until ``page.unroute_all()``."""
    moments = chain(MOMENTS, repeat(MOMENTS[-1]))
    page.route(LISTED, lambda route: _answer(route, repeat(MOMENTS[-1])))
    page.route(READ, lambda route: _answer(route, moments))
    page.route(RESULTS, _without_end)


def _answer(route: Route, moments: Iterator[float]) -> None:
    response = route.fetch()
    found: Any = response.json()
    fraction = next(moments)
    frozen = [_running(one, fraction) for one in found] if isinstance(found, list) else None
    route.fulfill(response=response, json=frozen or _running(found, fraction))


def _running(query: Mapping[str, Any], fraction: float) -> dict[str, Any]:
    """The document of a query that has read a part of its input."""
    read = round(1000 * fraction)
    progress = {
        "fraction": fraction,
        "phase": "running",
        "batch": read // 50,
        "edges": read,
        "results": read // 10,
        "seconds": 10 * fraction,
        "edges_per_second": 80.0 + read / 20,
        "results_per_second": 8.0,
        "state_entries": read * 3,
        "state_bytes": read * 300,
    }
    running: dict[str, Any] = {
        "state": "running",
        "ended": None,
        "progress": {**query["progress"], **progress},
    }
    if "operators" in query:
        running["operators"] = [_measured(one) for one in query["operators"]]
    return {**query, **running}


def _measured(operator: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of an operator with a fixed time in place of that of the run."""
    return {**operator, "seconds": 0.01 * (1 + operator["node"])}


def _without_end(route: Route) -> None:
    """The results without the event that tells the page that there will be no others."""
    if "last-event-id" in route.request.headers:
        route.fulfill(content_type="text/event-stream", body="")
        return
    response = route.fetch()
    events = response.text().split("\n\n")
    kept = [event for event in events if "event: end" not in event]
    route.fulfill(response=response, body="\n\n".join(kept))

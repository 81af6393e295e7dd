"""The public Python API of Headrace, a thin face over the other folders.

In: query text and a catalog or input files. Out: plans, or a running query.

Invariant: all faces (command line, REST, this API) call these functions and show the same
documents; every error that a user can do something about is a `HeadraceError`.

>>> from headrace import PlanRequest, PlanningOptions, optimize
>>> request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
>>> optimize(request).plan.columns
('x', 'y')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.documents import explain_document
    from headrace.errors import (
        HeadraceError,
        InvalidQueryError,
        RunError,
        StoppedError,
        UsageError,
    )
    from headrace.planning import Planned, Translated, optimize, translate_query
    from headrace.query_text import QueryText, load_query
    from headrace.requests import PlanningOptions, PlanRequest
    from headrace.running import inputs_of_plan, read_inputs, run_plan, stream

_HOME = {
    "HeadraceError": "errors",
    "InvalidQueryError": "errors",
    "PlanRequest": "requests",
    "Planned": "planning",
    "PlanningOptions": "requests",
    "QueryText": "query_text",
    "RunError": "errors",
    "StoppedError": "errors",
    "Translated": "planning",
    "UsageError": "errors",
    "explain_document": "documents",
    "inputs_of_plan": "running",
    "load_query": "query_text",
    "optimize": "planning",
    "read_inputs": "running",
    "run_plan": "running",
    "stream": "running",
    "translate_query": "planning",
}
"""The module of each name, imported when it is first asked for: to plan a query needs no
Spark, and a command line should answer at once."""

__all__ = [
    "HeadraceError",
    "InvalidQueryError",
    "PlanRequest",
    "Planned",
    "PlanningOptions",
    "QueryText",
    "RunError",
    "StoppedError",
    "Translated",
    "UsageError",
    "explain_document",
    "inputs_of_plan",
    "load_query",
    "optimize",
    "read_inputs",
    "run_plan",
    "stream",
    "translate_query",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"headrace.{_HOME[name]}"), name)
    globals()[name] = value
    return value

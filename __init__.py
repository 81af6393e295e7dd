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
    from .documents.explained import explain_document
    from .planning.errors import (
        HeadraceError,
        InvalidQueryError,
        RunError,
        StoppedError,
        UsageError,
    )
    from .planning.planner import Planned, Translated, optimize, translate_query
    from .planning.query_text import QueryText, load_query
    from .planning.requests import PlanningOptions, PlanRequest
    from .running.runs import inputs_of_plan, read_inputs, run_plan, stream

_HOME = {
    "HeadraceError": "planning.errors",
    "InvalidQueryError": "planning.errors",
    "PlanRequest": "planning.requests",
    "Planned": "planning.planner",
    "PlanningOptions": "planning.requests",
    "QueryText": "planning.query_text",
    "RunError": "planning.errors",
    "StoppedError": "planning.errors",
    "Translated": "planning.planner",
    "UsageError": "planning.errors",
    "explain_document": "documents.explained",
    "inputs_of_plan": "running.runs",
    "load_query": "planning.query_text",
    "optimize": "planning.planner",
    "read_inputs": "running.runs",
    "run_plan": "running.runs",
    "stream": "running.runs",
    "translate_query": "planning.planner",
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
    value: object = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value

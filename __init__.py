"""The public Python API of Headrace; its names are defined in the folders below.

In: query text and a catalog or input files. Out: plans, or a running query.

Invariant: the command line and the REST service call these functions too, and show the same
documents. Every error that a user can fix is a `HeadraceError`.

>>> from headrace import PlanRequest, PlanningOptions, optimize
>>> request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
>>> optimize(request).plan.columns
('x', 'y')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

if TYPE_CHECKING:
    from .algebra.plan import PhysicalPlan
    from .catalog.model import Catalog
    from .documents.explained import explain_document
    from .executor.local import Result
    from .executor.spark.options import RunOptions
    from .executor.spark.report import Progress, RunReport
    from .executor.spark.results.sinks import ToFile, ToFolder, ToFunction, ToStdout
    from .executor.spark.session.session import SessionOptions
    from .planning.errors import (
        HeadraceError,
        InvalidQueryError,
        RunError,
        StoppedError,
        UsageError,
    )
    from .planning.loading import load_catalog, load_plan
    from .planning.planner import Planned, Translated, optimize, translate_query
    from .planning.query_text import QueryText, load_query
    from .planning.requests import PlanningOptions, PlanRequest
    from .running.analysis import analyze, results
    from .running.runs import inputs_of_plan, read_inputs, run_plan, spark_session, stream

__all__ = [
    "Catalog",
    "HeadraceError",
    "InvalidQueryError",
    "PhysicalPlan",
    "PlanRequest",
    "Planned",
    "PlanningOptions",
    "Progress",
    "QueryText",
    "Result",
    "RunError",
    "RunOptions",
    "RunReport",
    "SessionOptions",
    "StoppedError",
    "ToFile",
    "ToFolder",
    "ToFunction",
    "ToStdout",
    "Translated",
    "UsageError",
    "analyze",
    "explain_document",
    "inputs_of_plan",
    "load_catalog",
    "load_plan",
    "load_query",
    "optimize",
    "read_inputs",
    "results",
    "run_plan",
    "spark_session",
    "stream",
    "translate_query",
]

__getattr__ = lazily(
    __name__,
    {
        "algebra.plan": ("PhysicalPlan",),
        "catalog.model": ("Catalog",),
        "documents.explained": ("explain_document",),
        "executor.local": ("Result",),
        "executor.spark.options": ("RunOptions",),
        "executor.spark.report": ("Progress", "RunReport"),
        "executor.spark.session.session": ("SessionOptions",),
        "executor.spark.results.sinks": ("ToFile", "ToFolder", "ToFunction", "ToStdout"),
        "planning.errors": (
            "HeadraceError",
            "InvalidQueryError",
            "RunError",
            "StoppedError",
            "UsageError",
        ),
        "planning.loading": ("load_catalog", "load_plan"),
        "planning.planner": ("Planned", "Translated", "optimize", "translate_query"),
        "planning.query_text": ("QueryText", "load_query"),
        "planning.requests": ("PlanRequest", "PlanningOptions"),
        "running.analysis": ("analyze", "results"),
        "running.runs": ("inputs_of_plan", "read_inputs", "run_plan", "spark_session", "stream"),
    },
)

"""The public Python API of Headrace; its names are defined in the folders below.

In: query text and a catalog or input files. Out: plans, or a running query.

Invariant: the command line and the REST service call these functions too, and show the same
documents. Every error that a user can fix is a `HeadraceError`.

>>> import headrace
>>> planned = headrace.optimize("Answer(x, y) <- x (a/b)+ y", window="1d")
>>> planned.columns
('x', 'y')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

if TYPE_CHECKING:
    from .algebra.plan import PhysicalPlan
    from .api.python.alternatives import AlternativePlan, AlternativePlans
    from .api.python.magic import load_ipython_extension as load_ipython_extension
    from .api.python.optimizing import optimize
    from .api.python.planned import PlannedQuery
    from .api.python.rows import Rows
    from .catalog.model import Catalog
    from .documents.explained import explain_document
    from .executor.local import Result
    from .executor.spark.options import RunOptions
    from .executor.spark.report import Progress, RunReport
    from .executor.spark.results.sinks import (
        ToFile,
        ToFolder,
        ToFunction,
        ToKafka,
        ToSink,
        ToStdout,
    )
    from .executor.spark.session.options import SessionOptions
    from .planning.errors import (
        HeadraceError,
        InvalidQueryError,
        RunError,
        StoppedError,
        UsageError,
    )
    from .planning.listing import list_plans
    from .planning.loading import load_catalog, load_plan
    from .planning.planner import Planned
    from .planning.query_text import QueryText, load_query
    from .planning.requests import PlanningOptions, PlanRequest
    from .planning.translating import Translated, translate_query
    from .running.analysis import analyze, results
    from .running.outputs import output_of, write_stream
    from .running.runs import inputs_of_plan, read_inputs, run_plan, spark_session, stream

    __version__: str

__all__ = [
    "AlternativePlan",
    "AlternativePlans",
    "Catalog",
    "HeadraceError",
    "InvalidQueryError",
    "PhysicalPlan",
    "PlanRequest",
    "Planned",
    "PlannedQuery",
    "PlanningOptions",
    "Progress",
    "QueryText",
    "Result",
    "Rows",
    "RunError",
    "RunOptions",
    "RunReport",
    "SessionOptions",
    "StoppedError",
    "ToFile",
    "ToFolder",
    "ToFunction",
    "ToKafka",
    "ToSink",
    "ToStdout",
    "Translated",
    "UsageError",
    "analyze",
    "explain_document",
    "inputs_of_plan",
    "list_plans",
    "load_catalog",
    "load_plan",
    "load_query",
    "optimize",
    "output_of",
    "read_inputs",
    "results",
    "run_plan",
    "spark_session",
    "stream",
    "translate_query",
    "write_stream",
]

_lazy = lazily(
    __name__,
    {
        "algebra.plan": ("PhysicalPlan",),
        "api.python.alternatives": ("AlternativePlan", "AlternativePlans"),
        "api.python.magic": ("load_ipython_extension",),
        "api.python.optimizing": ("optimize",),
        "api.python.planned": ("PlannedQuery",),
        "api.python.rows": ("Rows",),
        "catalog.model": ("Catalog",),
        "documents.explained": ("explain_document",),
        "executor.local": ("Result",),
        "executor.spark.options": ("RunOptions",),
        "executor.spark.report": ("Progress", "RunReport"),
        "executor.spark.session.options": ("SessionOptions",),
        "executor.spark.results.sinks": (
            "ToFile",
            "ToFolder",
            "ToFunction",
            "ToKafka",
            "ToSink",
            "ToStdout",
        ),
        "planning.errors": (
            "HeadraceError",
            "InvalidQueryError",
            "RunError",
            "StoppedError",
            "UsageError",
        ),
        "planning.listing": ("list_plans",),
        "planning.loading": ("load_catalog", "load_plan"),
        "planning.planner": ("Planned",),
        "planning.query_text": ("QueryText", "load_query"),
        "planning.requests": ("PlanRequest", "PlanningOptions"),
        "planning.translating": ("Translated", "translate_query"),
        "running.analysis": ("analyze", "results"),
        "running.outputs": ("output_of", "write_stream"),
        "running.runs": ("inputs_of_plan", "read_inputs", "run_plan", "spark_session", "stream"),
    },
)


def __getattr__(name: str) -> object:
    """Imports a public name at its first use."""
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("headrace")
        except PackageNotFoundError:
            return "unknown"
    return _lazy(name)


def __dir__() -> list[str]:
    """Lists the public names, before they are imported too."""
    return sorted({*__all__, "__doc__", "__name__", "__version__"})

"""From options of the command line to a request, with the files that they name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.model import Catalog
from ..planning.errors import UsageError
from ..planning.loading import load_catalog
from ..planning.planner import Translated
from ..planning.query_text import QueryText, load_query
from ..planning.requests import PlanRequest
from .console import say_warning

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..catalog.edges import EdgeFile
    from ..catalog.live import LiveSource
    from .options import InputOptions, QueryOptions


def read_query(argument: str) -> QueryText:
    """The query or plan of an argument; errors as of `load_query`."""
    return load_query(argument, sys.stdin)


def read_catalog(path: Path | None) -> Catalog | None:
    """The catalog of a file; None without a file.

    Raises:
        UsageError: if it cannot be used, with file and line.
    """
    return None if path is None else load_catalog(path)


def plan_request(query: QueryText, asked: QueryOptions) -> PlanRequest:
    """The request to plan a query.

    Raises:
        UsageError: if it is a plan already, or catalog or inputs cannot be used.
    """
    if query.is_plan:
        raise UsageError(f"{query.name} is a plan, but this command takes a query")
    catalog = read_catalog(asked.catalog)
    for key, value in (("time_unit", asked.time_unit), ("vertex_type", asked.vertex_type)):
        if catalog is not None and value is not None:
            raise UsageError(
                f"--{key.replace('_', '-')} is for input without a catalog, and {asked.catalog} "
                f"says {key} itself",
                hint=f"change {key} there, or leave --catalog out",
            )
    # A catalog has statistics already; without one the inputs are measured.
    files, graph = files_of(asked) if catalog is None else ((), ())
    return PlanRequest(
        query.text,
        query.name,
        asked.language,
        catalog,
        files,
        asked.planning,
        graph,
        unit_of(asked.time_unit),
        asked.vertex_type or "string",
    )


def files_of(asked: InputOptions) -> tuple[tuple[EdgeFile, ...], tuple[EdgeFile, ...]]:
    """The files of the stream, and those of the stored graph.

    Raises:
        UsageError: if one cannot be used.
    """
    unit, kind = unit_of(asked.time_unit), asked.vertex_type or "string"
    layout = asked.columns is not None or asked.sep is not None
    if not (asked.input_ or asked.stored or asked.vertices or layout):
        return (), ()
    from ..running.runs import read_inputs, read_vertices

    files = read_inputs(asked.input_, asked.columns, asked.sep, time_unit=unit, vertex_type=kind)
    graph = read_inputs(asked.stored, stored=True, time_unit=unit, vertex_type=kind)
    return files, graph + read_vertices(asked.vertices, time_unit=unit, vertex_type=kind)


def inputs_to_run(
    plan: PhysicalPlan, asked: QueryOptions
) -> dict[str, tuple[EdgeFile, ...] | LiveSource]:
    """The inputs of each stream of a plan; errors as of `headrace.inputs_of_plan`."""
    from ..running.runs import inputs_of_plan

    return inputs_of_plan(
        plan,
        read_catalog(asked.catalog),
        asked.input_,
        asked.columns,
        asked.sep,
        stored=asked.stored,
        vertices=asked.vertices,
    )


def unit_of(time_unit: str | None) -> str:
    """The name of the unit of ``--time-unit``.

    Raises:
        UsageError: if it is empty.
    """
    from ..algebra.durations import unit

    if time_unit is not None and not time_unit.strip():
        raise UsageError("--time-unit is empty")
    return unit(time_unit or "second")


def warn(translated: Translated) -> None:
    """Writes the warnings of a query to stderr."""
    for warning in translated.warnings:
        say_warning(warning)


def spark_settings(conf: Sequence[str]) -> dict[str, str]:
    """The settings of ``--conf``.

    Raises:
        UsageError: if one is not of the form KEY=VALUE.
    """
    for text in conf:
        if "=" not in text:
            raise UsageError(f"--conf {text}: expected KEY=VALUE")
    return dict(text.split("=", 1) for text in conf)


def per_second(speed: str, time_unit: str) -> float:
    """The time units per second of ``--speed``, which is a number or a length of time.

    Raises:
        UsageError: if it is neither.
    """
    from ..algebra.durations import DurationError, ticks

    try:
        return float(speed)
    except ValueError:
        pass
    try:
        return ticks(speed, time_unit)
    except DurationError as error:
        raise UsageError(f"--speed: {error}") from error


def trigger_interval(trigger: str, at_once: str) -> str | None:
    """The interval of ``--trigger`` in Spark's form; None for as fast as possible.

    Raises:
        UsageError: if it is neither ``at_once`` nor a length of time with its unit.
    """
    from ..algebra.durations import DurationError, ticks

    if trigger == at_once:
        return None
    try:
        milliseconds = 0 if trigger.strip().isdecimal() else ticks(trigger, "millisecond")
    except DurationError as error:
        raise UsageError(f"--trigger: {error}; or {at_once}") from error
    if not milliseconds:
        raise UsageError(
            f"--trigger: expected {at_once} or a length of time with its unit, as '10 seconds', "
            f"got {trigger!r}"
        )
    return f"{milliseconds} milliseconds"

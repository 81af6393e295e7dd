"""Builds requests from options of the command line, with the files that the options name."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..catalog.model import Catalog
from ..planning.errors import UsageError
from ..planning.loading import load_catalog
from ..planning.query_text import QueryText, load_query
from ..planning.requests import PlanRequest
from ..planning.translating import Translated
from .console import say_warning

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..catalog.edges import EdgeFile
    from ..catalog.live import LiveSource
    from ..running.feedback import Recorder
    from .options import InputOptions, QueryOptions

_MASTER: Final = re.compile(r"local(\[[\d*]+(,\d+)?\])?|spark://[^\s:]+:\d+\S*|yarn|k8s://\S+")


def read_query(argument: str) -> QueryText:
    """Reads the query or plan of an argument; raises the errors of `load_query`."""
    return load_query(argument, sys.stdin)


def read_catalog(path: Path | None, *, sample: bool = True) -> Catalog | None:
    """Reads the catalog of a file; returns None without a file.

    Args:
        path: the file.
        sample: whether the catalog keeps the name of its file of samples.

    Raises:
        UsageError: if the catalog cannot be used, with file and line.
    """
    if path is None:
        return None
    catalog = load_catalog(path)
    return catalog if sample else replace(catalog, sample_file=None)


def catalog_of(options: QueryOptions) -> Catalog | None:
    """Reads the catalog of a command, whose measured figures are of the inputs that it names.

    Raises:
        UsageError: if the catalog cannot be used, with file and line.
    """
    catalog = read_catalog(options.catalog)
    if catalog is None or catalog.feedback is None:
        return catalog
    named = (*options.input_, *options.stored, *options.vertices)
    return replace(catalog, feedback=catalog.feedback.over(named))


def recorder(plan: PhysicalPlan, options: QueryOptions, output: str = "-") -> Recorder:
    """Returns what keeps the measured figures of a run, if its options allow that.

    A run that resumes another one has the same ``output``, and replaces its figures.
    """
    from ..running.feedback import Recorder, name_of_run

    catalog = catalog_of(options) if options.feedback else None
    run = name_of_run(plan, output)
    return Recorder(plan, None if catalog is None else catalog.feedback, run)


def plan_request(query: QueryText, options: QueryOptions) -> PlanRequest:
    """Builds the request to plan a query.

    Raises:
        UsageError: if the text is a plan, or catalog or inputs cannot be used.
    """
    if query.is_plan:
        raise UsageError(f"{query.name} is a plan, but this command takes a query")
    catalog = catalog_of(options)
    for key, value in (("time_unit", options.time_unit), ("vertex_type", options.vertex_type)):
        if catalog is not None and value is not None:
            raise UsageError(
                f"--{key.replace('_', '-')} is for input without a catalog, and {options.catalog} "
                f"says {key} itself",
                hint=f"change {key} there, or leave --catalog out",
            )
    # Planning measures the inputs only without a catalog.
    files, graph = files_of(options) if catalog is None else ((), ())
    return PlanRequest(
        query.text,
        query.name,
        options.language,
        catalog,
        files,
        options.planning,
        graph,
        unit_of(options.time_unit),
        options.vertex_type or "string",
    )


def files_of(options: InputOptions) -> tuple[tuple[EdgeFile, ...], tuple[EdgeFile, ...]]:
    """Returns the files of the stream, and the files of the stored graph.

    Raises:
        UsageError: if a file cannot be used.
    """
    unit, kind = unit_of(options.time_unit), options.vertex_type or "string"
    layout = options.columns is not None or options.sep is not None
    if not (options.input_ or options.stored or options.vertices or layout):
        return (), ()
    from ..running.runs import read_inputs, read_vertices

    files = read_inputs(
        options.input_, options.columns, options.sep, time_unit=unit, vertex_type=kind
    )
    graph = read_inputs(options.stored, stored=True, time_unit=unit, vertex_type=kind)
    vertices = read_vertices(options.vertices, time_unit=unit, vertex_type=kind)
    return _by_options(files), _by_options(graph + vertices)


def _by_options(files: tuple[EdgeFile, ...]) -> tuple[EdgeFile, ...]:
    """The files, described by options unless a catalog describes them."""
    return tuple(
        replace(file, origin="options") if file.origin == "arguments" else file for file in files
    )


def inputs_to_run(
    plan: PhysicalPlan, options: QueryOptions
) -> dict[str, tuple[EdgeFile, ...] | LiveSource]:
    """Returns the inputs of each stream; raises the errors of `headrace.inputs_of_plan`."""
    from ..running.runs import inputs_of_plan

    inputs = inputs_of_plan(
        plan,
        catalog_of(options),
        options.input_,
        options.columns,
        options.sep,
        stored=options.stored,
        vertices=options.vertices,
    )
    return {
        name: _by_options(source) if isinstance(source, tuple) else source
        for name, source in inputs.items()
    }


def unit_of(time_unit: str | None) -> str:
    """Returns the time unit of ``--time-unit``.

    Raises:
        UsageError: if the unit is empty.
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
    """Returns the settings of ``--conf``.

    Raises:
        UsageError: if a setting does not have the form KEY=VALUE.
    """
    for text in conf:
        if "=" not in text:
            raise UsageError(f"--conf {text}: expected KEY=VALUE")
    return dict(text.split("=", 1) for text in conf)


def master_url(master: str | None, conf: Mapping[str, str]) -> str | None:
    """Returns the address of ``--master``, as Spark takes it; None without one.

    Raises:
        UsageError: if it is not the address of a kind of cluster that Spark knows, or ``conf`` has
            one as well.
    """
    if master is None:
        return None
    if "spark.master" in conf:
        raise UsageError("--master and --conf spark.master: give one of them")
    if not _MASTER.fullmatch(master):
        raise UsageError(
            f"--master {master}: this is not the address of a cluster",
            hint="expected spark://HOST:PORT, yarn, k8s://URL, or local[N] for local mode",
        )
    return master


def per_second(speed: str, time_unit: str) -> float:
    """Returns the time units per second of ``--speed``, a number or a length of time.

    Raises:
        UsageError: if the speed is neither.
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
    """Returns the interval of ``--trigger`` for Spark; None for as fast as possible.

    Raises:
        UsageError: if the trigger is neither ``at_once`` nor a length of time with its unit.
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

"""Parses a query and translates it over its streams: the first two stages of planning.

In: a :class:`PlanRequest`. Out: a :class:`Translated`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..algebra import durations
from ..algebra.deadline import LEAST_MS, Deadline, OutOfTimeError
from ..algebra.logical import LogicalExpression, LogicalQuery, PathSemantics, WScan, WScanUnion
from ..algebra.plan_parts import PlanStream
from ..algebra.remedy import Remedy
from ..algebra.window import Window
from ..catalog.model import Catalog, Stream
from ..languages import QueryError, RegularQuery, detect, parse
from ..languages.translation.canonical import translate
from .errors import InvalidQueryError, UsageError
from .measuring import catalog_of, time_unit_of
from .requests import PlanningOptions, PlanRequest


@dataclass(frozen=True)
class Translated:
    """A parsed and translated query.

    Attributes:
        request: the request to plan.
        language: the language of the text.
        regular_query: the parsed query.
        catalog: the catalog to plan with, measured or assumed statistics included.
        logical: the canonical expression over the streams of the catalog.
        doubts: warnings about the input.
    """

    request: PlanRequest
    language: str
    regular_query: RegularQuery
    catalog: Catalog
    logical: LogicalQuery
    doubts: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the parser, of the translation and about the input."""
        return (*self.regular_query.warnings, *self.logical.warnings, *self.doubts)


def deadline_of(options: PlanningOptions, cancelled: Callable[[], bool] | None = None) -> Deadline:
    """Starts the deadline of a request; the deadline bounds all steps of planning."""
    return Deadline(options.budget_ms, cancelled)


def translate_query(request: PlanRequest, deadline: Deadline | None = None) -> Translated:
    """Parses a query and translates it over its streams.

    Args:
        request: the query, its streams and options.
        deadline: the deadline of the whole request; by default a new one.

    Raises:
        InvalidQueryError: for an invalid query, with the position of the mistake.
        UsageError: for unusable inputs, or an unusable catalog or window.
    """
    deadline = deadline or deadline_of(request.options)
    doubts: tuple[str, ...] = ()
    try:
        language = request.language or detect(request.query, request.name)
        unit, parameters = time_unit_of(request), request.options.parameters
        query = parse(request.query, language, unit, deadline, parameters)
        catalog, doubts = catalog_of(request, query, deadline)
        window = default_window(request.options, catalog.time_unit)
        semantics = PathSemantics(request.options.path_semantics)
        logical = translate(query, catalog, window, semantics, deadline)
    except OutOfTimeError as error:
        raise out_of_time(error, request.options) from error
    except QueryError as error:
        raise InvalidQueryError(error, request.query, doubts) from error
    return Translated(request, language, query, catalog, logical, doubts)


def default_window(options: PlanningOptions, time_unit: str) -> Window | None:
    """Returns the window for queries without one, from the options ``window`` and ``slide``.

    Raises:
        UsageError: if a length is wrong, or the slide has no window.
    """
    if options.window is None:
        if options.slide is not None:
            raise UsageError(
                "there is a default slide without a default window",
                code="E-WINDOW",
                remedies=(Remedy("window", "give the length of the window too", "24h"),),
            )
        return None
    try:
        range_ = durations.ticks(options.window, time_unit)
        slide = 1 if options.slide is None else durations.ticks(options.slide, time_unit)
    except durations.DurationError as error:
        raise UsageError(f"the default window: {error}", code="E-WINDOW") from error
    if range_ == 0 or slide == 0:
        wrong = f"window is {options.window}" if range_ == 0 else f"slide is {options.slide}"
        raise UsageError(
            f"the default {wrong}, but must be longer than zero",
            code="E-WINDOW",
            hint="give a length such as 24h",
        )
    if slide > range_:
        raise UsageError(
            f"the default slide of {options.slide or 1} is longer than the default window of "
            f"{options.window}",
            code="E-WINDOW",
            hint="edges would be lost between windows; give a slide of at most the window's length",
        )
    return Window(range_, slide)


def plan_streams(translated: Translated) -> tuple[PlanStream, ...]:
    """Returns the parts of the streams that the query reads, for its plan."""
    query, catalog = translated.logical, translated.catalog
    labels: dict[str, set[str]] = {}
    properties: dict[str, set[str]] = {}
    pending: list[LogicalExpression] = [query.expression]
    seen: set[int] = set()
    while pending:
        expression = pending.pop()
        if id(expression) in seen:
            continue
        seen.add(id(expression))
        if isinstance(expression.operator, WScan | WScanUnion):
            for scan in expression.operator.scans:
                labels.setdefault(scan.stream, set()).add(scan.label)
                properties.setdefault(scan.stream, set()).update(scan.properties)
        pending.extend(expression.inputs)
    return tuple(
        PlanStream(
            name=name,
            labels=tuple(sorted(labels[name])),
            vertex_type=catalog.streams[name].vertex_type,
            properties={
                property_: catalog.streams[name].properties[property_]
                for property_ in sorted(properties[name] - {"ts"})
            },
            delay=catalog.streams[name].delay,
            idle_ms=catalog.streams[name].idle_ms,
        )
        for name in sorted(labels)
    )


def streams_read(translated: Translated) -> list[Stream]:
    """Returns the streams that the query reads."""
    return [translated.catalog.streams[stream.name] for stream in plan_streams(translated)]


def out_of_time(error: OutOfTimeError, options: PlanningOptions) -> UsageError:
    """Returns the error for a time limit that passed before there was a plan."""
    if error.reason == "cancelled":
        return UsageError(f"planning was cancelled while {error.doing}", code="E-SIZE")
    most = max(options.budget_ms or 0.0, LEAST_MS)
    return UsageError(
        f"the query is too large for {most:,.0f} ms: the time ran out while {error.doing}",
        code="E-SIZE",
        hint="allow more time, or make the query smaller: use fewer atoms, labels or repeats, "
        "or move parts into separate rules",
    )

"""Plans a query: parse, translate, search.

In: a :class:`PlanRequest`. Out: a :class:`Planned` with the result of each stage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from ..algebra import durations
from ..algebra.deadline import LEAST_MS, Deadline, OutOfTimeError
from ..algebra.logical import (
    LogicalExpression,
    LogicalQuery,
    PathSemantics,
    Rewindow,
    WScan,
    WScanUnion,
)
from ..algebra.plan import PhysicalPlan, PlanStream
from ..algebra.remedy import Remedy
from ..algebra.window import Window
from ..catalog.model import Catalog, Stream
from ..costmodel import Constants, CostModel
from ..languages import QueryError, RegularQuery, detect, parse
from ..languages.translation.canonical import translate
from ..languages.translation.reports import operators_in, windows_in
from ..optimizer import CannotPlanError, Optimizer, Options, SearchResult
from ..optimizer.options import MARGIN
from ..optimizer.trace import Tracing
from ..rules.registry import UnknownRuleError
from .errors import InvalidQueryError, UsageError
from .measuring import catalog_of, time_unit_of
from .requests import PlanningOptions, PlanRequest

if TYPE_CHECKING:
    from ..costmodel.feedback import Feedback
    from ..costmodel.sampling.estimator import Sampler


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


@dataclass(frozen=True)
class Planned(Translated):
    """A query with the result of the search, and the cost model of the search."""

    cost_model: CostModel
    optimization: SearchResult

    @property
    def plan(self) -> PhysicalPlan:
        """The chosen plan."""
        return self.optimization.plan


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
        query = parse(request.query, language, time_unit_of(request), deadline)
        catalog, doubts = catalog_of(request, query, deadline)
        window = default_window(request.options, catalog.time_unit)
        semantics = PathSemantics(request.options.path_semantics)
        logical = translate(query, catalog, window, semantics, deadline)
    except OutOfTimeError as error:
        raise _out_of_time(error, request.options) from error
    except QueryError as error:
        raise InvalidQueryError(error, request.query, doubts) from error
    return Translated(request, language, query, catalog, logical, doubts)


def optimize(request: PlanRequest, *, trace: bool | Tracing = False) -> Planned:
    """Finds the cheapest plan of a query; ``trace`` records the steps of the search.

    Raises:
        InvalidQueryError: for an invalid query, with the position of the mistake.
        UsageError: for any other mistake in the request.
    """
    deadline = deadline_of(request.options)
    return plan_translated(translate_query(request, deadline), trace=trace, deadline=deadline)


def plan_translated(
    translated: Translated,
    *,
    trace: bool | Tracing = False,
    deadline: Deadline | None = None,
) -> Planned:
    """Finds the cheapest plan of a translated query.

    Args:
        translated: the query.
        trace: whether to record the steps of the search, and which ones.
        deadline: the deadline of the whole request; by default a new one. When it passes, or the
            caller cancels, the search ends with the best plan so far.

    Raises:
        UsageError: if options contradict the query, or the search finds no plan in time.
    """
    options = translated.request.options
    deadline = deadline or deadline_of(options)
    _check_deletions(translated)
    cost_model = CostModel(
        options.cost_model,
        translated.catalog,
        options.constants or Constants(),
        parallelism=options.parallelism,
        sampler=_sampler(translated),
        feedback=_feedback(translated),
    )
    defaults = Options()
    thesis = options.cost_model == "thesis"
    streams = _plan_streams(translated.logical, translated.catalog)
    search_options = Options(
        disabled_rules=frozenset(options.disabled_rules),
        budget_ms=options.budget_ms,
        budget_expressions=options.budget_expressions or defaults.budget_expressions,
        parallelism=options.parallelism,
        simple_budget=options.simple_budget,
        evaluate_every=_evaluate_every(translated),
        margin=0.0 if thesis else MARGIN,
        shared_costs=not thesis,
    )
    try:
        optimization = Optimizer(cost_model, search_options).optimize(
            translated.logical,
            streams,
            translated.catalog.time_unit,
            trace=trace,
            deadline=deadline,
        )
    except OutOfTimeError as error:
        raise _out_of_time(error, options) from error
    except UnknownRuleError as error:
        raise UsageError(str(error), code="E-RULE") from error
    except CannotPlanError as error:
        raise UsageError(
            f"no plan was found: {error}",
            code="E-PLAN",
            hint="enable the disabled rules: the query may need one of them",
        ) from error
    return Planned(
        translated.request,
        translated.language,
        translated.regular_query,
        translated.catalog,
        translated.logical,
        translated.doubts,
        cost_model,
        optimization,
    )


def _sampler(translated: Translated) -> Sampler | None:
    """Returns what estimates the query's paths and joins from samples of its streams.

    The model ``thesis``, catalogs without samples and the option ``sample`` leave them out.
    """
    options = translated.request.options
    if options.cost_model == "thesis" or not (options.sample and translated.catalog.samples):
        return None
    from ..costmodel.sampling.estimator import sampler_of
    from ..costmodel.sampling.relations import scanned
    from .conditions import satisfying

    scans = [
        scanned(scan)
        for operator in operators_in(translated.logical.expression)
        if isinstance(operator, WScan | WScanUnion)
        for scan in operator.scans
    ]
    return sampler_of(translated.catalog, scans, satisfying(translated.catalog))


def _feedback(translated: Translated) -> Feedback | None:
    """Returns the figures that earlier runs measured; None without any, or if they are not used."""
    options, catalog = translated.request.options, translated.catalog
    if not options.feedback or options.cost_model == "thesis":
        return None
    if catalog.feedback is None or not catalog.measured:
        return None
    from ..costmodel.feedback import Feedback

    return Feedback(catalog.feedback, catalog.measured)


def _out_of_time(error: OutOfTimeError, options: PlanningOptions) -> UsageError:
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


def _check_deletions(translated: Translated) -> None:
    """Refuses simple paths over streams with deletions: no operator computes them."""
    if translated.logical.semantics is PathSemantics.ARBITRARY:
        return
    deleting = [stream.name for stream in _streams_read(translated) if stream.deletions]
    if deleting:
        raise UsageError(
            f"simple paths need streams without deletions, but {deleting[0]} has deletions",
            code="E-PLAN",
            hint="declare the stream without deletions",
            remedies=(Remedy("path_semantics", "ask for arbitrary paths", "arbitrary"),),
        )


_EAGER = (Remedy("evaluate", "evaluate at every instant", "eager"),)


def _evaluate_every(translated: Translated) -> int | None:
    """Returns the period of an evaluation per slide: the greatest common divisor of all slides.

    Returns None for evaluation at every instant, and for queries over stored graphs only.

    Raises:
        UsageError: if the query has EMIT, deletions or windowed views.
    """
    if translated.request.options.evaluate == "eager":
        return None
    if translated.regular_query.emit is not None:
        raise UsageError(
            "evaluation once per slide excludes EMIT, which sets its own instants",
            code="E-PLAN",
            hint="leave EMIT out: each result then has its validity interval",
            remedies=_EAGER,
        )
    deleting = [s.name for s in _streams_read(translated) if s.deletions]
    if deleting:
        raise UsageError(
            f"evaluation once per slide needs streams without deletions, but {deleting[0]} has "
            "deletions",
            code="E-PLAN",
            hint="declare the stream without deletions",
            remedies=_EAGER,
        )
    for operator in operators_in(translated.logical.expression):
        if isinstance(operator, Rewindow):
            raise UsageError(
                "evaluation once per slide excludes windowed views",
                code="E-PLAN",
                remedies=_EAGER,
            )
    windows = windows_in(translated.logical.expression)
    return gcd(*(window.slide for window in windows)) or None


def _streams_read(translated: Translated) -> list[Stream]:
    read = _plan_streams(translated.logical, translated.catalog)
    return [translated.catalog.streams[stream.name] for stream in read]


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


def _plan_streams(query: LogicalQuery, catalog: Catalog) -> tuple[PlanStream, ...]:
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

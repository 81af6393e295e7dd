"""Plans a query: parse, translate, search.

In: a :class:`PlanRequest`. Out: a :class:`Planned` with the result of each stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra.deadline import Deadline, OutOfTimeError
from ..algebra.logical import WScan, WScanUnion
from ..algebra.plan import PhysicalPlan
from ..costmodel import Constants, CostModel
from ..languages.translation.reports import operators_in
from ..optimizer import CannotPlanError, Optimizer, Options, SearchResult
from ..optimizer.events import Listener
from ..optimizer.options import MARGIN
from ..optimizer.trace import Tracing
from ..rules.registry import UnknownRuleError
from .errors import UsageError
from .requests import PlanRequest
from .supported import check_combinations, evaluate_every
from .translating import Translated, deadline_of, out_of_time, plan_streams, translate_query

if TYPE_CHECKING:
    from ..costmodel.feedback import Feedback
    from ..costmodel.sampling.estimator import Sampler


@dataclass(frozen=True)
class Planned(Translated):
    """A query with the result of the search, and the cost model of the search."""

    cost_model: CostModel
    optimization: SearchResult

    @property
    def plan(self) -> PhysicalPlan:
        """The chosen plan."""
        return self.optimization.plan


def optimize(
    request: PlanRequest,
    *,
    trace: bool | Tracing = False,
    cancelled: Callable[[], bool] | None = None,
) -> Planned:
    """Finds the cheapest plan of a query.

    Args:
        request: the query, its streams and options.
        trace: whether to record the steps of the search, and which ones.
        cancelled: polled during planning; once it returns true, the search ends with the best plan
            so far.

    Raises:
        InvalidQueryError: for an invalid query, with the position of the mistake.
        UsageError: for any other mistake in the request.
    """
    deadline = deadline_of(request.options, cancelled)
    return plan_translated(translate_query(request, deadline), trace=trace, deadline=deadline)


def plan_translated(
    translated: Translated,
    *,
    trace: bool | Tracing = False,
    deadline: Deadline | None = None,
    listeners: Sequence[Listener] = (),
) -> Planned:
    """Finds the cheapest plan of a translated query.

    Args:
        translated: the query.
        trace: whether to record the steps of the search, and which ones.
        deadline: the deadline of the whole request; by default a new one. When it passes, or the
            caller cancels, the search ends with the best plan so far.
        listeners: receive the events of the search.

    Raises:
        UsageError: if options contradict the query, or the search finds no plan in time.
    """
    options = translated.request.options
    deadline = deadline or deadline_of(options)
    check_combinations(translated)
    cost_model = CostModel(
        options.cost_model,
        translated.catalog,
        options.constants or Constants(),
        parallelism=options.parallelism,
        sampler=_sampler(translated, deadline),
        feedback=_feedback(translated),
    )
    defaults = Options()
    thesis = options.cost_model == "thesis"
    search_options = Options(
        disabled_rules=frozenset(options.disabled_rules),
        budget_ms=options.budget_ms,
        budget_expressions=options.budget_expressions or defaults.budget_expressions,
        parallelism=options.parallelism,
        simple_budget=options.simple_budget,
        evaluate_every=evaluate_every(translated),
        margin=0.0 if thesis else MARGIN,
        shared_costs=not thesis,
    )
    try:
        optimization = Optimizer(cost_model, search_options).optimize(
            translated.logical,
            plan_streams(translated),
            translated.catalog.time_unit,
            listeners,
            trace=trace,
            deadline=deadline,
        )
    except OutOfTimeError as error:
        raise out_of_time(error, options) from error
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


def _sampler(translated: Translated, deadline: Deadline) -> Sampler | None:
    """Returns what estimates the query's paths and joins from samples of its streams.

    The model ``thesis``, catalogs without samples and the option ``sample`` leave them out.
    """
    options = translated.request.options
    if options.cost_model == "thesis" or not (options.sample and translated.catalog.samples):
        return None
    from ..costmodel.sampling import compiled
    from ..costmodel.sampling.building import scanned
    from ..costmodel.sampling.estimator import sampler_of
    from .conditions import checking, satisfying

    with deadline.paused():
        compiled.prepare()
    scans = [
        scanned(scan)
        for operator in operators_in(translated.logical.expression)
        if isinstance(operator, WScan | WScanUnion)
        for scan in operator.scans
    ]
    catalog = translated.catalog
    return sampler_of(catalog, scans, satisfying(catalog), checking=checking(catalog))


def _feedback(translated: Translated) -> Feedback | None:
    """Returns the figures that earlier runs measured; None without any, or if they are not used."""
    options, catalog = translated.request.options, translated.catalog
    if not options.feedback or options.cost_model == "thesis":
        return None
    if catalog.feedback is None or not catalog.measured:
        return None
    from ..costmodel.feedback import Feedback

    return Feedback(catalog.feedback, catalog.measured)

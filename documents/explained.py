"""The chosen plan of a query, and the numbers of the search for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ..optimizer.budget import StopReason
from ..optimizer.steps import in_order
from ..planning.planner import Planned
from .feedback import FeedbackDocument, feedback_documents, feedback_facts
from .model import Document, Optional
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document
from .query import StageDocument, canonical_text, stage_head
from .runs import AnalysisDocument, analysis_document
from .trace import Steps, steps_document
from .why import Reason, reason_documents

if TYPE_CHECKING:
    from ..running.analysis import Analysis


MinimisedCost = Literal["cost", "shared_cost"]


class RuleStatistics(Document):
    """The counters of a rule in the search.

    ``bindings`` counts matches of the rule, ``fired`` its results, and ``duplicates`` the results
    that the memo had before. ``ms`` is the time of the rule in milliseconds.
    """

    bindings: int
    fired: int
    duplicates: int
    ms: float


class MemoStatistics(Document):
    """The size of the memo, and the counters of each rule.

    Attributes:
        groups: the number of groups.
        expressions: the number of logical expressions.
        physical_expressions: the number of physical expressions that were costed.
        merges: the number of group merges.
        rules: the counters by the name of the rule.
    """

    groups: int
    expressions: int
    physical_expressions: int
    merges: int
    rules: dict[str, RuleStatistics]


class Symbol(Document):
    """A symbol of a formula, its value and its meaning."""

    value: float
    meaning: str


class FormulaLine(Document):
    """A line of a formula: ``symbol = equation = numbers = value``."""

    symbol: str
    equation: str
    numbers: str
    value: float

    def __str__(self) -> str:
        return f"{self.symbol} = {self.equation} = {self.numbers} = {self.value:.6g}"


class Formula(Document):
    """The cost of an operator, with all numbers.

    Attributes:
        formula: the number of the formula in the thesis; null for a formula of Headrace.
        name: the name of the formula.
        symbols: the symbols of all lines.
        lines: the equations, in the order of their computation.
        cost: the value of the formula, in microseconds per time unit.
    """

    formula: int | None
    name: str
    symbols: dict[str, Symbol]
    lines: tuple[FormulaLine, ...]
    cost: float

    def __str__(self) -> str:
        title = f"formula {self.formula}" if self.formula else "formula of Headrace"
        return "\n".join([f"{self.name} ({title})", *map(str, self.lines)])


class SampledEstimates(Document):
    """The estimates from a sample of the stream.

    Attributes:
        estimates: the number of relations that were estimated from the sample.
        ms: the time of the estimates, in milliseconds.
        steps: the edges and rows that the estimates read.
        standard_errors: the standard error of the rows held, as a part of them, by id of a node
            whose estimate is from the sample.
    """

    estimates: int
    ms: float
    steps: int
    standard_errors: dict[str, float]


class KeptAsWritten(Document):
    """The reason for which the plan is the query as written, although another plan costs less.

    Attributes:
        cheapest_cost: the cost of the cheapest plan, as ``minimised`` says, in microseconds per
            time unit.
        error: the error of its difference to the cost of the plan, in the same unit.
    """

    cheapest_cost: float
    error: float


class Explained(StageDocument):
    """The chosen plan of a query, and the numbers of the search for it.

    Attributes:
        canonical: the canonical expression as a tree.
        stop_reason: why the search ended.
        optimize_ms: the time of the search, in milliseconds.
        memo: the size of the memo, and the counters of each rule.
        statistics: the source of the statistics.
        cost_model: the name of the cost model.
        minimised: the field with the cost that the search minimised.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        canonical_cost: the cost of the query as written, in the unit of ``cost``.
        canonical_shared_cost: the same, with shared parts counted once.
        plan: the chosen plan.
        kept_as_written: why the plan is the query as written; absent if it is the cheapest plan.
        sampling: the estimates from a sample of the stream; absent without a sample.
        feedback: the figures of earlier runs that are estimates, by node id; absent without any.
        costs: the cost formula of each node, by node id.
        why: the reason for each node, by node id.
    """

    canonical: str
    stop_reason: StopReason
    optimize_ms: float
    memo: MemoStatistics
    statistics: Literal["catalog", "measured", "assumed"]
    cost_model: str
    minimised: MinimisedCost
    cost: float
    shared_cost: float
    canonical_cost: float
    canonical_shared_cost: float
    plan: PlanDocument
    kept_as_written: Optional[KeptAsWritten] = None
    sampling: Optional[SampledEstimates] = None
    feedback: Optional[dict[str, FeedbackDocument]] = None
    costs: Optional[dict[str, Formula]] = None
    why: Optional[dict[str, Reason]] = None


class Traced(Explained):
    """A plan, and the steps of the search for it."""

    trace: Steps


class Physical(Explained):
    """The stage ``physical``: a plan, with the trace of a traced search.

    ``measured`` has the measured numbers if the plan was run. ``constants_origin`` says where and
    when the constants of the cost model were measured; it is absent for the shipped constants.
    """

    trace: Optional[Steps] = None
    measured: Optional[AnalysisDocument] = None
    constants_origin: Optional[str] = None
    picture: PictureDocument = Field(exclude=True)


def explained(planned: Planned, *, costs: bool = False, why: bool = False) -> Explained:
    """Builds the document of a plan and of the search for it.

    Args:
        planned: the outcome of planning.
        costs: whether to add the formula of the cost of each node.
        why: whether to add the reason for each node.
    """
    result = planned.optimization
    return Explained(
        **stage_head(planned),
        canonical=canonical_text(planned),
        stop_reason=result.stop_reason,
        optimize_ms=round(result.optimize_ms, 3),
        memo=memo_statistics(planned),
        statistics=_statistics_from(planned),
        cost_model=planned.cost_model.kind,
        minimised=minimised(planned),
        cost=result.cost,
        shared_cost=result.shared_cost,
        canonical_cost=result.canonical_cost,
        canonical_shared_cost=result.canonical_shared_cost,
        plan=plan_document(planned.plan),
        kept_as_written=_kept_as_written(planned),
        sampling=_sampling(planned),
        feedback=feedback_documents(planned),
        costs=_formulas(planned) if costs else None,
        why=reason_documents(planned) if why else None,
    )


def traced_document(planned: Planned, most_steps: int) -> Traced:
    """Builds the document of a traced search, with at most ``most_steps`` steps of each kind."""
    trace = planned.optimization.trace
    assert trace is not None
    return Traced(
        **dict(explained(planned, why=True)), trace=steps_document(planned, trace.first(most_steps))
    )


def physical_document(
    planned: Planned, *, costs: bool = False, why: bool = False, analysis: Analysis | None = None
) -> Physical:
    """Builds the document of the stage ``physical``.

    Args:
        planned: the outcome of planning.
        costs: whether to add the formula of the cost of each node.
        why: whether to add the reason for each node.
        analysis: the analysis of a run of the plan.
    """
    trace = planned.optimization.trace
    shown = explained(planned, costs=costs, why=why)
    return Physical(
        **dict(shown),
        trace=None if trace is None else steps_document(planned, trace),
        measured=None if analysis is None else analysis_document(analysis),
        constants_origin=planned.request.options.constants_origin,
        picture=picture_of_plan(planned.plan, feedback_facts(shown.feedback)),
    )


def explain_document(
    planned: Planned, *, costs: bool = False, why: bool = False, analysis: Analysis | None = None
) -> dict[str, Any]:
    """Returns the output of ``headrace explain --format json``, as JSON values.

    Args:
        planned: the outcome of `headrace.optimize`; a traced search adds its steps.
        costs: whether to add the formula of the cost of each node.
        why: whether to add the reason for each node.
        analysis: the analysis of a run of the plan; it adds the measured numbers.
    """
    return physical_document(planned, costs=costs, why=why, analysis=analysis).to_json()


def memo_statistics(planned: Planned) -> MemoStatistics:
    """Returns the size of the memo, and the counters of each rule."""
    result = planned.optimization
    return MemoStatistics(
        groups=result.memo.group_count,
        expressions=result.memo.expression_count,
        physical_expressions=result.physical_expressions,
        merges=result.memo.merges,
        rules={
            name: RuleStatistics(
                bindings=rule.bindings,
                fired=rule.fired,
                duplicates=rule.duplicates,
                ms=round(rule.ms, 3),
            )
            for name, rule in result.rules.items()
        },
    )


def _statistics_from(planned: Planned) -> Literal["catalog", "measured", "assumed"]:
    request = planned.request
    if request.catalog is not None:
        return "catalog"
    return "measured" if request.inputs or request.stored else "assumed"


def minimised(planned: Planned) -> MinimisedCost:
    """Returns the field with the cost that the search minimised."""
    return "shared_cost" if planned.optimization.shared_costs else "cost"


def _kept_as_written(planned: Planned) -> KeptAsWritten | None:
    kept = planned.optimization.kept_as_written
    if kept is None:
        return None
    return KeptAsWritten(cheapest_cost=kept.cheapest, error=kept.error)


def _sampling(planned: Planned) -> SampledEstimates | None:
    sampler = planned.cost_model.sampler
    if sampler is None:
        return None
    errors = [
        None if step.estimate.on_sample is None else step.estimate.on_sample.standard_error
        for step, _ in in_order(planned.optimization.best)
    ]
    return SampledEstimates(
        estimates=sampler.estimated,
        ms=round(sampler.seconds * 1000, 3),
        steps=sampler.steps.taken,
        standard_errors={
            str(node): round(error, 4) for node, error in enumerate(errors) if error is not None
        },
    )


def _formulas(planned: Planned) -> dict[str, Formula]:
    """Returns the cost formula of each node of the plan, by node id."""
    steps = [step for step, _ in in_order(planned.optimization.best)]
    applied = [planned.cost_model.explain(step.operator, *step.costed) for step in steps]
    return {
        str(node): Formula.model_validate(formula.to_document())
        for node, formula in enumerate(applied)
    }

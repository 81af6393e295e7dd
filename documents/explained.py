"""The chosen plan of a query, and how it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ..optimizer.budget import StopReason
from ..optimizer.steps import at_the_busiest, in_order
from ..planning.planner import Planned
from .model import Document, Optional
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document
from .query import StageDocument, canonical_text, stage_head
from .runs import AnalysisDocument, analysis_document
from .trace import Steps, steps_document
from .why import Reason, reason_documents

if TYPE_CHECKING:
    from ..running.analysis import Analysis


class RuleStatistics(Document):
    """The counters of a rule in the search."""

    bindings: int
    fired: int
    duplicates: int
    ms: float


class MemoStatistics(Document):
    """The size of the memo, and the counters of each rule."""

    groups: int
    expressions: int
    physical_expressions: int
    merges: int
    rules: dict[str, RuleStatistics]


class Symbol(Document):
    """A symbol of a formula, its value and what it means."""

    value: float
    meaning: str


class FormulaLine(Document):
    """``symbol = equation = numbers = value``."""

    symbol: str
    equation: str
    numbers: str
    value: float

    def __str__(self) -> str:
        return f"{self.symbol} = {self.equation} = {self.numbers} = {self.value:.6g}"


class Formula(Document):
    """The cost of an operator; ``formula`` is its number in the thesis, null for our own."""

    formula: int | None
    name: str
    symbols: dict[str, Symbol]
    lines: tuple[FormulaLine, ...]
    cost: float

    def __str__(self) -> str:
        title = f"formula {self.formula}" if self.formula else "formula of Headrace"
        return "\n".join([f"{self.name} ({title})", *map(str, self.lines)])


class Explained(StageDocument):
    """A plan of a query, and how it was found."""

    canonical: str
    stop_reason: StopReason
    optimize_ms: float
    memo: MemoStatistics
    statistics: Literal["catalog", "measured", "assumed"]
    cost_model: str
    cost: float
    shared_cost: float
    canonical_cost: float
    plan: PlanDocument
    costs: Optional[dict[str, Formula]] = None
    why: Optional[dict[str, Reason]] = None


class Traced(Explained):
    """A plan, and each step that led to it."""

    trace: Steps


class Physical(Explained):
    """The stage ``physical``: with the trace of a traced search, and with measured numbers if the
    plan was run."""

    trace: Optional[Steps] = None
    measured: Optional[AnalysisDocument] = None
    picture: PictureDocument = Field(exclude=True)


def explained(planned: Planned, *, costs: bool = False, why: bool = False) -> Explained:
    """A plan and how it was found.

    Args:
        planned: the outcome of planning.
        costs: whether to add the formula of the cost of each node.
        why: whether to add what decided for each node.
    """
    found = planned.optimization
    return Explained(
        **stage_head(planned),
        canonical=canonical_text(planned),
        stop_reason=found.stop_reason,
        optimize_ms=round(found.optimize_ms, 3),
        memo=memo_statistics(planned),
        statistics=_statistics_from(planned),
        cost_model=planned.cost_model.kind,
        cost=found.cost,
        shared_cost=found.shared_cost,
        canonical_cost=found.canonical_cost,
        plan=plan_document(planned.plan),
        costs=_formulas(planned) if costs else None,
        why=reason_documents(planned) if why else None,
    )


def traced_document(planned: Planned, most_steps: int) -> Traced:
    """A plan whose search was traced, with at most ``most_steps`` of each kind."""
    trace = planned.optimization.trace
    assert trace is not None
    return Traced(
        **dict(explained(planned, why=True)), trace=steps_document(planned, trace.first(most_steps))
    )


def physical_document(
    planned: Planned, *, costs: bool = False, why: bool = False, analysis: Analysis | None = None
) -> Physical:
    """The document of the stage ``physical``; ``costs`` and ``why`` as of `explained`.

    ``analysis`` is that of a run of the plan.
    """
    trace = planned.optimization.trace
    return Physical(
        **dict(explained(planned, costs=costs, why=why)),
        trace=None if trace is None else steps_document(planned, trace),
        measured=None if analysis is None else analysis_document(analysis),
        picture=picture_of_plan(planned.plan),
    )


def explain_document(
    planned: Planned, *, costs: bool = False, why: bool = False, analysis: Analysis | None = None
) -> dict[str, Any]:
    """What ``headrace explain --format json`` writes, as JSON values.

    Args:
        planned: the outcome of `headrace.optimize`; a search that was traced shows its steps.
        costs: whether to add the formula of the cost of each node.
        why: whether to add what decided for each node.
        analysis: a run of the plan, of which the measured numbers are added.
    """
    return physical_document(planned, costs=costs, why=why, analysis=analysis).to_json()


def memo_statistics(planned: Planned) -> MemoStatistics:
    """The size of the memo, and the counters of each rule."""
    found = planned.optimization
    return MemoStatistics(
        groups=found.memo.group_count,
        expressions=found.memo.expression_count,
        physical_expressions=found.physical_expressions,
        merges=found.memo.merges,
        rules={
            name: RuleStatistics(
                bindings=rule.bindings,
                fired=rule.fired,
                duplicates=rule.duplicates,
                ms=round(rule.ms, 3),
            )
            for name, rule in found.rules.items()
        },
    )


def _statistics_from(planned: Planned) -> Literal["catalog", "measured", "assumed"]:
    request = planned.request
    if request.catalog is not None:
        return "catalog"
    return "measured" if request.inputs or request.stored else "assumed"


def _formulas(planned: Planned) -> dict[str, Formula]:
    """The formula of the cost of each node of the plan, by its id."""
    parallelism = planned.plan.parallelism
    steps = [step for step, _ in in_order(planned.optimization.best)]
    applied = [
        planned.cost_model.explain(step.operator, *at_the_busiest(step, parallelism))
        for step in steps
    ]
    return {
        str(node): Formula.model_validate(formula.to_document())
        for node, formula in enumerate(applied)
    }

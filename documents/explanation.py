"""Answers of the service about a stored plan: the plan, and its explanation on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..catalog.document import to_document
from ..optimizer.budget import StopReason
from ..planning.planner import Planned
from .explained import (
    Explained,
    MemoStatistics,
    MinimisedCost,
    explained,
    memo_statistics,
    minimised,
)
from .feedback import feedback_facts
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class Optimized(Document):
    """A stored plan.

    Attributes:
        id: the id of the question; ``plan.digest`` identifies the plan itself.
        plan: the chosen plan.
        cost: the cost of the plan's tree, in microseconds per time unit.
        shared_cost: the same, with shared parts counted once.
        canonical_cost: the cost of the query as written, in the unit of ``cost``.
        canonical_shared_cost: the same, with shared parts counted once.
        minimised: the field with the cost that the search minimised.
        memo: the size of the memo, and the counters of each rule.
        stop_reason: why the search ended.
        optimize_ms: the time of the search, in milliseconds.
        warnings: warnings about the query and its input.
    """

    id: str
    plan: PlanDocument
    cost: float
    shared_cost: float
    canonical_cost: float
    canonical_shared_cost: float
    minimised: MinimisedCost
    memo: MemoStatistics
    stop_reason: StopReason
    optimize_ms: float
    warnings: tuple[str, ...]


class AskedDocument(Document):
    """The question of a stored plan; ``catalog`` is null if streams were assumed."""

    query: str
    language: str | None
    catalog: dict[str, Any] | None
    options: dict[str, Any]


class Explanation(Explained):
    """A plan, compared with the plan of the query as written.

    Attributes:
        id: the id of the question.
        asked: the question.
        catalog: the catalog that the planner used, with assumed streams, without sources.
        constants: the constants of the cost model, in microseconds.
        picture: the drawing of the plan.
        canonical_plan: the plan of the query as written.
        canonical_picture: the drawing of the canonical plan.
    """

    id: str
    asked: AskedDocument
    catalog: dict[str, Any]
    constants: dict[str, float]
    picture: PictureDocument
    canonical_plan: PlanDocument
    canonical_picture: PictureDocument


def optimized(planned: Planned, id_: str) -> Optimized:
    """Builds the answer with a plan, under the id of its question."""
    result = planned.optimization
    return Optimized(
        id=id_,
        plan=plan_document(planned.plan),
        cost=result.cost,
        shared_cost=result.shared_cost,
        canonical_cost=result.canonical_cost,
        canonical_shared_cost=result.canonical_shared_cost,
        minimised=minimised(planned),
        memo=memo_statistics(planned),
        stop_reason=result.stop_reason,
        optimize_ms=result.optimize_ms,
        warnings=planned.warnings,
    )


def explanation(planned: Planned, id_: str, asked: AskedDocument) -> Explanation:
    """Builds the explanation of a plan: formulas, reasons and pictures.

    The catalogs in the explanation have no sources.

    Args:
        planned: the outcome of planning.
        id_: the id of the question.
        asked: the question.
    """
    canonical = planned.optimization.canonical_plan
    catalog = None if asked.catalog is None else without_sources(asked.catalog)
    shown = explained(planned, costs=True, why=True)
    return Explanation(
        **dict(shown),
        id=id_,
        asked=asked.model_copy(update={"catalog": catalog}),
        catalog=without_sources(to_document(planned.catalog)),
        constants=asdict(planned.cost_model.constants),
        picture=picture_of_plan(planned.plan, feedback_facts(shown.feedback)),
        canonical_plan=plan_document(canonical),
        canonical_picture=picture_of_plan(canonical),
    )


def without_sources(catalog: Mapping[str, Any]) -> dict[str, Any]:
    """Removes sources, samples and sinks of a catalog: clients must not see paths and passwords."""
    streams = {
        name: {field: value for field, value in stream.items() if field != "source"}
        for name, stream in catalog["streams"].items()
    }
    rest = {field: value for field, value in catalog.items() if field not in ("sample", "sinks")}
    return {**rest, "streams": streams}

"""Answers of the service about a stored plan: the plan, and what the page shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..catalog.document import to_document
from ..optimizer.budget import StopReason
from ..planning.planner import Planned
from .explained import Explained, MemoStatistics, explained, memo_statistics
from .model import Document
from .picture import PictureDocument, picture_of_plan
from .plan import PlanDocument, plan_document


class Optimized(Document):
    """A stored plan; ``id`` names the question, ``plan.digest`` the plan itself."""

    id: str
    plan: PlanDocument
    cost: float
    shared_cost: float
    canonical_cost: float
    memo: MemoStatistics
    stop_reason: StopReason
    optimize_ms: float
    warnings: tuple[str, ...]


class AskedDocument(Document):
    """The question; ``catalog`` is null if streams were assumed."""

    query: str
    language: str | None
    catalog: dict[str, Any] | None
    options: dict[str, Any]


class Explanation(Explained):
    """A plan, compared with the plan of the query as written.

    ``catalog`` is what the plan was made with, assumptions included, and ``constants`` those of the
    cost model in microseconds.
    """

    id: str
    asked: AskedDocument
    catalog: dict[str, Any]
    constants: dict[str, float]
    picture: PictureDocument
    canonical_plan: PlanDocument
    canonical_picture: PictureDocument


def optimized(planned: Planned, id_: str) -> Optimized:
    """A plan under the id of its question."""
    found = planned.optimization
    return Optimized(
        id=id_,
        plan=plan_document(planned.plan),
        cost=found.cost,
        shared_cost=found.shared_cost,
        canonical_cost=found.canonical_cost,
        memo=memo_statistics(planned),
        stop_reason=found.stop_reason,
        optimize_ms=found.optimize_ms,
        warnings=planned.warnings,
    )


def explanation(planned: Planned, id_: str, asked: AskedDocument) -> Explanation:
    """A plan with formulas, reasons and pictures; ``asked`` and ``id_`` name the question.

    No catalog in it says where its streams are read.
    """
    canonical = planned.optimization.canonical_plan
    catalog = None if asked.catalog is None else without_sources(asked.catalog)
    return Explanation(
        **dict(explained(planned, costs=True, why=True)),
        id=id_,
        asked=asked.model_copy(update={"catalog": catalog}),
        catalog=without_sources(to_document(planned.catalog)),
        constants=asdict(planned.cost_model.constants),
        picture=picture_of_plan(planned.plan),
        canonical_plan=plan_document(canonical),
        canonical_picture=picture_of_plan(canonical),
    )


def without_sources(catalog: Mapping[str, Any]) -> dict[str, Any]:
    """A catalog without sources, whose paths and passwords clients must not see."""
    streams = {
        name: {field: value for field, value in stream.items() if field != "source"}
        for name, stream in catalog["streams"].items()
    }
    return {**catalog, "streams": streams}

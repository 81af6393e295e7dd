"""Running queries as JSON values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...algebra.plan import PhysicalPlan
from ...documents.matches import match_document
from ...languages import detect, parse
from ..render.picture import picture
from .query import RUN_OPTIONS, Query


def query_document(query: Query) -> dict[str, Any]:
    """A query, with its plan and what its operators did beside what was expected of them."""
    kept = query.kept
    operators = [] if kept.account is None else kept.account["operators"]
    return {**query_line(query), "plan": kept.plan, "operators": operators}


def picture_document(query: Query) -> dict[str, Any]:
    """How a query is drawn: its plan, and its results."""
    plan = PhysicalPlan.from_document(query.kept.plan)
    text, language = query.kept.asked["query"], query.kept.asked["language"]
    understood = parse(text, language or detect(text, "query"), plan.time_unit)
    return {"picture": picture(plan), "match": match_document(understood)}


def query_line(query: Query) -> dict[str, Any]:
    """A query in a list."""
    kept, asked = query.kept, query.kept.asked
    given = ("name", "query", "language", "options", *RUN_OPTIONS, "plan_id")
    return {
        "id": kept.id,
        **{name: asked[name] for name in given},
        "state": kept.state,
        "created": _time(kept.created),
        "started": _time(kept.started),
        "ended": _time(kept.ended),
        "restarts": kept.restarts,
        "error": kept.error,
        "progress": query.progress,
    }


def _time(microseconds: int | None) -> str | None:
    if microseconds is None:
        return None
    time = datetime.fromtimestamp(microseconds / 1_000_000, UTC)
    return time.isoformat(timespec="milliseconds")

"""Running queries as documents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from ...algebra.plan import PhysicalPlan
from ...documents.matches import match_document
from ...documents.model import Document
from ...documents.picture import picture_of_plan
from ...documents.plan import PlanDocument
from ...documents.runs import OperatorDocument, ProgressDocument
from ...languages import detect, parse
from .bodies import QueryDocument, QueryLine, RunningPicture
from .problems import Problem
from .query import RUN_OPTIONS, Query, output_of

_Kept = TypeVar("_Kept", bound=Document)
_REQUEST_FIELDS = ("name", "query", "language", "options", *RUN_OPTIONS, "plan_id")


def query_document(query: Query) -> QueryDocument:
    """Builds the document of a query: its plan, and measured numbers beside the estimates."""
    account = query.kept.account
    operators = () if account is None else account["operators"]
    read = [_read(OperatorDocument, operator) for operator in operators]
    return QueryDocument(
        **dict(query_line(query)),
        plan=cast(PlanDocument, query.kept.plan),
        operators=[operator for operator in read if operator is not None],
    )


def picture_document(query: Query) -> RunningPicture:
    """Builds the drawing of a query: its plan, and its results as graphs."""
    plan = PhysicalPlan.from_document(query.kept.plan)
    text, language = query.kept.request["query"], query.kept.request["language"]
    parameters = (query.kept.request["options"] or {}).get("parameters", {})
    parsed = parse(text, language or detect(text, "query"), plan.time_unit, parameters=parameters)
    return RunningPicture(picture=picture_of_plan(plan), match=match_document(parsed))


def query_line(query: Query) -> QueryLine:
    """Builds the line of a query in a list."""
    kept = query.kept
    return QueryLine(
        id=kept.id,
        **{name: kept.request[name] for name in _REQUEST_FIELDS},
        output=output_of(kept),
        state=kept.state,
        created=_time(kept.created),
        started=None if kept.started is None else _time(kept.started),
        ended=None if kept.ended is None else _time(kept.ended),
        restarts=kept.restarts,
        error=None if kept.error is None else Problem.model_validate(kept.error),
        progress=None if query.progress is None else _read(ProgressDocument, query.progress),
    )


def _read(kind: type[_Kept], values: Mapping[str, Any]) -> _Kept | None:
    """Reads a part of a stored account; None if another release stored other members."""
    try:
        return kind.model_validate(values)
    except ValidationError:
        return None


def _time(microseconds: int) -> str:
    time = datetime.fromtimestamp(microseconds / 1_000_000, UTC)
    return time.isoformat(timespec="milliseconds")

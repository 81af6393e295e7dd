"""Errors of the service as RFC 9457 problem details."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from ...algebra.remedy import Setting
from ...catalog.shape_errors import shape_errors
from ...planning.errors import HeadraceError, InvalidQueryError, UsageError
from ..wording import REST

MEDIA_TYPE = "application/problem+json"


class Advice(BaseModel):
    """An advice: a text, perhaps with the ``setting`` to change, and the ``value`` that helps."""

    text: str
    setting: Setting | None = None
    value: str | None = None


class ShapeProblem(BaseModel):
    """A mistake in the body or the parameters of a request, and its place."""

    at: str
    reason: str


class Problem(BaseModel):
    """What is wrong (RFC 9457); ``position`` is the place in the query, from 1.

    ``hint`` says what to do in the words of this service, ``advice`` the same as data; ``warnings``
    are about the query's input.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str | None = None
    hint: str | None = None
    advice: list[Advice] | None = None
    position: dict[str, int] | None = None
    text: str | None = None
    expected: list[str] | None = None
    display: str | None = None
    warnings: list[str] | None = None
    request_id: str | None = None
    problems: list[ShapeProblem] | None = None


class RefusedError(Exception):
    """A request is refused; ``answer`` says why."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
) -> Response:
    """A problem as an answer; ``members`` that are None or empty are left out."""
    document = problem_document(status, detail, **members)
    return Response(json_bytes(document), status, headers, MEDIA_TYPE)


def problem_document(status: int, detail: str, **members: Any) -> dict[str, Any]:
    """A `Problem` as JSON values; ``members`` that are None or empty are left out."""
    told = {name: value for name, value in members.items() if value not in (None, "", (), [])}
    title = HTTPStatus(status).phrase
    shown = Problem(type="about:blank", title=title, status=status, detail=detail, **told)
    return shown.model_dump(mode="json", exclude_unset=True)


def document_of(error: HeadraceError) -> dict[str, Any]:
    """The problem of an error; of a query with the place in it (both count from 1)."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(error, InvalidQueryError):
        cause = error.error
        position = None
        if cause.line is not None:
            position = {"line": cause.line, "column": cause.column}
        return problem_document(
            status,
            error.message,
            code=error.code,
            hint=error.advice(REST),
            advice=_advice(error),
            position=position,
            text=cause.text,
            expected=list(cause.expected),
            display=error.display(REST),
            warnings=list(error.warnings),
        )
    if not isinstance(error, UsageError):
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    return problem_document(
        status, error.message, code=error.code, hint=error.advice(REST), advice=_advice(error)
    )


def _advice(error: HeadraceError) -> list[Advice]:
    """The advice of an error as data, for clients with words of their own, such as the page."""
    hint = [Advice(text=error.hint.removesuffix("."))] if error.hint else []
    remedies = [
        Advice(text=one.text, setting=one.setting, value=one.value) for one in error.remedies
    ]
    return hint + remedies


def of_error(error: HeadraceError) -> Response:
    """The problem of an error as an answer."""
    document = document_of(error)
    return Response(json_bytes(document), document["status"], media_type=MEDIA_TYPE)


def shape_problems(errors: Sequence[Any], route: object = None) -> list[ShapeProblem]:
    """The mistakes in the body or the parameters of a request.

    Args:
        errors: what pydantic says; each place begins with ``body``, ``query``, ``path``.
        route: that of the request, whose body's model has the names that could be meant.
    """
    body = route.body_field if isinstance(route, APIRoute) else None
    kind = None if body is None else body.field_info.annotation
    model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return [
        ShapeProblem(at=".".join(map(str, error.place)), reason=error.message)
        for error in shape_errors(errors, model, skipped=1)
    ]


def json_bytes(document: object) -> bytes:
    """A document as UTF-8. A client may send half of a surrogate pair, which has no such form."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")

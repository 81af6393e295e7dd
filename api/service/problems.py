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
    """Advice: a text, perhaps with a ``setting`` to change and its new ``value``."""

    text: str
    setting: Setting | None = None
    value: str | None = None


class ShapeProblem(BaseModel):
    """A mistake in the body or the parameters of a request; ``at`` is its place."""

    at: str
    reason: str


class Problem(BaseModel):
    """A problem (RFC 9457).

    Attributes:
        type: ``about:blank``.
        title: the text of the HTTP status.
        status: the HTTP status.
        detail: the message.
        code: the stable code of the error.
        hint: advice in the words of this service.
        advice: the same advice as data.
        position: the place in the query: offset, line and column, from 1.
        text: the part of the query that is wrong.
        expected: the tokens that the parser expected.
        display: the message with the line of the query and a caret.
        warnings: warnings about the query's input.
        request_id: the id of the request in the log.
        problems: the mistakes in the body or the parameters.
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
    """Returns a problem as an answer, without ``members`` that are None or empty."""
    document = problem_document(status, detail, **members)
    return Response(json_bytes(document), status, headers, MEDIA_TYPE)


def problem_document(status: int, detail: str, **members: Any) -> dict[str, Any]:
    """Returns a `Problem` as JSON values, without ``members`` that are None or empty."""
    present = {name: value for name, value in members.items() if value not in (None, "", (), [])}
    title = HTTPStatus(status).phrase
    shown = Problem(type="about:blank", title=title, status=status, detail=detail, **present)
    return shown.model_dump(mode="json", exclude_unset=True)


def document_of(error: HeadraceError) -> dict[str, Any]:
    """Returns the problem of an error; an error in a query has a line and a column, from 1."""
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
    """Returns the advice of an error as data, for clients that word it themselves."""
    hint = [Advice(text=error.hint.removesuffix("."))] if error.hint else []
    remedies = [
        Advice(text=one.text, setting=one.setting, value=one.value) for one in error.remedies
    ]
    return hint + remedies


def of_error(error: HeadraceError) -> Response:
    """Returns the problem of an error as an answer."""
    document = document_of(error)
    return Response(json_bytes(document), document["status"], media_type=MEDIA_TYPE)


def shape_problems(errors: Sequence[Any], route: object = None) -> list[ShapeProblem]:
    """Returns the mistakes in the body or the parameters of a request.

    Args:
        errors: the errors of pydantic; each place begins with ``body``, ``query`` or ``path``.
        route: the route of the request; the model of its body has the names to suggest.
    """
    body = route.body_field if isinstance(route, APIRoute) else None
    kind = None if body is None else body.field_info.annotation
    model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return [
        ShapeProblem(at=".".join(map(str, error.place)), reason=error.message)
        for error in shape_errors(errors, model, skipped=1)
    ]


def json_bytes(document: object) -> bytes:
    """Encodes a document as UTF-8; escapes lone surrogates, which UTF-8 cannot encode."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")

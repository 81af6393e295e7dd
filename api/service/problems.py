"""Errors of the service as RFC 9457 problem details."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from headrace.errors import HeadraceError, InvalidQueryError, UsageError

MEDIA_TYPE = "application/problem+json"


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
) -> Response:
    """A problem as an answer; ``members`` that are None or empty are left out."""
    document = problem_document(status, detail, **members)
    return Response(json_bytes(document), status, headers, MEDIA_TYPE)


def problem_document(status: int, detail: str, **members: Any) -> dict[str, Any]:
    """The document of a problem."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **{name: value for name, value in members.items() if value not in (None, "", (), [])},
    }


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
            hint=error.hint,
            position=position,
            text=cause.text,
            expected=list(cause.expected),
            display=error.display,
            warnings=list(error.warnings),
        )
    if not isinstance(error, UsageError):
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    return problem_document(status, error.message, code=error.code, hint=error.hint)


def of_error(error: HeadraceError) -> Response:
    """The problem of an error as an answer."""
    document = document_of(error)
    return Response(json_bytes(document), document["status"], media_type=MEDIA_TYPE)


def json_bytes(document: object) -> bytes:
    """A document as UTF-8. A client may send half of a surrogate pair, which has no such form."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")

"""Errors of the service as RFC 9457 problem details."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from headrace.errors import HeadraceError, InvalidQueryError, UsageError

MEDIA_TYPE = "application/problem+json"


def problem(status: int, detail: str, **members: Any) -> JSONResponse:
    """A problem document; ``members`` that are None or empty are left out."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **{name: value for name, value in members.items() if value not in (None, "", (), [])},
    }
    return JSONResponse(body, status, media_type=MEDIA_TYPE)


def of_error(error: HeadraceError) -> JSONResponse:
    """The problem of an error; of a query with the place in it (both count from 1)."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(error, InvalidQueryError):
        cause = error.error
        position = None
        if cause.line is not None:
            position = {"line": cause.line, "column": cause.column}
        return problem(
            status,
            error.message,
            code=error.code,
            hint=error.hint,
            position=position,
            text=cause.text,
            expected=list(cause.expected),
            display=error.display,
        )
    if not isinstance(error, UsageError):
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    return problem(status, error.message, code=error.code, hint=error.hint)

"""The service as an application: its routes, middleware and errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response

from ...planning.errors import HeadraceError
from . import docs_page, page
from .limits import BodyLimit, Crowd, Framing, SafeHeaders, SameSite
from .logs import LOG, REQUEST_ID, RequestLog
from .problems import MEDIA_TYPE, Problem, RefusedError, of_error, problem, shape_problems
from .routes import examples, languages, plans, queries, searches, state, streams
from .service import Service
from .settings import Settings, release
from .store import disk_is_full
from .tokens import Guard

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": what,
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}},
    }
    for status, what in (
        (400, "The body is not JSON"),
        (403, "The request comes from a page of another origin, or its token does not allow it"),
        (404, "Nothing has this id or name"),
        (409, "The state of the query or stream does not allow it"),
        (413, "The body is too large"),
        (422, "The query or the request is invalid"),
        (429, "Too many requests; Retry-After says when to try again"),
        (503, "Not available now; Retry-After says when to try again"),
    )
}


def create_app(settings: Settings) -> FastAPI:
    """Creates the application; its :class:`Service` is ``app.state.service``.

    Raises:
        UsageError: if the database cannot be used.
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.queries.start()
        starting = asyncio.create_task(service.searches.start())
        yield
        await starting
        await service.close()

    app = FastAPI(
        title="Headrace",
        version=release(),
        description="Plans and runs declarative graph queries over streams of edges.",
        lifespan=lifespan,
        responses=_PROBLEMS,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    for area in (plans, searches, streams, examples, languages, queries, state):
        app.include_router(area.routes)
    page.serve(app)
    docs_page.serve(app)
    _handle_errors(app)
    # Each middleware wraps the ones above it.
    app.add_middleware(BodyLimit, limit=settings.largest_body)
    if settings.tokens:
        app.add_middleware(Guard, tokens=settings.tokens, allow_sources=settings.allow_sources)
    app.add_middleware(SameSite, origins=settings.origins)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID", "X-Request-Id"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    if settings.hosts:
        app.add_middleware(
            TrustedHostMiddleware, allowed_hosts=list(settings.hosts), www_redirect=False
        )
    app.add_middleware(Crowd, most=settings.most_requests)
    app.add_middleware(Framing)
    app.add_middleware(SafeHeaders)
    app.add_middleware(RequestLog, metrics=service.metrics)
    return app


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(HeadraceError)
    async def _ours(_: Request, error: HeadraceError) -> Response:
        return of_error(error)

    @app.exception_handler(RefusedError)
    async def _refused(_: Request, error: RefusedError) -> Response:
        return error.answer

    @app.exception_handler(RequestValidationError)
    async def _shape(request: Request, error: RequestValidationError) -> Response:
        errors = error.errors()
        if errors[0]["type"] == "json_invalid":
            return problem(400, f"the body is not JSON, at character {errors[0]['loc'][-1]}")
        problems = shape_problems(errors, request.scope.get("route"))
        first = problems[0]
        detail = f"{first.at or 'the request'}: {first.reason}"
        return problem(422, detail, code="E-USAGE", problems=problems[:20])

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, str(error.detail), headers=error.headers)

    @app.exception_handler(SQLAlchemyError)
    async def _store(_: Request, error: SQLAlchemyError) -> Response:
        LOG.error("the database failed", exc_info=error)
        id_ = REQUEST_ID.get()
        wait = {"Retry-After": "5"}
        full = disk_is_full(error)
        detail = "the disk of the database is full" if full else "the database does not answer"
        return problem(503, detail, code="E-STORE", request_id=id_, headers=wait)

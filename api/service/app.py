"""The routes of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from api.service import page
from api.service.bodies import (
    MOST_ALTERNATIVES,
    MOST_TRACED,
    ExplainBody,
    OptimizeBody,
    Optimized,
    Problem,
    StreamDocument,
)
from api.service.documents import (
    Alternatives,
    ExampleDocument,
    Explanation,
    Memo,
    Traced,
)
from api.service.examples import examples
from api.service.limits import BodyLimit, KnownHosts, SafeHeaders
from api.service.logs import LOG, REQUEST_ID, Account
from api.service.metrics import MEDIA_TYPE as METRICS_TYPE
from api.service.problems import MEDIA_TYPE, of_error, problem
from api.service.service import Service, no_such_plan
from api.service.settings import Settings, release
from api.service.store import KeptStream
from api.service.tokens import Guard
from headrace.errors import HeadraceError
from optimizer.trace import MOST_STEPS

PlanId = Annotated[str, Path(max_length=64, pattern="^[0-9a-f]+$", description="of /optimize")]
StreamName = Annotated[str, Path(max_length=100, pattern=r"^\w[\w.-]*$")]

_STEPS = "the most that are kept of each kind"

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": what,
        "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}},
    }
    for status, what in (
        (400, "No JSON"),
        (404, "No such thing"),
        (409, "Not in this state"),
        (413, "Too large a body"),
        (422, "A query or request that cannot be taken"),
        (429, "Too many searches; Retry-After says when"),
        (503, "Not now; Retry-After says when"),
    )
}


def create_app(settings: Settings) -> FastAPI:
    """The service; its :class:`Service` is ``app.state.service``.

    Raises:
        UsageError: if its database cannot be used.
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        starting = asyncio.create_task(service.searches.start())
        yield
        await starting
        await service.close()

    app = FastAPI(
        title="Headrace",
        version=release(),
        description="Plans declarative graph queries over streams of edges.",
        lifespan=lifespan,
        responses=_PROBLEMS,
        redoc_url=None,
    )
    app.state.service = service
    _plans(app, service)
    _streams(app, service)
    _examples(app)
    _state(app, service)
    page.serve(app)
    _handle_errors(app)
    # From the inside out.
    app.add_middleware(BodyLimit, limit=settings.largest_body)
    if settings.tokens:
        app.add_middleware(Guard, tokens=settings.tokens)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    if settings.hosts:
        app.add_middleware(KnownHosts, hosts=settings.hosts)
    app.add_middleware(SafeHeaders)
    app.add_middleware(Account, metrics=service.metrics)
    return app


def _plans(app: FastAPI, service: Service) -> None:
    @app.post("/optimize", summary="The cheapest plan of a query", response_model=Optimized)
    async def _optimize(request: Request, body: OptimizeBody) -> Response:
        return await service.optimize(request, body)

    @app.post(
        "/explain",
        summary="A stage of a query's way, as JSON, text, DOT, Mermaid or a page",
        response_model=None,
    )
    async def _explain(request: Request, body: ExplainBody) -> Response:
        shown = body.model_dump(include={"stage", "format", "costs", "trace", "why"})
        job = await asyncio.to_thread(service.job, "explain", body, shown)
        return await service.answer(request, job)

    @app.get("/plans/{id}", summary="A plan as it was answered", response_model=Optimized)
    def _plan(id: PlanId) -> Response:
        kept = service.store.plan(id)
        if kept is None:
            return no_such_plan(id)
        return Response(kept.answer, media_type="application/json")

    @app.get(
        "/plans/{id}/explanation",
        summary="All that is shown of a plan: what was asked, pictures, formulas, reasons",
        response_model=Explanation,
    )
    async def _explanation(request: Request, id: PlanId) -> Response:
        return await service.answer_about(request, id, "explanation", {})

    @app.get("/plans/{id}/memo", summary="All that its search found", response_model=Memo)
    async def _memo(request: Request, id: PlanId) -> Response:
        return await service.answer_about(request, id, "memo", {})

    @app.get(
        "/plans/{id}/trace",
        summary="Each step of its search, and what decided for each operator",
        response_model=Traced,
    )
    async def _trace(
        request: Request,
        id: PlanId,
        steps: Annotated[int, Query(ge=1, le=MOST_TRACED, description=_STEPS)] = MOST_STEPS,
        tried: Annotated[bool, Query(description="with what was tried in vain")] = False,
    ) -> Response:
        return await service.answer_about(request, id, "trace", {"steps": steps, "tried": tried})

    @app.get(
        "/plans/{id}/alternatives",
        summary="The cheapest plans of the query, and how many there are",
        response_model=Alternatives,
    )
    async def _alternatives(
        request: Request,
        id: PlanId,
        limit: Annotated[int, Query(ge=1, le=MOST_ALTERNATIVES)] = 10,
    ) -> Response:
        return await service.answer_about(request, id, "alternatives", {"limit": limit})


def _streams(app: FastAPI, service: Service) -> None:
    @app.get("/streams", summary="All streams")
    def _all() -> list[StreamDocument]:
        return [_shown(stream) for stream in service.catalogs.kept()]

    @app.get("/streams/{name}", summary="A stream", response_model=StreamDocument)
    def _one(name: StreamName) -> StreamDocument | Response:
        found = [stream for stream in service.catalogs.kept() if stream.name == name]
        return _shown(found[0]) if found else _no_such_stream(name)

    @app.put(
        "/streams/{name}",
        summary="Keeps a stream, as a catalog describes it, and its statistics",
        response_model=StreamDocument,
    )
    def _put(
        name: StreamName, stream: Annotated[dict[str, Any], Body()]
    ) -> StreamDocument | Response:
        known = [kept.name for kept in service.store.streams()]
        if name not in known and len(known) >= service.settings.most_streams:
            return problem(409, f"there are {len(known):,} streams already", code="E-SIZE")
        service.catalogs.put(name, stream)
        return next(_shown(s) for s in service.catalogs.kept() if s.name == name)

    @app.delete("/streams/{name}", summary="Forgets a stream that was put", status_code=204)
    def _delete(name: StreamName) -> Response:
        if service.store.delete_stream(name):
            return Response(status_code=204)
        if service.catalogs.in_file(name):
            return problem(409, f"the stream {name} stands in the catalog of the service")
        return _no_such_stream(name)


def _examples(app: FastAPI) -> None:
    @app.get("/examples", summary="Queries to begin with, and catalogs of their streams")
    def _all() -> list[ExampleDocument]:
        return list(examples())


def _state(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", summary="Whether the service is there")
    async def _health() -> dict[str, str]:
        return {"status": "ok", "version": release()}

    @app.get("/readyz", summary="Whether it can plan and keep plans", response_model=None)
    def _ready() -> dict[str, str] | Response:
        if service.searches.closing:
            return problem(503, "the service is shutting down")
        if not service.searches.ready:
            return problem(503, "the service is starting", headers={"Retry-After": "1"})
        service.store.check()
        return {"status": "ok"}

    @app.get("/metrics", summary="Counters for Prometheus", response_model=None)
    def _metrics() -> Response:
        return Response(service.metrics.text(), media_type=METRICS_TYPE)


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(HeadraceError)
    async def _ours(_: Request, error: HeadraceError) -> Response:
        return of_error(error)

    @app.exception_handler(RequestValidationError)
    async def _shape(_: Request, error: RequestValidationError) -> Response:
        errors = error.errors()
        if errors[0]["type"] == "json_invalid":
            return problem(400, f"the body is not JSON, at character {errors[0]['loc'][-1]}")
        problems = [{"at": ".".join(map(str, e["loc"][1:])), "reason": e["msg"]} for e in errors]
        first = problems[0]
        detail = f"{first['at']}: {first['reason']}" if first["at"] else str(first["reason"])
        return problem(422, detail, code="E-USAGE", problems=problems[:20])

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, str(error.detail), headers=error.headers)

    @app.exception_handler(SQLAlchemyError)
    async def _store(_: Request, error: SQLAlchemyError) -> Response:
        LOG.error("the database failed", exc_info=error)
        id_ = REQUEST_ID.get()
        return problem(503, "the database does not answer", code="E-STORE", request_id=id_)


def _shown(stream: KeptStream) -> StreamDocument:
    return StreamDocument(
        name=stream.name,
        version=stream.version,
        time_unit=stream.time_unit,
        stream=dict(stream.document),
    )


def _no_such_stream(name: str) -> Response:
    return problem(404, f"no stream {name} is known", code="E-UNKNOWN")

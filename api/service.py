"""The REST service: the same functions and documents as the command line.

``POST /optimize`` and ``POST /explain`` plan a query over the catalog that the service was
started with, or one in the request. Nothing is run, and no file is read that a client
names. Searches go on in threads, a few at a time and each within a bound of time, so that
the service always answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from algebra.physical import DEFAULT_STEPS
from api.explanation import document, explained, misplaced
from api.limits import BodyLimit
from api.problems import of_error, problem
from catalog.document import CatalogError, from_document
from catalog.model import Catalog
from headrace.documents import memo_statistics
from headrace.errors import HeadraceError, UsageError
from headrace.planning import Planned, Translated, optimize, translate_query
from headrace.requests import (
    CostModelKind,
    Evaluation,
    Format,
    PathSemanticsKind,
    PlanningOptions,
    PlanRequest,
    Stage,
)

LARGEST_BODY = 1_000_000
LONGEST_QUERY = 100_000
LONGEST_SEARCH_MS = 10_000.0
MOST_EXPRESSIONS = 200_000
SEARCHES_AT_ONCE = 2
LONGEST_WAIT_SECONDS = 30.0

T = TypeVar("T")
_Length = Annotated[str, Field(max_length=40)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OptionsBody(_Body):
    """How to plan; the names are those of the command line."""

    window: _Length | None = Field(default=None, description="where the query has none: 30d")
    slide: _Length | None = None
    cost_model: CostModelKind = "saturating"
    disabled_rules: tuple[str, ...] = Field(default=(), max_length=100)
    budget_ms: float | None = Field(default=None, gt=0)
    budget_expressions: int | None = Field(default=None, ge=1, le=MOST_EXPRESSIONS)
    parallelism: int = Field(default=1, ge=1, le=1024, description="partitions to plan for")
    path_semantics: PathSemanticsKind = Field(
        default="arbitrary", description="simple: a path may not repeat a vertex"
    )
    simple_budget: int = Field(
        default=DEFAULT_STEPS, ge=1, description="steps that simple paths may take for an edge"
    )
    evaluate: Evaluation = Field(
        default="eager", description="slide: results are right once per slide, at its end"
    )


class OptimizeBody(_Body):
    """A query, and what is known of its streams."""

    query: str = Field(max_length=LONGEST_QUERY)
    language: str | None = Field(default=None, max_length=40)
    catalog: dict[str, Any] | None = Field(default=None, description="a whole catalog, as in YAML")
    streams: dict[str, Any] | None = Field(default=None, description="only the catalog's streams")
    options: OptionsBody = OptionsBody()


class ExplainBody(OptimizeBody):
    """A query, which stage of it to show, and how."""

    stage: Stage = "physical"
    format: Format = "json"
    costs: bool = Field(default=False, description="with the cost formula of each operator")
    trace: bool = Field(default=False, description="with each step of the search")
    why: bool = Field(default=False, description="with what decided for each operator")


class Optimized(BaseModel):
    """The answer of ``/optimize``; ``id`` names the plan: equal plans have equal ids."""

    id: str
    plan: dict[str, Any]
    cost: float
    shared_cost: float
    canonical_cost: float
    memo: dict[str, Any]
    stop_reason: str
    optimize_ms: float
    warnings: tuple[str, ...]


def create_app(catalog: Catalog | None = None, hosts: tuple[str, ...] = ()) -> FastAPI:
    """The service.

    Args:
        catalog: for requests that bring none.
        hosts: the names by which it may be called; none are all.
    """
    app = FastAPI(
        title="Headrace",
        version=_version(),
        description="Plans declarative graph queries over streams of edges.",
    )
    turns = threading.BoundedSemaphore(SEARCHES_AT_ONCE)

    def in_turn(plan: Callable[[], T]) -> T:
        if not turns.acquire(timeout=LONGEST_WAIT_SECONDS):
            raise HTTPException(503, "too many searches at once: try again later")
        try:
            return plan()
        finally:
            turns.release()

    @app.post("/optimize", summary="The cheapest plan of a query")
    def _optimize(body: OptimizeBody) -> Optimized:
        planned = in_turn(lambda: optimize(_request(body, catalog)))
        found = planned.optimization
        return Optimized(
            id=planned.plan.digest,
            plan=planned.plan.to_document(),
            cost=found.cost,
            shared_cost=found.shared_cost,
            canonical_cost=found.canonical_cost,
            memo=memo_statistics(planned),
            stop_reason=found.stop_reason,
            optimize_ms=found.optimize_ms,
            warnings=planned.warnings,
        )

    @app.post(
        "/explain",
        summary="A stage of a query's way, as JSON, text, DOT, Mermaid or a page",
        response_class=JSONResponse,
        response_model=None,
    )
    def _explain(body: ExplainBody) -> Response:
        return in_turn(lambda: _explanation(body, _request(body, catalog)))

    @app.get("/healthz", summary="Whether the service is there")
    async def _health() -> dict[str, str]:
        return {"status": "ok", "version": _version()}

    _handle_errors(app)
    app.add_middleware(BodyLimit, limit=LARGEST_BODY)
    if hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    return app


def _request(body: OptimizeBody, catalog: Catalog | None) -> PlanRequest:
    options = body.options
    budget = min(options.budget_ms or LONGEST_SEARCH_MS, LONGEST_SEARCH_MS)
    return PlanRequest(
        body.query,
        language=body.language,
        catalog=_catalog(body) or catalog,
        options=PlanningOptions(
            options.window,
            options.slide,
            options.cost_model,
            options.disabled_rules,
            budget,
            options.budget_expressions,
            options.parallelism,
            options.path_semantics,
            options.simple_budget,
            options.evaluate,
        ),
    )


def _catalog(body: OptimizeBody) -> Catalog | None:
    """The request's catalog without its sources: a client cannot have files read here."""
    if body.catalog is not None and body.streams is not None:
        raise UsageError("catalog and streams: give one of them", code="E-CATALOG")
    given = body.catalog if body.streams is None else {"streams": body.streams}
    if given is None:
        return None
    try:
        catalog = from_document(given)
    except CatalogError as error:
        place = ".".join(map(str, error.place))
        raise UsageError(f"{place or 'catalog'}: {error}", code="E-CATALOG") from error
    streams = {name: replace(s, source=None) for name, s in catalog.streams.items()}
    return replace(catalog, streams=streams)


def _explanation(body: ExplainBody, request: PlanRequest) -> Response:
    details = {"costs": body.costs, "trace": body.trace, "why": body.why}
    wrong = misplaced(body.stage, body.format, **details)
    if wrong is not None:
        raise UsageError(f"{wrong} goes with stage physical and format text or json")
    translated: Translated | Planned
    if body.stage in ("query", "logical"):
        translated = translate_query(request)
    else:
        translated = optimize(request, trace=body.trace)
    if body.format == "json":
        found = document(translated, body.stage, costs=body.costs, why=body.why)
        return JSONResponse(found)
    text = explained(translated, body.stage, body.format, costs=body.costs, why=body.why)
    if body.format == "html":
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})
    return PlainTextResponse(text)


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
        return problem(422, detail, code="E-USAGE", problems=problems)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, str(error.detail))

    @app.exception_handler(Exception)
    async def _fault(_: Request, error: Exception) -> Response:
        return problem(500, f"a fault of Headrace: {type(error).__name__}", code="E-INTERNAL")


def _version() -> str:
    try:
        return version("headrace")
    except PackageNotFoundError:
        return "unknown"

"""The state of the service: health, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from ..metrics import MEDIA_TYPE
from ..problems import RefusedError, problem
from ..settings import release
from . import Shared

routes = APIRouter()


@routes.get("/healthz", summary="Whether the service answers")
async def _health() -> dict[str, str]:
    return {"status": "ok", "version": release()}


@routes.get("/readyz", summary="Whether the service can plan and store plans", response_model=None)
def _ready(service: Shared) -> dict[str, str]:
    if service.searches.closing:
        raise RefusedError(problem(503, "the service is shutting down"))
    if not service.searches.ready:
        wait = {"Retry-After": "1"}
        raise RefusedError(problem(503, "the service is starting", headers=wait))
    service.store.check()
    return {"status": "ok"}


@routes.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def _metrics(service: Shared) -> Response:
    return Response(service.metrics.text(), media_type=MEDIA_TYPE)

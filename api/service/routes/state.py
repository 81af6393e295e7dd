"""How the service is."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import PlainTextResponse, Response

from ..metrics import MEDIA_TYPE
from ..problems import problem
from ..service import Service
from ..settings import release


def add(app: FastAPI, service: Service) -> None:
    """Adds the routes."""

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

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        response_class=PlainTextResponse,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def _metrics() -> Response:
        return Response(service.metrics.text(), media_type=MEDIA_TYPE)

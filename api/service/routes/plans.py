"""Plans, and what was found on the way to them."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request
from starlette.responses import Response

from ....optimizer.trace import MOST_STEPS
from ..bodies import (
    MOST_ALTERNATIVES,
    MOST_TRACED,
    ExplainBody,
    OptimizeBody,
    Optimized,
)
from ..documents import Alternatives, Explanation, Memo, Traced
from ..service import Service, no_such_plan

PlanId = Annotated[str, Path(max_length=64, pattern="^[0-9a-f]+$", description="of /optimize")]
_DRAWN = ("text/plain", "text/html")
_STEPS = "the most that are kept of each kind"


def add(app: FastAPI, service: Service) -> None:
    """Adds the routes."""

    @app.post("/optimize", summary="The cheapest plan of a query", response_model=Optimized)
    async def _optimize(request: Request, body: OptimizeBody) -> Response:
        return await service.optimize(request, body)

    @app.post(
        "/explain",
        summary="A stage of a query's way, as JSON, text, DOT, Mermaid or a page",
        response_model=None,
        responses={200: {"content": {kind: {"schema": {"type": "string"}} for kind in _DRAWN}}},
    )
    async def _explain(request: Request, body: ExplainBody) -> Response:
        shown = body.model_dump(include={"stage", "format", "costs", "trace", "why"})
        job = await asyncio.to_thread(service.job, "explain", body, shown)
        return await service.answer(request, job)

    @app.get("/plans/{id}", summary="A plan as it was answered", response_model=Optimized)
    def _plan(id: PlanId) -> Response:
        kept = service.store.plans.find(id)
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

"""Plans, and what was found on the way to them.

Answers are the bytes that a worker process made of a document, and that are kept so: nothing is
read and checked again. ``response_model`` names the class of the document.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from ....documents.alternatives import Alternatives
from ....documents.explained import Traced
from ....documents.explanation import Explanation, Optimized
from ....documents.memo import Memo
from ....optimizer.trace import MOST_STEPS
from ..bodies import MOST_ALTERNATIVES, MOST_TRACED, ExplainBody, OptimizeBody
from . import Shared

PlanId = Annotated[str, Path(max_length=64, pattern="^[0-9a-f]+$", description="of /optimize")]
_DRAWN = ("text/plain", "text/html")
_STEPS = "the most that are kept of each kind"

routes = APIRouter()


@routes.post("/optimize", summary="The cheapest plan of a query", response_model=Optimized)
async def _optimize(service: Shared, request: Request, body: OptimizeBody) -> Response:
    return await service.optimize(request, body)


@routes.post(
    "/explain",
    summary="A stage of a query's way, as JSON, text, DOT, Mermaid or a page",
    response_model=None,
    responses={200: {"content": {kind: {"schema": {"type": "string"}} for kind in _DRAWN}}},
)
async def _explain(service: Shared, request: Request, body: ExplainBody) -> Response:
    shown = body.model_dump(include={"stage", "format", "costs", "trace", "why"})
    job = await asyncio.to_thread(service.job, "explain", body, shown)
    return await service.answer(request, job)


@routes.get("/plans/{id}", summary="A plan as it was answered", response_model=Optimized)
async def _plan(service: Shared, id: PlanId) -> Response:
    kept = await service.plan(id)
    return Response(kept.answer, media_type="application/json")


@routes.get(
    "/plans/{id}/explanation",
    summary="All that is shown of a plan: what was asked, pictures, formulas, reasons",
    response_model=Explanation,
)
async def _explanation(service: Shared, request: Request, id: PlanId) -> Response:
    return await service.answer_about(request, id, "explanation", {})


@routes.get("/plans/{id}/memo", summary="All that its search found", response_model=Memo)
async def _memo(service: Shared, request: Request, id: PlanId) -> Response:
    return await service.answer_about(request, id, "memo", {})


@routes.get(
    "/plans/{id}/trace",
    summary="Each step of its search, and what decided for each operator",
    response_model=Traced,
)
async def _trace(
    service: Shared,
    request: Request,
    id: PlanId,
    steps: Annotated[int, Query(ge=1, le=MOST_TRACED, description=_STEPS)] = MOST_STEPS,
    tried: Annotated[bool, Query(description="with what was tried in vain")] = False,
) -> Response:
    return await service.answer_about(request, id, "trace", {"steps": steps, "tried": tried})


@routes.get(
    "/plans/{id}/alternatives",
    summary="The cheapest plans of the query, and how many there are",
    response_model=Alternatives,
)
async def _alternatives(
    service: Shared,
    request: Request,
    id: PlanId,
    limit: Annotated[int, Query(ge=1, le=MOST_ALTERNATIVES)] = 10,
) -> Response:
    return await service.answer_about(request, id, "alternatives", {"limit": limit})

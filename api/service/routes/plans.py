"""Plans, and the documents about their search.

Answers are the bytes of a document from a worker process, stored without change: the routes do not
validate them again. ``response_model`` names the class of the document.
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
from ..jobs import LISTING_SECONDS
from . import Shared

PlanId = Annotated[
    str, Path(max_length=64, pattern="^[0-9a-f]+$", description="the id of a plan of /optimize")
]
_DRAWN = ("text/plain", "text/html")
_STEPS = "the maximum number of recorded steps of each kind"
_SECONDS = "the time limit of the ranking; when it is over, the answer has the plans so far"

routes = APIRouter()


@routes.post("/optimize", summary="The cheapest plan of a query", response_model=Optimized)
async def _optimize(service: Shared, request: Request, body: OptimizeBody) -> Response:
    return await service.optimize(request, body)


@routes.post(
    "/explain",
    summary="A stage of a query as JSON, text, DOT, Mermaid or HTML",
    response_model=None,
    responses={200: {"content": {kind: {"schema": {"type": "string"}} for kind in _DRAWN}}},
)
async def _explain(service: Shared, request: Request, body: ExplainBody) -> Response:
    shown = body.model_dump(include={"stage", "format", "costs", "trace", "why"})
    job = await asyncio.to_thread(service.job, "explain", body, shown)
    return await service.answer(request, job)


@routes.get("/plans/{id}", summary="A stored plan", response_model=Optimized)
async def _plan(service: Shared, id: PlanId) -> Response:
    kept = await service.plan(id)
    return Response(kept.answer, media_type="application/json")


@routes.get(
    "/plans/{id}/explanation",
    summary="The explanation of a plan: its question, pictures, formulas and reasons",
    response_model=Explanation,
)
async def _explanation(service: Shared, request: Request, id: PlanId) -> Response:
    return await service.answer_about(request, id, "explanation", {})


@routes.get("/plans/{id}/memo", summary="The memo of its search", response_model=Memo)
async def _memo(service: Shared, request: Request, id: PlanId) -> Response:
    return await service.answer_about(request, id, "memo", {})


@routes.get(
    "/plans/{id}/trace",
    summary="The steps of its search, and the reason for each operator",
    response_model=Traced,
)
async def _trace(
    service: Shared,
    request: Request,
    id: PlanId,
    steps: Annotated[int, Query(ge=1, le=MOST_TRACED, description=_STEPS)] = MOST_STEPS,
    tried: Annotated[
        bool,
        Query(description="with rule applications that added nothing, and pruned alternatives"),
    ] = False,
) -> Response:
    return await service.answer_about(request, id, "trace", {"steps": steps, "tried": tried})


@routes.get(
    "/plans/{id}/alternatives",
    summary="The cheapest plans of the query, and the number of all plans",
    response_model=Alternatives,
)
async def _alternatives(
    service: Shared,
    request: Request,
    id: PlanId,
    limit: Annotated[int, Query(ge=1, le=MOST_ALTERNATIVES)] = 10,
    seconds: Annotated[float, Query(gt=0, le=LISTING_SECONDS, description=_SECONDS)] = (
        LISTING_SECONDS
    ),
) -> Response:
    details = {"limit": limit, "seconds": seconds}
    return await service.answer_about(request, id, "alternatives", details)

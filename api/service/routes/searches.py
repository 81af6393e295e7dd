"""Requests that wait for a search: their progress, and their cancellation by id."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from ..bodies import SearchDocument
from . import Shared

RequestId = Annotated[
    str,
    Path(
        max_length=100,
        pattern="^[A-Za-z0-9._-]+$",
        description="the X-Request-Id of the request that waits",
    ),
]

routes = APIRouter()


@routes.get("/searches/{request_id}", summary="The progress of a search that a request waits for")
async def _progress(service: Shared, request_id: RequestId) -> SearchDocument:
    return service.search(request_id)


@routes.delete(
    "/searches/{request_id}",
    summary="Ends a search early; the request that waits for it gets the best plan so far",
    status_code=204,
)
async def _cancel(service: Shared, request_id: RequestId) -> Response:
    service.cancel(request_id)
    return Response(status_code=204)

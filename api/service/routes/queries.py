"""Running queries."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi import Query as Parameter
from fastapi.responses import StreamingResponse

from ..bodies import DeadLetters, QueryBody, QueryDocument, QueryLine, RunningPicture
from ..dead_letters import PLACE, page
from ..follow import MEDIA_TYPE
from ..problems import RefusedError, problem
from ..query import Query
from ..query_documents import picture_document, query_document, query_line
from ..result_files import MEDIA_TYPES, FileFormat
from . import Shared

MOST_DEAD_LETTERS = 1_000
MOST_TAIL = 10_000
_LARGEST = 2**53

QueryId = Annotated[
    str,
    Path(max_length=64, pattern="^[0-9a-f]+$", description="the id of a query of POST /queries"),
]
Number = Annotated[int, Parameter(ge=0, le=_LARGEST)]


async def _ready(service: Shared) -> None:
    """Refuses requests while another service has the data directory."""
    if not service.queries.ready:
        detail = "queries are not available now: another service may hold the data directory"
        raise RefusedError(problem(503, detail, code="E-HOME", headers={"Retry-After": "1"}))


async def _named(service: Shared, id: QueryId) -> Query:
    query = service.queries.get(id)
    if query is None:
        raise RefusedError(problem(404, f"no query {id} is known", code="E-UNKNOWN"))
    return query


Named = Annotated[Query, Depends(_named)]

# `exclude_unset` shows a stored problem with its original members.
routes = APIRouter(prefix="/queries", dependencies=[Depends(_ready)])


@routes.post("", summary="Starts a query", status_code=201, response_model_exclude_unset=True)
async def _post(
    service: Shared, request: Request, body: QueryBody, answer: Response
) -> QueryDocument:
    query = await service.run(request, body)
    answer.headers["Location"] = f"/queries/{query.kept.id}"
    return query_document(query)


@routes.get("", summary="All queries, the oldest first", response_model_exclude_unset=True)
async def _all(service: Shared) -> list[QueryLine]:
    return [query_line(query) for query in service.queries.all()]


@routes.get("/{id}", summary="A query", response_model_exclude_unset=True)
async def _one(query: Named) -> QueryDocument:
    return query_document(query)


@routes.get("/{id}/picture", summary="The drawing of a query: its plan, and its results as graphs")
def _picture(query: Named) -> RunningPicture:
    return picture_document(query)


@routes.delete("/{id}", summary="Deletes a query and its files", status_code=204)
async def _delete(service: Shared, query: Named) -> None:
    await service.queries.delete(query)


@routes.post(
    "/{id}/pause",
    summary="Pauses a query",
    status_code=202,
    response_model_exclude_unset=True,
)
async def _pause(service: Shared, query: Named) -> QueryDocument:
    await service.queries.pause(query)
    return query_document(query)


@routes.post(
    "/{id}/resume",
    summary="Resumes a query that was paused or has failed",
    status_code=202,
    response_model_exclude_unset=True,
)
async def _resume(service: Shared, query: Named) -> QueryDocument:
    await service.queries.resume(query)
    return query_document(query)


@routes.post(
    "/{id}/stop",
    summary="Stops a query for good; its results stay",
    status_code=202,
    response_model_exclude_unset=True,
)
async def _stop(service: Shared, query: Named) -> QueryDocument:
    await service.queries.stop(query)
    return query_document(query)


@routes.get(
    "/{id}/results",
    summary="The results as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def _results(
    service: Shared,
    query: Named,
    after: Annotated[
        Number | None, Parameter(description="the number of the last result to skip")
    ] = None,
    tail: Annotated[int | None, Parameter(ge=0, le=MOST_TAIL)] = None,
    last_event_id: Annotated[
        str | None, Header(pattern=r"^\d{1,15}$", description="takes precedence over `after`")
    ] = None,
) -> Response:
    _room_for_follower(service)
    if last_event_id is not None:
        after = int(last_event_id)
    events = service.followers.events(query, after or 0, tail if after is None else None)
    # Proxies must not buffer events.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(events, headers=headers, media_type=MEDIA_TYPE)


@routes.get(
    "/{id}/results/file",
    summary="The kept results as a file: JSON lines, CSV or Parquet",
    response_class=StreamingResponse,
    responses={
        200: {"content": {kind: {"schema": {"type": "string"}} for kind in MEDIA_TYPES.values()}}
    },
)
async def _results_file(
    service: Shared,
    query: Named,
    format: Annotated[FileFormat, Parameter(description="the format of the file")] = "jsonl",
) -> Response:
    _room_for_follower(service)
    name = f"results-{query.kept.id}.{format}"
    return StreamingResponse(
        service.followers.file(query, format),
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
        media_type=MEDIA_TYPES[format],
    )


def _room_for_follower(service: Shared) -> None:
    if service.followers.full:
        detail = f"{service.followers.count} clients follow results already"
        raise RefusedError(problem(429, detail, code="E-BUSY", headers={"Retry-After": "10"}))


@routes.get(
    "/{id}/dead-letters",
    summary="The dead letters: rejected rows, and late edges",
    response_model_exclude_unset=True,
)
async def _dead_letters(
    query: Named,
    after: Annotated[str, Parameter(pattern=PLACE, description="`next` of the last page")] = "0",
    limit: Annotated[int, Parameter(ge=1, le=MOST_DEAD_LETTERS)] = 100,
) -> DeadLetters:
    return DeadLetters.model_validate(await asyncio.to_thread(page, query.folder, after, limit))

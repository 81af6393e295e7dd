"""Queries that run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import FastAPI, Header, Path, Request
from fastapi import Query as Parameter
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..bodies import DeadLetters, QueryBody, QueryDocument, QueryLine
from ..dead_letters import PLACE, page
from ..documents import RunningPicture
from ..follow import MEDIA_TYPE
from ..problems import problem
from ..query import Query
from ..query_documents import picture_document, query_document, query_line
from ..service import Service

MOST_DEAD_LETTERS = 1_000
MOST_TAIL = 10_000
_LARGEST = 2**53

QueryId = Annotated[str, Path(max_length=64, pattern="^[0-9a-f]+$", description="of POST /queries")]
Number = Annotated[int, Parameter(ge=0, le=_LARGEST)]


def add(app: FastAPI, service: Service) -> None:
    """Adds the routes."""
    _documents(app, service)
    _life(app, service)
    _found(app, service)


def _documents(app: FastAPI, service: Service) -> None:
    @app.post(
        "/queries",
        summary="Has a query run",
        response_model=QueryDocument,
        status_code=201,
    )
    async def _post(request: Request, body: QueryBody) -> Response:
        if (absent := _absent(service)) is not None:
            return absent
        answer = await service.run(request, body)
        if isinstance(answer, Response):
            return answer
        place = {"Location": f"/queries/{answer.kept.id}"}
        return JSONResponse(query_document(answer), 201, place)

    @app.get("/queries", summary="All queries, the oldest first", response_model=list[QueryLine])
    async def _all() -> Response:
        shown = [query_line(query) for query in service.queries.all()]
        return _absent(service) or JSONResponse(shown)

    @app.get("/queries/{id}", summary="A query", response_model=QueryDocument)
    async def _one(id: QueryId) -> Response:
        query = _known(service, id)
        return query if isinstance(query, Response) else JSONResponse(query_document(query))

    @app.get(
        "/queries/{id}/picture",
        summary="How a query is drawn: its plan, and its results",
        response_model=RunningPicture,
    )
    def _picture(id: QueryId) -> Response:
        query = _known(service, id)
        return query if isinstance(query, Response) else JSONResponse(picture_document(query))

    @app.delete("/queries/{id}", summary="Forgets a query and its files", status_code=204)
    async def _delete(id: QueryId) -> Response:
        query = _known(service, id)
        if isinstance(query, Response):
            return query
        await service.queries.delete(query)
        return Response(status_code=204)


def _life(app: FastAPI, service: Service) -> None:
    async def done(id_: str, change: Callable[[Query], Awaitable[None]]) -> Response:
        query = _known(service, id_)
        if isinstance(query, Response):
            return query
        await change(query)
        return JSONResponse(query_document(query), 202)

    @app.post(
        "/queries/{id}/pause",
        summary="Stops a query where it can go on",
        response_model=QueryDocument,
        status_code=202,
    )
    async def _pause(id: QueryId) -> Response:
        return await done(id, service.queries.pause)

    @app.post(
        "/queries/{id}/resume",
        summary="Has a query go on that was paused, or has failed",
        response_model=QueryDocument,
        status_code=202,
    )
    async def _resume(id: QueryId) -> Response:
        return await done(id, service.queries.resume)

    @app.post(
        "/queries/{id}/stop",
        summary="Ends a query; its results stay",
        response_model=QueryDocument,
        status_code=202,
    )
    async def _stop(id: QueryId) -> Response:
        return await done(id, service.queries.stop)


def _found(app: FastAPI, service: Service) -> None:
    @app.get(
        "/queries/{id}/results",
        summary="The results as server-sent events, as they come",
        response_class=StreamingResponse,
        responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
    )
    async def _results(
        id: QueryId,
        after: Annotated[Number | None, Parameter(description="only later results")] = None,
        tail: Annotated[int | None, Parameter(ge=0, le=MOST_TAIL)] = None,
        last_event_id: Annotated[
            str | None, Header(pattern=r"^\d{1,15}$", description="goes before `after`")
        ] = None,
    ) -> Response:
        query = _known(service, id)
        if isinstance(query, Response):
            return query
        if service.followers.full:
            detail = f"{service.followers.count} clients follow results already"
            return problem(429, detail, code="E-BUSY", headers={"Retry-After": "10"})
        if last_event_id is not None:
            after = int(last_event_id)
        events = service.followers.events(query, after or 0, tail if after is None else None)
        # Proxies are not to keep events for themselves.
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(events, headers=headers, media_type=MEDIA_TYPE)

    @app.get(
        "/queries/{id}/dead-letters",
        summary="Rows that are no edges, and edges that came too late",
        response_model=DeadLetters,
    )
    async def _dead_letters(
        id: QueryId,
        after: Annotated[str, Parameter(pattern=PLACE, description="`next` of a page")] = "0",
        limit: Annotated[int, Parameter(ge=1, le=MOST_DEAD_LETTERS)] = 100,
    ) -> Response:
        query = _known(service, id)
        if isinstance(query, Response):
            return query
        return JSONResponse(await asyncio.to_thread(page, query.folder, after, limit))


def _absent(service: Service) -> Response | None:
    """Why there are no queries here now, if there are not."""
    if service.queries.ready:
        return None
    detail = "the queries of this home are not here now: another service may have them"
    return problem(503, detail, code="E-HOME", headers={"Retry-After": "1"})


def _known(service: Service, id_: str) -> Query | Response:
    if (absent := _absent(service)) is not None:
        return absent
    query = service.queries.get(id_)
    if query is None:
        return problem(404, f"no query {id_} is known", code="E-UNKNOWN")
    return query

"""Streams that are planned and run over."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, FastAPI, Path
from starlette.responses import Response

from ..bodies import StreamDocument
from ..problems import problem
from ..service import Service

StreamName = Annotated[str, Path(max_length=100, pattern=r"^\w[\w.-]*$")]


def add(app: FastAPI, service: Service) -> None:
    """Adds the routes."""

    @app.get("/streams", summary="All streams")
    def _all() -> list[StreamDocument]:
        return list(service.catalogs.shown())

    @app.get("/streams/{name}", summary="A stream", response_model=StreamDocument)
    def _one(name: StreamName) -> StreamDocument | Response:
        found = [stream for stream in service.catalogs.shown() if stream.name == name]
        return found[0] if found else _no_such_stream(name)

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
        return next(s for s in service.catalogs.shown() if s.name == name)

    @app.delete("/streams/{name}", summary="Forgets a stream that was put", status_code=204)
    def _delete(name: StreamName) -> Response:
        if service.store.delete_stream(name):
            return Response(status_code=204)
        if service.catalogs.in_file(name):
            return problem(409, f"the stream {name} stands in the catalog of the service")
        return _no_such_stream(name)


def _no_such_stream(name: str) -> Response:
    return problem(404, f"no stream {name} is known", code="E-UNKNOWN")

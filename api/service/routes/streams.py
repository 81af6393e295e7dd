"""The streams of the service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path

from ..bodies import StreamDocument
from ..problems import RefusedError, problem
from . import Shared

StreamName = Annotated[str, Path(max_length=100, pattern=r"^\w[\w.-]*$")]

routes = APIRouter(prefix="/streams")


@routes.get("", summary="All streams")
def _all(service: Shared) -> list[StreamDocument]:
    return list(service.catalogs.shown())


@routes.get("/{name}", summary="A stream")
def _one(service: Shared, name: StreamName) -> StreamDocument:
    for stream in service.catalogs.shown():
        if stream.name == name:
            return stream
    raise _unknown(name)


@routes.put("/{name}", summary="Stores a stream with its statistics, in the form of a catalog")
def _put(
    service: Shared, name: StreamName, stream: Annotated[dict[str, Any], Body()]
) -> StreamDocument:
    names = [kept.name for kept in service.store.streams()]
    if name not in names and len(names) >= service.settings.most_streams:
        detail = f"there are {len(names):,} streams already"
        raise RefusedError(problem(409, detail, code="E-SIZE"))
    service.catalogs.put(name, stream)
    return _one(service, name)


@routes.delete("/{name}", summary="Deletes a stream that was put", status_code=204)
def _delete(service: Shared, name: StreamName) -> None:
    if service.store.delete_stream(name):
        return
    if service.catalogs.in_file(name):
        detail = f"the stream {name} belongs to the catalog file of the service"
        raise RefusedError(problem(409, detail))
    raise _unknown(name)


def _unknown(name: str) -> RefusedError:
    return RefusedError(problem(404, f"no stream {name} is known", code="E-UNKNOWN"))

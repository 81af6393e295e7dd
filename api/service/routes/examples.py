"""The example queries."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from ..bodies import ExampleDocument
from ..compression import answer
from ..examples import examples

routes = APIRouter()


@routes.get(
    "/examples",
    summary="The example queries, with catalogs of their streams",
    response_model=list[ExampleDocument],
)
def _all(request: Request) -> Response:
    return answer(request, _json(), "application/json")


@cache
def _json() -> bytes:
    """The examples are part of the package and never change."""
    return TypeAdapter(list[ExampleDocument]).dump_json(list(examples()))

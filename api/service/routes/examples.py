"""The example queries."""

from __future__ import annotations

from fastapi import APIRouter

from ..bodies import ExampleDocument
from ..examples import examples

routes = APIRouter()


@routes.get("/examples", summary="The example queries, with catalogs of their streams")
def _all() -> list[ExampleDocument]:
    return list(examples())

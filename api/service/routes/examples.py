"""Queries to begin with."""

from __future__ import annotations

from fastapi import FastAPI

from ..documents import ExampleDocument
from ..examples import examples
from ..service import Service


def add(app: FastAPI, _: Service) -> None:
    """Adds the route."""

    @app.get("/examples", summary="Queries to begin with, and catalogs of their streams")
    def _all() -> list[ExampleDocument]:
        return list(examples())

"""Catalogs and stored plans, read from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UsageError
from .query_text import QueryText, read_text

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..catalog.model import Catalog


def load_catalog(path: str | Path) -> Catalog:
    """The catalog of a YAML file.

    Raises:
        UsageError: if it cannot be used, with file and line.
    """
    from ..catalog import CatalogError, load  # a query without a catalog needs none of that

    try:
        return load(path)
    except CatalogError as error:
        raise UsageError(str(error), code="E-CATALOG") from error


def load_plan(path: str | Path) -> PhysicalPlan:
    """The plan of a document that was stored as JSON.

    Raises:
        UsageError: if it cannot be read, or not be run, with the reason.
    """
    return QueryText(read_text(Path(path)), str(path)).plan

"""Reads catalogs and stored plans from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UsageError
from .query_text import QueryText, read_text

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..catalog.model import Catalog


def load_catalog(path: str | Path) -> Catalog:
    """Reads a catalog from a YAML file.

    Raises:
        UsageError: if the catalog cannot be used, with file and line.
    """
    from ..catalog import CatalogError, load  # only queries with a catalog need the import

    try:
        return load(path)
    except CatalogError as error:
        raise UsageError(str(error), code="E-CATALOG") from error


def load_plan(path: str | Path) -> PhysicalPlan:
    """Reads a plan from a JSON document.

    Raises:
        UsageError: if the plan cannot be read or run, with the reason.
    """
    return QueryText(read_text(Path(path)), str(path)).plan

"""Reads the text of a query: from a file, standard input, or the argument itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanError
from ..algebra.remedy import Remedy
from .errors import UsageError

LONGEST_QUERY = 1_000_000
"""The maximum length of a query, in characters."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of a query; ``name`` is its file or another origin."""

    text: str
    name: str

    @property
    def ending(self) -> str:
        """The suffix of the file's name in lower case, or empty text."""
        return Path(self.name).suffix.lower()

    @property
    def is_plan(self) -> bool:
        """Whether this is a plan document instead of a query."""
        return self.ending == ".json" or self.text.lstrip().startswith("{")

    @property
    def plan(self) -> PhysicalPlan:
        """The plan that the text holds.

        Raises:
            UsageError: if the plan cannot be read or run, with the reason.
        """
        from ..executor.checking import check  # imports more than a query needs

        try:
            plan = PhysicalPlan.from_json(self.text)
            check(plan)
            return plan
        except PlanError as error:
            raise UsageError(f"{self.name}: {error}", code="E-PLAN") from error


def load_query(argument: str, standard_input: TextIO) -> QueryText:
    """Reads the query of an argument: ``-``, the name of a file, or the text itself.

    Raises:
        UsageError: if a file cannot be read, is empty, or is not text.
    """
    if argument == "-":
        return _validated(QueryText(_read(standard_input), "standard input"))
    if not argument.strip():
        return _validated(QueryText(argument, "the query"))
    path = Path(argument)
    try:
        if path.is_file() and path.name.lower().endswith(_DATA):
            raise UsageError(
                f"{argument} holds edges, not a query",
                code="E-FILE",
                hint="give the file or the text of a query",
                remedies=(Remedy("input", "give this file as the input"),),
            )
        if path.exists():
            return _validated(QueryText(read_text(path), argument))
    except (OSError, ValueError) as error:  # the text of a query may be too long for a file name
        if _looks_like_a_name(argument):
            raise UsageError(f"cannot read {argument}: {error}", code="E-FILE") from error
    if _looks_like_a_name(argument):
        raise UsageError(
            f"no such file: {argument}",
            code="E-FILE",
            hint="QUERY is a file, - for standard input, or the text of the query itself",
        )
    return _validated(QueryText(argument, "query"))


def read_text(path: Path) -> str:
    """Reads the text of a file.

    Raises:
        UsageError: if the file cannot be read, or is not UTF-8 text.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a file", code="E-FILE")
    try:
        with path.open(encoding="utf-8") as file:
            return _read(file, str(path))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", code="E-FILE") from error


def _read(file: TextIO, name: str = "standard input") -> str:
    try:
        # Bound the length before parsing: a plan may be 16 times as long as a query.
        text = file.read(16 * LONGEST_QUERY + 1)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not UTF-8 text (at byte {error.start})", code="E-FILE"
        ) from error
    return text.removeprefix("\ufeff")


def _looks_like_a_name(argument: str) -> bool:
    """Returns whether an argument is rather a mistyped file name than a query."""
    if re.search(r"[(\n]|<-|:-|←|^\s*\{", argument) is not None:
        return False
    from ..languages.foreign import foreign_language  # imports more than a file needs

    return foreign_language(argument) is None


_CATALOGS = (".yaml", ".yml")
_DATA = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".gz")


def _validated(query: QueryText) -> QueryText:
    if query.ending in _CATALOGS:
        raise UsageError(
            f"{query.name} is a catalog, not a query",
            code="E-FILE",
            hint="give the file or the text of a query",
            remedies=(Remedy("catalog", "give this file as the catalog"),),
        )
    if not query.text.strip():
        raise UsageError(f"{query.name} is empty", code="E-USAGE")
    longest = 16 * LONGEST_QUERY if query.is_plan else LONGEST_QUERY
    if len(query.text) > longest:
        raise UsageError(f"{query.name} has more than {longest:,} characters", code="E-USAGE")
    return query

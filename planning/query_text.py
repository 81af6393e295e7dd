"""Where a query comes from: a file, standard input, or the argument itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..algebra.plan import PhysicalPlan, PlanError
from ..algebra.remedy import Remedy
from .errors import UsageError

LONGEST_QUERY = 1_000_000
"""Characters; a longer text is surely not a query."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query as written, and what to call the place it came from."""

    text: str
    name: str

    @property
    def ending(self) -> str:
        """The ending of the file's name in lower case, or nothing."""
        return Path(self.name).suffix.lower()

    @property
    def is_plan(self) -> bool:
        """Whether this is a plan document and no query."""
        return self.ending == ".json" or self.text.lstrip().startswith("{")

    @property
    def plan(self) -> PhysicalPlan:
        """The plan that the document holds.

        Raises:
            UsageError: if it cannot be read or run, with the reason.
        """
        from ..executor.checking import check  # a query needs none of what that imports

        try:
            plan = PhysicalPlan.from_json(self.text)
            check(plan)
            return plan
        except PlanError as error:
            raise UsageError(f"{self.name}: {error}", code="E-PLAN") from error


def load_query(argument: str, standard_input: TextIO) -> QueryText:
    """The query that an argument means: ``-``, the name of a file, or the text itself.

    Raises:
        UsageError: if a file cannot be read, is no text, or nothing stands there.
    """
    if argument == "-":
        return _checked(QueryText(_read(standard_input), "standard input"))
    if not argument.strip():
        return _checked(QueryText(argument, "the query"))
    path = Path(argument)
    try:
        if path.is_file() and path.name.lower().endswith(_DATA):
            raise UsageError(
                f"{argument} is a file of edges, and not of a query",
                code="E-FILE",
                hint="give the file or the text of a query",
                remedies=(Remedy("input", "give this file as the input"),),
            )
        if path.exists():
            return _checked(QueryText(read_text(path), argument))
    except (OSError, ValueError) as error:  # a text too long to be a file's name
        if _looks_like_a_name(argument):
            raise UsageError(f"cannot read {argument}: {error}", code="E-FILE") from error
    if _looks_like_a_name(argument):
        raise UsageError(
            f"no such file: {argument}",
            code="E-FILE",
            hint="QUERY is a file, - for standard input, or the text of the query itself",
        )
    return _checked(QueryText(argument, "query"))


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        UsageError: if it cannot be read or is no UTF-8 text.
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
        # A plan may be longer than a query, but neither has no end.
        text = file.read(16 * LONGEST_QUERY + 1)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not UTF-8 text (at byte {error.start})", code="E-FILE"
        ) from error
    return text.removeprefix("\ufeff")


def _looks_like_a_name(argument: str) -> bool:
    """A query has brackets or blanks around its parts; a mistyped file name has neither."""
    if re.search(r"[(\n]|<-|:-|←|^\s*\{", argument) is not None:
        return False
    from ..languages.foreign import foreign_language  # a file needs none of what that imports

    return foreign_language(argument) is None


_CATALOGS = (".yaml", ".yml")
_DATA = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".gz")


def _checked(query: QueryText) -> QueryText:
    if query.ending in _CATALOGS:
        raise UsageError(
            f"{query.name} is the file of a catalog, and not of a query",
            code="E-FILE",
            hint="give the file or the text of a query",
            remedies=(Remedy("catalog", "give this file as the catalog"),),
        )
    if not query.text.strip():
        raise UsageError(f"{query.name} is empty: there is no query", code="E-USAGE")
    longest = 16 * LONGEST_QUERY if query.is_plan else LONGEST_QUERY
    if len(query.text) > longest:
        raise UsageError(f"{query.name} has more than {longest:,} characters", code="E-USAGE")
    return query

"""Parses G-CORE: text to a syntax tree to a Regular Query."""

from __future__ import annotations

import re
from pathlib import Path

from ...algebra.deadline import NO_DEADLINE, Deadline
from ..parsing.lark_parser import Parser
from ..query.regular_query import RegularQuery
from .reading import Reader
from .syntax import Query
from .syntax_errors import explained
from .translation import translated

PARSER = Parser(Path(__file__).with_name("gcore.lark"), Reader, explained)

_BEGINNING = re.compile(
    r"""(?:\s|//[^\n]*|/\*.*?\*/)*
    (?:PATH\s+[\w`]+\s*= | GRAPH\s+VIEW\b | SELECT\s+[\w`]
      | CONSTRUCT\s*\([^()]*\)\s*(?:- | <-\s*[\[/] | \bMATCH\b)
      | MATCH\s*\([^()]*\)\s*(?:- | <-\s*[\[/] | , | (?:ON|WHERE)\b))""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""The start of a G-CORE text; no RQ rule matches, as an arrow or commas follow its head."""


def parse(text: str, time_unit: str = "second", deadline: Deadline = NO_DEADLINE) -> RegularQuery:
    """Reads G-CORE text; windows with a unit are converted to ``time_unit``.

    Raises:
        QueryError: if the text is not G-CORE, not a valid query, or not supported yet.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    return translated(tree(text, deadline), time_unit, _words(text))


def parse_view(
    text: str, time_unit: str = "second", deadline: Deadline = NO_DEADLINE
) -> RegularQuery:
    """Reads G-CORE text of a view, which may construct edges of several labels.

    Raises:
        QueryError, algebra.deadline.OutOfTimeError: as :func:`parse`.
    """
    return translated(tree(text, deadline), time_unit, _words(text), several=True)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip("`") for word in re.findall(r"`[^`\n]*`|\w+", text))


def tree(text: str, deadline: Deadline = NO_DEADLINE) -> Query:
    """The syntax tree of a text.

    Raises:
        QueryError: if the text is not G-CORE.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    query: Query = PARSER.parse(text, deadline)
    return query


def recognizes(text: str) -> bool:
    """Whether ``text``, after comments, begins like a G-CORE query."""
    return _BEGINNING.match(text) is not None

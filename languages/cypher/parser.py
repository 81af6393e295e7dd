"""Parses Cypher and Seraph: text to a syntax tree to a Regular Query."""

from __future__ import annotations

import re
from pathlib import Path

from ...algebra.deadline import NO_DEADLINE, Deadline
from ..parsing.lark_parser import Parser
from ..parsing.parameters import NO_PARAMETERS, Parameters
from ..query.regular_query import RegularQuery
from .clauses import Query
from .parameters import bound
from .reading import Reader
from .syntax_errors import explained
from .translation import translated

PARSER = Parser(Path(__file__).with_name("cypher.lark"), Reader, explained)

_BEGINNING = re.compile(
    r"""(?:\s|//[^\n]*|/\*.*?\*/)*
    (?: (?:OPTIONAL\s+)?MATCH\b
        (?!\s*\([^()]*\)\s*(?:<-\s*[^\s\[(-]|:-|←))  # the head of a rule of RQ
        .*?\b(?:RETURN|CREATE|MERGE|DELETE|SET|WITH)\b
      | (?:CREATE|MERGE)\s*\([^()]*\)\s*(?:-|<-\s*\[|<--|;|$|RETURN|SET|ON)
      | UNWIND\s | CALL\s+[\w.{] | RETURN\s+[^(\s]
      | WITH\s+(?!\w+\s+AS\s*\().*?\bRETURN\b
      | REGISTER\s+QUERY\b )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""The start of a Cypher text; no text in RQ or G-CORE begins so."""
_LONGEST = 5_000
"""The number of characters of a text that are inspected."""


def parse(
    text: str,
    time_unit: str = "second",
    deadline: Deadline = NO_DEADLINE,
    parameters: Parameters = NO_PARAMETERS,
) -> RegularQuery:
    """Reads Cypher or Seraph text; windows with a unit are converted to ``time_unit``.

    Raises:
        QueryError: if the text is not Cypher, not a valid query, or not supported yet; E-PARAM for
            a parameter without a value, or a value without a parameter.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    words = frozenset(word.strip("`") for word in re.findall(r"`[^`\n]*`|\w+", text))
    return translated(bound(tree(text, deadline), parameters), time_unit, words)


def tree(text: str, deadline: Deadline = NO_DEADLINE) -> Query:
    """The syntax tree of a text.

    Raises:
        QueryError: if the text is not Cypher.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    query: Query = PARSER.parse(text, deadline)
    return query


def recognizes(text: str) -> bool:
    """Whether ``text``, after comments, begins like a Cypher query."""
    return _BEGINNING.match(text, 0, _LONGEST) is not None

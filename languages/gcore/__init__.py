"""G-CORE with WINDOW and SLIDE (thesis 3.4): graph patterns that construct edges.

In: text. Out: a `RegularQuery`, by way of a syntax tree (`syntax`) that `reading` builds
while the grammar in ``gcore.lark`` is parsed, and that `translation` makes rules from.

Invariant: every error is a `QueryError`; what can be written but not be translated yet, and
what cannot be said at all, stand in the tables of `faults`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lark import Lark
from lark.exceptions import UnexpectedInput

from ...algebra.deadline import NO_DEADLINE, Deadline
from ..parsing.lark_parser import parsed
from ..parsing.tokens import check_text
from ..query.regular_query import RegularQuery
from .reading import reader
from .syntax import Query
from .syntax_errors import explained
from .translation import translated

__all__ = ["grammar", "parse", "recognizes", "tree"]

_BEGINNING = re.compile(
    r"""(?:\s|//[^\n]*|/\*.*?\*/)*
    (?:PATH\s+[\w`]+\s*= | GRAPH\s+VIEW\b | SELECT\s+[\w`]
      | CONSTRUCT\s*\([^()]*\)\s*(?:- | <-\s*[\[/] | \bMATCH\b)
      | MATCH\s*\([^()]*\)\s*(?:- | <-\s*[\[/] | , | (?:ON|WHERE)\b))""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""None of these begins an RQ rule, whose head goes on with an arrow or commas."""


def parse(text: str, time_unit: str = "second", deadline: Deadline = NO_DEADLINE) -> RegularQuery:
    """Reads G-CORE text; windows with a unit are counted in ``time_unit``.

    Raises:
        QueryError: if it is not G-CORE, cannot mean anything, or is not supported yet.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    words = (word.strip("`") for word in re.findall(r"`[^`\n]*`|\w+", text))
    return translated(tree(text, deadline), time_unit, frozenset(words))


def parse_view(
    text: str, time_unit: str = "second", deadline: Deadline = NO_DEADLINE
) -> RegularQuery:
    """Reads G-CORE text of a view, which may construct edges of several labels.

    Raises:
        QueryError, algebra.deadline.OutOfTimeError: as :func:`parse`.
    """
    words = (word.strip("`") for word in re.findall(r"`[^`\n]*`|\w+", text))
    return translated(tree(text, deadline), time_unit, frozenset(words), several=True)


def tree(text: str, deadline: Deadline = NO_DEADLINE) -> Query:
    """The syntax tree of a text.

    Raises:
        QueryError: if it is not G-CORE.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    check_text(text)
    try:
        read = parsed(_parser(), text, deadline)
    except UnexpectedInput:
        raise explained(_parser(), text) from None
    assert isinstance(read, Query)
    return read


def recognizes(text: str) -> bool:
    """Whether ``text`` looks like G-CORE: behind comments, it begins as a query does."""
    return _BEGINNING.match(text) is not None


def grammar() -> str:
    """The grammar, in the notation of lark."""
    return (Path(__file__).parent / "gcore.lark").read_text("utf-8")


@cache
def _parser() -> Lark:
    return Lark(grammar(), parser="lalr", lexer="contextual", transformer=reader())

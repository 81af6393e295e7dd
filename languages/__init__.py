"""Query languages: text to RegularQuery to canonical algebra.

In: query text and a catalog. Out: a `RegularQuery`
(`headrace.languages.query.regular_query`), and from it the canonical `LogicalQuery`
(`headrace.languages.translation.canonical`, Algorithm SGQParser of the thesis).

Invariant: every error is a `QueryError` that says line, column, the offending text and
what was expected; everything behind this folder may assume a valid query.

>>> from headrace.languages import parse
>>> parse("?x, ?y <- ?x (a/b)+ ?y  WINDOW 24h").answer
'Answer'
"""

from ..algebra.deadline import NO_DEADLINE, Deadline
from .query.errors import QueryError
from .query.regular_query import RegularQuery
from .registry import detect, language_named

__all__ = ["QueryError", "RegularQuery", "detect", "parse"]


def parse(
    text: str,
    language: str | None = None,
    time_unit: str = "second",
    deadline: Deadline = NO_DEADLINE,
) -> RegularQuery:
    """Reads a query in ``language``, or in the one that its text looks like.

    ``time_unit`` is the catalog's: windows written with a unit are counted in it.

    Raises:
        QueryError: if the text is not a valid query of the language; E-LANGUAGE if it looks like
            one of a language that is not read here.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    return language_named(language or detect(text)).parse(text, time_unit, deadline)

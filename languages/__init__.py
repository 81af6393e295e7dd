"""Query languages: text to Regular Query to canonical algebra.

In: query text and a catalog. Out: a `RegularQuery` (`query.regular_query`), and from it the
canonical `LogicalQuery` (`translation.canonical`, Algorithm SGQParser of the thesis).

Invariant: every error is a `QueryError` with line, column, the offending text and the expected
constructs; every other folder may assume a valid query.

May import: algebra, catalog. Inside, `query` imports none of the other rooms, `parsing` only
`query`, a language (`rq`, `gcore`) only these two, and `translation` may import all of them.

Start reading at: `registry`, then `rq.parser`, `query.checks` and `translation.canonical`.

>>> from headrace.languages import parse
>>> parse("?x, ?y <- ?x (a/b)+ ?y  WINDOW 24h").answer
'Answer'
"""

from .query.errors import QueryError
from .query.regular_query import RegularQuery
from .registry import detect, parse

__all__ = ["QueryError", "RegularQuery", "detect", "parse"]

"""G-CORE with WINDOW and SLIDE (thesis 3.4): graph patterns that construct edges.

In: text. Out: a `RegularQuery`, by way of a syntax tree (`syntax`) that `reading` builds
while the grammar in ``gcore.lark`` is parsed, and that `translation` makes rules from.

Invariant: every error is a `QueryError`; what can be written but not be translated yet, and what
cannot be said at all, stand in the tables of `errors`.

May import: `query` and `parsing` of the folder above, and no other language.

Start reading at: `parser`, then `syntax` beside the grammar `gcore.lark`.
"""

from ..language import Language
from .parser import parse, parse_view, recognizes

LANGUAGE = Language(
    name="gcore",
    title="G-CORE",
    endings=(".gcore", ".gc"),
    comment="//",
    recognizes=recognizes,
    read=parse,
    read_view=parse_view,
)

__all__ = ["LANGUAGE"]

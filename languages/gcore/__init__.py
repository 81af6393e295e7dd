"""G-CORE with WINDOW and SLIDE (thesis 3.4): graph patterns that construct edges.

In: text. Out: a `RegularQuery`. `reading` builds a syntax tree (`syntax`) while lark parses the
text by ``gcore.lark``, and `translation` turns the tree into rules.

Invariant: every error is a `QueryError`. The tables of `errors` list the constructs that the
grammar accepts but the translation does not support, and those outside the grammar.

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

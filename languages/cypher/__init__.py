"""Seraph and openCypher: reading queries over streams of property graphs.

In: text. Out: a `RegularQuery`. `reading` builds a syntax tree (`syntax`) while lark parses the
text by ``cypher.lark``, and `translation` turns the tree into rules.

Invariant: every error is a `QueryError`; the faults are those of `errors`.

May import: `query` and `parsing` of the folder above, and no other language.

Start reading at: `parser`, then `syntax` beside the grammar `cypher.lark`.
"""

from ..language import Language
from .parser import parse, recognizes

LANGUAGE = Language(
    name="cypher",
    title="Cypher",
    endings=(".cypher", ".cyp", ".seraph"),
    comment="//",
    recognizes=recognizes,
    read=parse,
    read_view=parse,
    read_with=parse,
)

__all__ = ["LANGUAGE"]

"""RQ, the native language: Datalog with regular paths, as the thesis prints it.

In: text. Out: a `RegularQuery`. `printer` turns a `RegularQuery` back into RQ text.

Invariant: no other folder depends on the syntax of RQ.

May import: `query` and `parsing` of the folder above, and no other language.

Start reading at: `parser`, beside its grammar `rq.lark`.
"""

from ..language import Language
from .parser import parse, recognizes

LANGUAGE = Language(
    name="rq",
    title="RQ",
    endings=(".rq",),
    comment="%",
    recognizes=recognizes,
    read=parse,
    read_view=parse,
)

__all__ = ["LANGUAGE"]

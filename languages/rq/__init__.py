"""RQ, the native language: Datalog with regular paths, as the thesis prints it.

In: text. Out: a `RegularQuery`, and RQ text of one (`headrace.languages.rq.printer`).

Invariant: what is specific to RQ's text stays here; it imports `query` and `parsing` of the folder
above, and no other language. Start reading at `parser` and `rq.lark`.
"""

from .parser import grammar, parse, recognizes

__all__ = ["grammar", "parse", "recognizes"]

"""Regular expressions over texts, in the syntax and by the automata of RE2.

RE2 takes time proportional to the text whatever the expression, so that no query can stop a run. It
has neither references to groups nor conditions on what stands around a match.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2


def matches(text: str, expression: str) -> bool | None:
    """Whether the whole text is a match; None if the expression is not valid."""
    automaton = _compiled(expression)
    return None if isinstance(automaton, str) else automaton.fullmatch(text) is not None


def fault(expression: str) -> str | None:
    """What is wrong with an expression, in the words of RE2; None if nothing is."""
    automaton = _compiled(expression)
    return automaton if isinstance(automaton, str) else None


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    """The automaton of an expression, or what is wrong with it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0]
        return reason.decode() if isinstance(reason, bytes) else str(reason)
    except UnicodeEncodeError:
        return "a character that no text has"

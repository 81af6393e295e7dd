"""``range`` and ``split`` of constants, which are lists that are written out."""

from __future__ import annotations

from typing import Final

from . import errors
from .expression_text import expression_text
from .leaves import Literal
from .syntax import Call, Computed, Expression, ListOf

LONGEST: Final = 1_000
"""The most members of a list that a function of constants gives."""


def written_out(of: Expression) -> Expression:
    """The members of ``range`` and ``split`` of constants; any other expression as it is.

    Raises:
        QueryError: E-SIZE for a list of more than :data:`LONGEST` members.
    """
    if not isinstance(of, Call) or of.distinct:
        return of
    match of.function.text.lower(), [constant(part) for part in of.arguments]:
        case "range", [int(start), int(end), *steps] if len(steps) < 2:
            step = steps[0] if steps else 1
            if not isinstance(step, int) or step == 0:
                return of
            if (end - start) // step >= LONGEST:
                raise errors.LONG.error(of.at, expression_text(of))
            members: list[int] | list[str] = [*range(start, end + (1 if step > 0 else -1), step)]
        case "split", [str(text), str(mark)]:
            members = text.split(mark) if mark else list(text)
        case _:
            return of
    return ListOf(tuple(Literal(one, of.at) for one in members), of.at)


def constant(of: Expression) -> object:
    """The value of a constant; None for another expression, and for a truth value."""
    match of:
        case Literal(bool()):
            return None
        case Literal(value):
            return value
        case Computed("NEG", (Literal(int() as value),)):
            return -value
    return None

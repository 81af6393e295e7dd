"""The functions of Cypher, by the functions of the algebra that compute them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ...algebra import functions, regular_texts
from ...algebra.functions import FUNCTIONS
from ...algebra.scalar import Literal
from ..query import regular_query as rq
from ..query.atoms import Location
from ..query.regular_query import Computed
from . import errors
from .leaves import TextTest

Arguments = Sequence[rq.Value]

NULL: Final = Computed(functions.NULL_VALUE, ())
"""The value null."""

SAME: Final[Mapping[str, str]] = {
    "tolower": "TO_LOWER",
    "lower": "TO_LOWER",
    "toupper": "TO_UPPER",
    "upper": "TO_UPPER",
    "size": "TEXT_SIZE",
    "char_length": "TEXT_SIZE",
    "character_length": "TEXT_SIZE",
    "trim": "TEXT_TRIM",
    "btrim": "TEXT_TRIM",
    "ltrim": "TEXT_LTRIM",
    "rtrim": "TEXT_RTRIM",
    "left": "TEXT_LEFT",
    "right": "TEXT_RIGHT",
    "substring": "TEXT_PART",
    "replace": "TEXT_REPLACE",
    "reverse": "TEXT_REVERSE",
    "tointeger": "AS_INTEGER",
    "tofloat": "AS_FLOAT",
    "tostring": "AS_TEXT",
    "toboolean": "AS_BOOLEAN",
    "tointegerornull": "AS_INTEGER",
    "tofloatornull": "AS_FLOAT",
    "tostringornull": "AS_TEXT",
    "tobooleanornull": "AS_BOOLEAN",
    "coalesce": functions.FIRST_NOT_NULL,
    "abs": "ABS",
    "ceil": "ROUND_UP",
    "ceiling": "ROUND_UP",
    "floor": "ROUND_DOWN",
    "round": "ROUND_NEAREST",
    "sign": "SIGN_OF",
    "sqrt": "SQUARE_ROOT",
    "exp": "EXPONENTIAL",
    "log": "NATURAL_LOG",
    "log10": "DECIMAL_LOG",
    "sin": "SINE",
    "cos": "COSINE",
    "tan": "TANGENT",
    "asin": "ARC_SINE",
    "acos": "ARC_COSINE",
    "atan": "ARC_TANGENT",
    "atan2": "ARC_TANGENT_OF",
    "degrees": "AS_DEGREES",
    "radians": "AS_RADIANS",
}
"""The functions that are one of the algebra, in lower case."""

_ONE: Final = Literal(1.0)
MADE: Final[Mapping[str, tuple[int, Callable[[Arguments], rq.Value]]]] = {
    "pi": (0, lambda _: Literal(math.pi)),
    "e": (0, lambda _: Literal(math.e)),
    "cot": (1, lambda of: Computed("/", (_ONE, Computed("TANGENT", (of[0],))))),
    "haversin": (
        1,
        lambda of: Computed(
            "/", (Computed("-", (_ONE, Computed("COSINE", (of[0],)))), Literal(2.0))
        ),
    ),
    "nullif": (
        2,
        lambda of: Computed(
            functions.CASE_WHEN, (Computed(functions.EQUAL, (of[0], of[1])), NULL, of[0])
        ),
    ),
    "isempty": (
        1,
        lambda of: Computed(functions.EQUAL, (Computed("TEXT_SIZE", (of[0],)), Literal(0))),
    ),
}
"""The other functions, with the numbers of their arguments."""


def called(name: str, arguments: Arguments) -> rq.Value | None:
    """The value of a function; None if there is none of the name with so many arguments."""
    if (of := SAME.get(name)) is not None:
        least, most = (1, 1) if of == "ABS" else (FUNCTIONS[of].least, FUNCTIONS[of].most)
        return Computed(of, tuple(arguments)) if least <= len(arguments) <= most else None
    if name in MADE and MADE[name][0] == len(arguments):
        return MADE[name][1](arguments)
    return None


def computed(sign: str, arguments: Arguments) -> rq.Value:
    """Arithmetic: ``+ - * / % ^`` of two values, ``NEG`` of one.

    ``+`` joins texts if a side is a text for sure. ``/`` keeps the fraction if a side has one for
    sure; otherwise the values decide.
    """
    values = tuple(arguments)
    match sign:
        case "+" if any(gives(value) == "string" for value in values):
            texts = [v if gives(v) == "string" else Computed("AS_TEXT", (v,)) for v in values]
            return Computed("TEXT_JOIN", tuple(texts))
        case "/" if not any(gives(value) == "number" for value in values):
            return Computed("DIVIDE", values)
        case "%":
            return Computed("MODULO", values)
        case "^":
            return Computed("TO_POWER", values)
    return Computed(sign, values)


def gives(value: rq.Value) -> str | None:
    """The type of a value as far as it is sure without a catalog."""
    match value:
        case Literal():
            return value.type
        case Computed("/"):
            return "number"
        case Computed(functions.CASE_WHEN | functions.FIRST_NOT_NULL as name, parts):
            results = [parts[place] for place in functions.results_of(name, len(parts))]
            kinds = {gives(part) for part in results if part != NULL}
            return kinds.pop() if len(kinds) == 1 else None
        case Computed(name, parts) if name in FUNCTIONS and FUNCTIONS[name].gives != "numeric":
            return FUNCTIONS[name].gives
        case Computed(_, parts):
            return "number" if any(gives(part) == "number" for part in parts) else None
    return None


def depth_of(value: rq.Value) -> int:
    """How deep functions nest in a value."""
    if not isinstance(value, Computed):
        return 0
    return 1 + max(map(depth_of, value.arguments), default=0)


def text_test(test: TextTest, value: rq.Value, part: rq.Value) -> rq.Value:
    """``value STARTS WITH part`` and the like, as a truth value."""
    names = {TextTest.STARTS: "TEXT_STARTS", TextTest.ENDS: "TEXT_ENDS"}
    return Computed(names.get(test, "TEXT_CONTAINS"), (value, part))


def matched(value: rq.Value, expression: rq.Value, at: Location) -> rq.Value:
    """``value =~ expression``, as a truth value.

    Raises:
        QueryError: E-TYPE for a text that is not a valid regular expression.
    """
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        reason = regular_texts.fault(expression.value)
        if reason is not None:
            fault = errors.NO_EXPRESSION
            raise fault.because(f"{fault.reason}: {reason}", "").error(at, expression.value)
    return Computed("TEXT_MATCHES", (value, expression))

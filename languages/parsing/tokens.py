"""The values of the tokens of a query: names, strings, numbers, signs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lark import Token

from ...algebra.functions import LARGEST_INTEGER, SMALLEST_INTEGER
from ...algebra.scalar import DEEPEST_VALUE
from ..query.atoms import Location
from ..query.errors import QueryError
from ..query.regular_query import Sign

MOST_CHARACTERS = 200_000
SIGNS: Mapping[str, Sign] = MappingProxyType(
    {
        "==": "=",
        "=": "=",
        "!=": "<>",
        "≠": "<>",
        "<>": "<>",
        "<": "<",
        "<=": "<=",
        "≤": "<=",
        ">": ">",
        ">=": ">=",
        "≥": ">=",
    }
)
"""The signs of comparisons by their spellings."""


def check_text(text: str) -> None:
    """Refuses a text that is too long for a query, or not Unicode.

    Raises:
        QueryError: E-SIZE, E-SYNTAX.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError("E-SIZE", f"the query is longer than {MOST_CHARACTERS} characters")
    if re.search("[\ud800-\udfff]", text):
        raise QueryError("E-SYNTAX", "the query is not valid Unicode text", hint="save it as UTF-8")


def location_of(token: Token) -> Location:
    """The place where a token begins."""
    return Location(token.line or 1, token.column or 1)


def end_of(token: Token) -> Location:
    """The place right after a token."""
    return Location(token.end_line or 1, token.end_column or 1)


def name_of(token: Token) -> str:
    """A name, without backquotes."""
    text = str(token)
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def string(token: Token) -> str:
    """The text of a string in quotes.

    Raises:
        QueryError: E-SYNTAX for an escape that JSON does not know.
    """
    inside = str(token)[1:-1]
    if "\\" not in inside:
        return inside
    # JSON's escapes, and a backslash before either quote.
    quoted = re.sub(r"\\(.)|\"", lambda m: "'" if m[1] == "'" else m[0] if m[1] else '\\"', inside)
    try:
        text = json.loads(f'"{quoted}"', strict=False)
        text.encode()  # an escape can be an unpaired surrogate
    except (json.JSONDecodeError, UnicodeEncodeError):
        raise QueryError(
            "E-SYNTAX",
            "the string has an unknown escape",
            at=location_of(token),
            text=str(token),
            hint=r"""known are \" \' \\ \/ \b \f \n \r \t and \uXXXX""",
        ) from None
    assert isinstance(text, str)
    return text


def whole_number(token: Token) -> int:
    """The vertex that a number names.

    Raises:
        QueryError: E-SYNTAX if the number is not in canonical form.
    """
    if len(token) > 20 or not re.fullmatch(r"0|-?[1-9][0-9]*", token):
        raise QueryError(
            "E-SYNTAX",
            "a number that names a vertex is a whole number in digits, without leading zeros",
            at=location_of(token),
            text=str(token),
            hint="put it in quotes if this is what the vertex is called",
        )
    return int(token)


def number(token: Token) -> int | float:
    """The number of a token.

    Raises:
        QueryError: E-SYNTAX if the number does not fit into 64 bits.
    """
    if set(token) & set(".eE"):
        if math.isfinite(real := float(token)):
            return real
    elif SMALLEST_INTEGER <= (whole := int(token[:400])) <= LARGEST_INTEGER:
        return whole
    raise QueryError(
        "E-SYNTAX",
        "the number is beyond what 64 bits hold",
        at=location_of(token),
        text=str(token),
    )


def repeats(token: Token) -> int:
    """A bound of a repeat; a longer number is cut to nine digits, which exceed every limit."""
    return int(token[:9])


def nested(depths: Iterable[int], at: Location) -> int:
    """The depth of arithmetic whose operands have these depths.

    Raises:
        QueryError: E-SIZE beyond :data:`headrace.algebra.scalar.DEEPEST_VALUE`.
    """
    depth = 1 + max(depths, default=0)
    if depth > DEEPEST_VALUE:
        raise QueryError(
            "E-SIZE",
            f"arithmetic is nested more than {DEEPEST_VALUE} deep",
            at=at,
            hint="split the comparison",
        )
    return depth

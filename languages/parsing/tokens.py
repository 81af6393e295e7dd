"""What the tokens of a query say; RQ and G-CORE write them alike."""

from __future__ import annotations

import json
import re

from lark import Token

from ..query.errors import QueryError
from ..query.regular_query import Location

MOST_CHARACTERS = 200_000


def check_text(text: str) -> None:
    """Refuses what is too long to be a query, or no text.

    Raises:
        QueryError: E-SIZE, E-SYNTAX.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError("E-SIZE", f"the query is longer than {MOST_CHARACTERS} characters")
    if re.search("[\ud800-\udfff]", text):
        raise QueryError("E-SYNTAX", "the query is not valid Unicode text", hint="save it as UTF-8")


def location_of(token: Token) -> Location:
    """Where a token begins."""
    return Location(token.line or 1, token.column or 1)


def end_of(token: Token) -> Location:
    """Where the next one could begin."""
    return Location(token.end_line or 1, token.end_column or 1)


def name_of(token: Token) -> str:
    """A name, without backquotes."""
    text = str(token)
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def string(token: Token) -> str:
    """What a string in quotes says.

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
        text.encode()  # an escape can be half of a pair of surrogates
    except (json.JSONDecodeError, UnicodeEncodeError):
        raise QueryError(
            "E-SYNTAX",
            "an escape in the string is not known",
            at=location_of(token),
            text=str(token),
            hint=r"""known are \" \' \\ \/ \b \f \n \r \t and \uXXXX""",
        ) from None
    assert isinstance(text, str)
    return text


def whole_number(token: Token) -> int:
    """The vertex that a number names.

    Raises:
        QueryError: E-SYNTAX if it could also be written in another way.
    """
    if len(token) > 20 or not re.fullmatch(r"0|-?[1-9][0-9]*", token):
        raise QueryError(
            "E-SYNTAX",
            "a number that names a vertex is a whole one, in digits and without leading zeros",
            at=location_of(token),
            text=str(token),
            hint="put it in quotes if this is what the vertex is called",
        )
    return int(token)

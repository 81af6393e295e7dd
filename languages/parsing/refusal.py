"""What a lark parser refused: where it stood, and what it would have taken there."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Lark, Token
from lark.exceptions import UnexpectedInput


@dataclass(frozen=True, slots=True)
class Refusal:
    """The parser's error, the tokens ``read`` before it, and the types ``accepted`` there."""

    error: UnexpectedInput
    read: tuple[Token, ...]
    accepted: frozenset[str]


def refusal(parser: Lark, text: str) -> Refusal:
    """Why ``parser`` has refused ``text``: reads it again, token by token."""
    cursor = parser.parse_interactive(text)
    read: list[Token] = []
    try:
        for token in cursor.iter_parse():
            read.append(token)
        cursor.feed_eof(read[-1] if read else None)  # type: ignore[no-untyped-call]  # lark's
    except UnexpectedInput as error:
        accepted: set[str] = cursor.accepts()  # type: ignore[no-untyped-call]  # lark's
        return Refusal(error, tuple(read), frozenset(accepted))
    raise AssertionError("the parser refused a text that it now takes")

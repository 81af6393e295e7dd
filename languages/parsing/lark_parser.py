"""Running a parser over a text under a deadline."""

from __future__ import annotations

from lark import Lark, Token

from ...algebra.deadline import Deadline


def parsed(parser: Lark, text: str, deadline: Deadline) -> object:
    """What the parser's transformer makes of a text.

    Raises:
        lark.exceptions.UnexpectedInput: if the text is not of its grammar.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    parser_state = parser.parse_interactive(text)
    last: Token | None = None
    for token in parser_state.iter_parse():
        deadline.check("the query was read")
        last = token
    result: object = parser_state.feed_eof(last)  # type: ignore[no-untyped-call]  # lark's
    return result

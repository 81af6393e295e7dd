"""Parses a text with a lark grammar; the language explains its syntax errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from ...algebra.deadline import Deadline
from ..query.errors import QueryError
from .tokens import check_text


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused text, with the state of the parser.

    Attributes:
        error: the parser's error.
        text: the whole text.
        read: the tokens before the error.
        accepted: the types of the tokens that the parser accepts at the error.
    """

    error: UnexpectedInput
    text: str
    read: tuple[Token, ...]
    accepted: frozenset[str]


class Parser:
    """The parser of a language, built from its grammar on first use."""

    def __init__(
        self,
        grammar: Path,
        transformer: Callable[[], Transformer[Token, Any]],
        explain: Callable[[Refusal], QueryError],
    ) -> None:
        """Initializes the parser without reading the grammar.

        Args:
            grammar: the file of the lark grammar.
            transformer: creates a transformer, with a method for each rule of the grammar.
            explain: returns the error of a refused text.
        """
        self._file = grammar
        self._transformer = transformer
        self._explain = explain

    def parse(self, text: str, deadline: Deadline) -> Any:
        """The result of the transformer for a text.

        Raises:
            QueryError: if the text is too long, not Unicode, or not in the grammar.
            algebra.deadline.OutOfTimeError: if the time is over.
        """
        check_text(text)
        with deadline.paused():  # the first text of a process waits for the grammar
            lark = self._lark
        cursor = lark.parse_interactive(text)
        read: list[Token] = []
        try:
            for token in cursor.iter_parse():
                deadline.check("the query was read")
                read.append(token)
            return cursor.feed_eof(read[-1] if read else None)  # type: ignore[no-untyped-call]
        except UnexpectedInput as error:
            accepted: set[str] = cursor.accepts()  # type: ignore[no-untyped-call]  # lark's
            refusal = Refusal(error, text, tuple(read), frozenset(accepted))
        raise self._explain(refusal)

    @property
    def grammar(self) -> str:
        """The grammar, in the notation of lark."""
        return self._file.read_text("utf-8")

    @cached_property
    def _lark(self) -> Lark:
        return Lark(
            self.grammar, parser="lalr", lexer="contextual", transformer=self._transformer()
        )

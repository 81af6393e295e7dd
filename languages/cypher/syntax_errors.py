"""Explains syntax errors of Cypher to the author of the query."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from ..parsing.lark_parser import Refusal
from ..parsing.tokens import end_of, location_of
from ..query.atoms import Location
from ..query.errors import QueryError
from .unsupported import OUTSIDE, form_at

_WORDS = {
    "MATCH": "MATCH",
    "WITH": "WITH",
    "RETURN": "RETURN",
    "CONSTRUCT_CREATE": "CONSTRUCT CREATE",
    "_GRAPH": "GRAPH",
    "_WHERE": "WHERE",
    "_WITHIN": "WITHIN",
    "_AS": "AS",
    "_AND": "AND",
    "_OR": "OR",
    "NULL": "NULL",
    "_WHEN": "WHEN",
    "_THEN": "THEN",
    "_ELSE": "ELSE",
    "_END": "END",
    "UNION": "UNION",
    "EMIT": "EMIT",
    "_EVERY": "EVERY",
    "_QUERY": "QUERY",
    "_BY": "BY",
    "LIMIT": "LIMIT",
    "_RANGE": "RANGE",
    "INTO": "INTO",
    "_COMMA": "a comma",
    "_RPAR": ")",
    "_RSQB": "]",
    "LBRACE": "{",
    "_RBRACE": "}",
    "_COLON": "a colon and a label, as :Person",
    "_TO": "..",
    "INT": "a whole number",
    "DURATION": "a length of time, as PT4H",
    "IRI": "the name of a stream",
    "NAME": "a variable",
    "WORD": "a name",
    "$END": "the end of the query",
}
_VALUES = {"NUMBER", "STRING", "TRUTH", "NAME"}
_RELATIONSHIPS = {"RIGHT_OPEN", "LEFT_OPEN", "RIGHT_ARROW", "LEFT_ARROW", "NO_ARROW", "BOTH_ARROWS"}
_CLOSINGS = {"RIGHT_CLOSE", "CLOSE"}
_OPERATORS = {
    *("CMP", "EQUALS", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "CARET", "IN", "IS"),
    *("STARTS_WITH", "ENDS_WITH", "CONTAINS", "XOR"),
}
_CLAUSES = {"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "CALL", "UNWIND"}


def explained(refusal: Refusal) -> QueryError:
    """The error of a text that the grammar refuses."""
    error, text, read, accepted = refusal.error, refusal.text, refusal.read, refusal.accepted
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        at = end_of(read[-1]) if read else Location(1, 1)
        word = ""
        reason = "the query ends too early" if read else "the query is empty"
    else:
        at, rest = _place(error, text)
        word = _first_word(rest)
        outside = OUTSIDE.get(word.upper())
        if outside is not None and (word.upper() not in _CLAUSES or _begins_clause(read, accepted)):
            return outside.error(at, word)
        if (fault := form_at(text[: len(text) - len(rest)], rest)) is not None:
            return fault.error(at, word)
        unclosed = word in {'"', "'", "`"}
        reason = "it is not closed on its line" if unclosed else "it cannot stand here"
    return QueryError(
        "E-SYNTAX",
        reason,
        at=at,
        text=word,
        expected=_expected(accepted),
        hint=_hint(word, read, accepted),
    )


def _begins_clause(read: Sequence[Token], accepted: Set[str]) -> bool:
    """Whether a clause may begin where the parser stopped."""
    return not read or bool({"RETURN", "UNION", "$END"} & accepted)


def _place(error: UnexpectedInput, text: str) -> tuple[Location, str]:
    """The place where the parser stopped, and the text from there on."""
    if isinstance(error, UnexpectedToken):
        return location_of(error.token), text[error.token.start_pos or 0 :]
    return Location(error.line, error.column), text[error.pos_in_stream or 0 :]


def _first_word(rest: str) -> str:
    """The word, arrow, or else the one character, that ``rest`` begins with."""
    return re.match(r"\w+|<-|->|.|\s", rest)[0]  # type: ignore[index]  # one always fits


def _expected(accepted: Set[str]) -> tuple[str, ...]:
    """The accepted terminals in words, the likeliest first."""
    rest = set(accepted)
    words: list[str] = []
    if "REGISTER" in rest:
        return ("a query, as MATCH (a)-[:KNOWS]->(b) RETURN a, b",)
    if "NOT" in rest and rest >= _VALUES:
        return ("a value or a condition, as a.age or a.age > 3",)
    if rest >= _VALUES:
        return ("a value, as r.amount or 100",)
    if "CMP" in rest:
        words.append("an operator, as <")
        rest -= _OPERATORS
    if rest & _RELATIONSHIPS:
        words.append("a relationship, as -[:KNOWS]->")
    if rest & _CLOSINGS:
        words.append("]-> or ]-")
    if "LPAR" in rest and not words:
        words.append("a node, as (a)")
    if {"ASC", "DESC"} <= rest:
        words.append("ASC or DESC")
    words.extend(word for terminal, word in _WORDS.items() if terminal in rest)
    return tuple(dict.fromkeys(words))


def _hint(word: str, read: Sequence[Token], accepted: Set[str]) -> str:
    before = read[-1].type if read else ""
    if word == "!" or (word == "=" and before in ("EQUALS", "CMP")):
        return "equal is =, different is <>"
    if word == "=" and "_COLON" in accepted:
        return "a property has a colon, as {name: 'Ann'}"
    if word == "[" and before == "_RPAR":
        return "a relationship begins with a dash: -[:KNOWS]->"
    if word.lower() in ("window", "slide"):
        return (
            "write the window as in REGISTER QUERY q { FROM STREAM s WITH WINDOW RANGE PT1H ... }"
        )
    if before == "_EVERY" or word.lower() == "every":
        return "write EMIT SNAPSHOT EVERY PT1M"
    if accepted & {"NAME"} and re.match(r"[0-9]", word):
        return "a name that begins with a digit goes in backquotes"
    if accepted & {"NAME"} and re.match(r"[A-Za-z]", word):
        return "a keyword that is meant as a name goes in backquotes"
    return ""

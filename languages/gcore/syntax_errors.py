"""Explains syntax errors of G-CORE to the author of the query."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from ..parsing.lark_parser import Refusal
from ..parsing.tokens import end_of, location_of
from ..query.atoms import Location
from ..query.errors import QueryError
from . import errors
from .errors import OUTSIDE

_WORDS = {
    "MATCH": "MATCH",
    "_OPTIONAL": "OPTIONAL",
    "_WHERE": "WHERE",
    "_ON": "ON",
    "_WINDOW": "WINDOW",
    "_SLIDE": "SLIDE",
    "_UNION": "UNION",
    "_AS": "AS",
    "_VIEW": "VIEW",
    "_AND": "AND",
    "_OR": "OR",
    "_COMMA": "a comma",
    "LPAR": "(",
    "_RPAR": ")",
    "_RSQB": "]",
    "_RBRACE": "}",
    "_END": ">",
    "_COLON": ":label",
    "_BAR": "|",
    "IS": "=",
    "_TO": "..",
    "INT": "a whole number",
    "DURATION": "a length of time, as 24h",
    "NAME": "a variable",
    "WORD": "a name",
    "STRING": "a constant",
    "$END": "the end of the query",
}
_BEFORE_A_NAME = {"E-SHORTEST", "E-MODE", "E-PHYS"}
"""Words that are also valid names, so that the parser stops only after them."""
_LENGTHS = {"_WINDOW", "_SLIDE", "_EVERY"}
"""The words before a length of time in brackets."""
_REPEATS = {"STAR", "PLUS", "QUEST", "CARET", "BANG"}
_VALUES = {"NUMBER", "STRING", "TRUTH", "NAME"}
_ARITHMETIC = {"ADD", "MINUS", "STAR", "SLASH"}
_STEPS = {"_COLON", "_TILDE", "LPAR", "ANY"}


def explained(refusal: Refusal) -> QueryError:
    """The error of a text that the grammar refuses."""
    error, text, read, accepted = refusal.error, refusal.text, refusal.read, refusal.accepted
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        at = end_of(read[-1]) if read else Location(1, 1)
        word = ""
        reason = "the query ends too early" if read else "the query is empty"
    else:
        at, rest = _place(error, text)
        outside = _outside(at, rest, read)
        if outside is not None:
            return outside
        word = _first_word(rest)
        unclosed = word in {'"', "'", "`"}
        reason = "it is not closed on its line" if unclosed else "it cannot stand here"
    return QueryError(
        "E-SYNTAX",
        reason,
        at=at,
        text=word,
        expected=_expected(accepted, read[-1].type if read else ""),
        hint=_hint(word, read, accepted),
    )


def _place(error: UnexpectedInput, text: str) -> tuple[Location, str]:
    """The place where the parser stopped, and the text from there on."""
    if isinstance(error, UnexpectedToken):
        return location_of(error.token), text[error.token.start_pos or 0 :]
    return Location(error.line, error.column), text[error.pos_in_stream or 0 :]


def _first_word(rest: str) -> str:
    """The word, arrow, or else the one character, that ``rest`` begins with."""
    return re.match(r"\w+|<-|->|.|\s", rest)[0]  # type: ignore[index]  # one always fits


def _outside(at: Location, rest: str, read: Sequence[Token]) -> QueryError | None:
    """The error of an unsupported construct that begins here, after a number, or before."""
    word = _first_word(rest)
    before = read[-1] if read else None
    if word.upper() == "EXISTS":
        return errors.EXISTS.error(at, word)
    fault = OUTSIDE.get(word.upper())
    if fault is not None:
        return fault.error(at, word)
    counted = re.match(r"\d+\s+(\w+)", rest)
    if counted is not None and counted[1].upper() in OUTSIDE:
        return OUTSIDE[counted[1].upper()].error(at, counted[0])
    if before is not None and before.type in {"NAME", "DURATION", "WORD"}:
        fault = OUTSIDE.get(before.upper())
        if fault is not None and fault.code in _BEFORE_A_NAME:
            return fault.error(location_of(before), str(before))
    return None


def _expected(accepted: Set[str], before: str = "") -> tuple[str, ...]:
    """The accepted terminals in words, the likeliest first; ``before`` is the type of the last
    token."""
    rest = set(accepted)
    words: list[str] = []
    if {"CONSTRUCT", "SELECT"} <= rest:
        words.append("CONSTRUCT, SELECT or PATH")
        rest -= {"CONSTRUCT", "SELECT", "_PATH"}
        if "_GRAPH" in rest:
            words = ["a query, as CONSTRUCT (x)-[:near]->(y) MATCH (x)-[:likes]->()<-[:likes]-(y)"]
            return tuple(words)
    if "NOT" in rest:
        return ("a condition, as (x) = (y) or e.amount > 100",)
    if rest >= _VALUES:
        return ("a value, as e.amount or 100",)
    if "CMP" in rest:
        words.append("a comparison, as <")
        rest -= {"CMP", "IS", *_ARITHMETIC}
    if rest >= _STEPS:
        words.append("a path, as :likes+ or ~name" if "_END" not in rest else "a further step")
        rest -= _STEPS
    if rest >= _REPEATS:
        words.append("a repeat (* + ?)")
        rest -= {*_REPEATS, "_OLD_OR", "_LABEL_OR", "SLASH", "_DOT"}
    if {"MINUS", "LEFT"} <= rest:
        words.append("an edge, as -[:likes]->")
        rest -= {"MINUS", "LEFT"}
    if {"LSQB", "SLASH"} <= rest:
        words.append("[:label] or /<path>/")
        rest -= {"LSQB", "SLASH"}
    if "LPAR" in rest and not words and rest <= {"LPAR", "_COMMA_ON", "_ON"}:
        return ("a vertex, as (x)",) if before not in _LENGTHS else ("a length, as (24h)",)
    words.extend(word for terminal, word in _WORDS.items() if terminal in rest)
    return tuple(dict.fromkeys(words))


def _hint(word: str, read: Sequence[Token], accepted: Set[str]) -> str:
    if not read:
        if word.lower() == "match":
            return "say first what the query gives: SELECT x, y or CONSTRUCT (x)-[:label]->(y)"
        return ""
    before = read[-1]
    if word.lower() in {"match", "construct", "select"} and "MATCH" not in accepted:
        return "a keyword that is meant as a name goes in backquotes"
    if before.type == "LPAR" and "_TILDE" in accepted and re.match(r"\w", word):
        return "a label in a path has a colon, before it or before the bracket: :(a|b)"
    if before.type == "_BEGIN" and re.match(r"\w", word):
        return f"a label in a path has a colon: :{word}"
    if word.lower() == "window" or (word.lower() == "slide" and before.type != "_RPAR"):
        return "a window is that of a stream: write ON stream WINDOW (24h) behind the patterns"
    if before.type in _LENGTHS:
        return f"a length stands in brackets: {before.upper()} ({word})"
    if word == "+":
        return "a + b with blanks on both sides means either, a+ without means once or more"
    if {"IS", "CMP"} & {token.type for token in read[-2:]} and accepted <= {"NAME", "QUOTED"}:
        return (
            "vertices are compared in brackets, as (x) = (y), edges with each other, as e = f, "
            "or by properties, as e.ts = f.ts"
        )
    if "_TO" in accepted or (word == "," and before.type == "INT"):
        return "bounds are written *{2..4}"
    return ""

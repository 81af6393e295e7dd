"""Explains syntax errors of RQ to the author of the query."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from lark import Token
from lark.exceptions import UnexpectedToken

from ..parsing.lark_parser import Refusal
from ..parsing.tokens import end_of, location_of
from ..query.errors import QueryError

_TERMS = {"NAME", "QVAR", "STRING", "NUMBER", "ANY"}
_ARITHMETIC = {"ADD", "SUB", "MUL", "DIV"}
_REPEATS = {"STAR", "PLUS", "QUEST", "_LBRACE", "_REVERSED"}
_WORDS = {
    "_ARROW": "<-",
    "_COMMA": "a comma",
    "_DOT": "a dot",
    "_LPAR": "(",
    "_RPAR": ")",
    "_LBRACE": "{",
    "_RBRACE": "}",
    "_BAR": "|",
    "_THEN": "/",
    "_CARET": "^",
    "_AS": "as",
    "_OVER": "over and a variable",
    "_STEP": "->",
    "_ON": "ON",
    "_WINDOW": "WINDOW",
    "DIFFERENT": "DIFFERENT EDGES",
    "_SLIDE": "SLIDE",
    "ORDER_BY": "ORDER BY",
    "LIMIT_TO": "LIMIT and a number",
    "OFFSET_TO": "OFFSET and a number",
    "ASC": "ASC",
    "DESC": "DESC",
    "INT": "a whole number",
    "DURATION": "a length of time, as 24h",
    "NAME": "a name",
    "QVAR": "a variable",
    "$END": "the end of the query",
}
_LABELS = ("NAME", "QUOTED")
_NEGATIONS = ("!", "¬", "~")
_OTHER_WORDS = ("or", "is", "and", "in")


# The type of an unexpected token is ambiguous, so the functions below recognize the token by its
# text. The type of an accepted token is certain.


def explained(refusal: Refusal) -> QueryError:
    """The error of a text that the grammar refuses."""
    error, text, read, accepted = refusal.error, refusal.text, refusal.read, refusal.accepted
    if isinstance(error, UnexpectedToken):
        token = error.token
    else:
        token = Token("", _unreadable(text[error.pos_in_stream or 0 :]))
        token.line, token.column = error.line, error.column
    if token.type == "$END" and read:
        last = end_of(read[-1])
        token.line, token.column = last.line, last.column
    return (
        _negation(token, read, accepted)
        or _one_term(token, read, accepted)
        or QueryError(
            "E-SYNTAX",
            _reason(token, read),
            at=location_of(token),
            text=str(token),
            expected=_expected(accepted),
            hint=_hint(token, read, accepted),
        )
    )


def _unreadable(rest: str) -> str:
    """The word, or else the one character, that ``rest`` begins with."""
    return re.match(r"\w+|.|\s", rest)[0]  # type: ignore[index]  # one of the three always fits


def _negation(token: Token, read: Sequence[Token], accepted: Set[str]) -> QueryError | None:
    sign: Token | None = None
    if str(token)[:1] in _NEGATIONS and {"STRING", "_LPAR"} <= accepted:
        sign = token
    elif re.match(r"""[(?"'0-9]|_$""", token):
        start = _start_of_atom(read)
        if start is not None and start.type == "NAME" and start.lower() == "not":
            sign = start
    if sign is None:
        return None
    hint = "as in likes(x, y), not blocks(y, x), or not {blocks(y, z), likes(z, x)}"
    if sign == "!":
        hint += "; an edge of any label but blocks is x !blocks y"
    return QueryError(
        "E-NEG",
        "negation is written with `not` before an atom, or before atoms in braces",
        at=location_of(sign),
        text=str(sign),
        hint=hint,
    )


def _one_term(token: Token, read: Sequence[Token], accepted: Set[str]) -> QueryError | None:
    """The error of `l(x)`; the parser stops at `)`, or after it, where a path could continue."""
    kinds = [t.type for t in read[-5:]]
    begins = (["_ARROW"], ["_COMMA"])
    if kinds[-2:] == ["_LPAR", "_RPAR"] and kinds[-4:-3] in begins:
        count = "no terms"
    elif (token.type == "_RPAR" and accepted == {"_COMMA"}) or (
        kinds[-3:] == ["_LPAR", "NAME", "_RPAR"] and kinds[:1] in begins
    ):
        count = "1 term"
    else:
        return None
    start = _start_of_atom(read)
    if start is None or start.type not in _LABELS:
        return None
    return QueryError(
        "E-ARITY",
        f"an atom relates two vertices, this one has {count}",
        at=location_of(start),
        text=str(start),
        hint="write label(source, target), with _ for an end that does not matter",
    )


def _start_of_atom(read: Sequence[Token]) -> Token | None:
    """The first token of the current atom; None outside a body."""
    start: Token | None = None
    in_body, fresh, depth = False, False, 0
    for token in read:
        if token.type == "_ARROW":
            in_body, fresh, depth = True, True, 0
        elif token.type == "_DOT":
            in_body = False
        elif token.type == "_COMMA" and depth == 0:
            fresh = True
        elif fresh and token.type != "_LPAR":
            start, fresh = token, False
        elif not fresh and token.type in {"_LPAR", "_RPAR"}:
            depth += 1 if token.type == "_LPAR" else -1
    return start if in_body and not fresh else None


def _reason(token: Token, read: Sequence[Token]) -> str:
    if token.type == "$END":
        return "the query ends too early" if read else "the query is empty"
    if str(token) in {'"', "'", "`"}:
        return "it is not closed on its line"
    return "it cannot stand here" if token.type else "it is not a sign of the language here"


def _expected(accepted: Set[str]) -> tuple[str, ...]:
    """The accepted terminals in words, the likeliest first."""
    rest = set(accepted)
    words: list[str] = []
    if {"STRING", "QUOTED", "_LPAR"} <= rest and "CMP" not in rest and "_CARET" not in rest:
        return ("an atom, as likes(x, y) or x likes+ y",)
    if "_ABS" in rest:
        words.append("a value, as e.amount or 100")
        rest -= {*_TERMS, "SUB", "_LPAR"}
    if "STRING" in rest:
        words.append("a variable or a constant")
        rest -= _TERMS
    rest -= _ARITHMETIC
    if "CLOSURE" in rest:
        words.append("(source, target)")
    if {"QUOTED", "_CARET"} <= rest:
        words.append("a path, as likes+ or (likes|^follows)*")
        rest -= {"NAME", "QUOTED", "_CARET", "_LPAR", "ANY", "STREAM", "BANG"}
    if "CMP" in rest:
        words.append("a comparison, as e.amount > 100")
    if rest >= {"QUOTED", "QVAR", "_DOT"}:
        words.append("the next rule")
        rest -= {"NAME", "QUOTED", "QVAR"}
    if rest >= {"QUOTED", "QVAR"}:
        return ("a rule, as Answer(x, y) <- likes(x, y)",)
    if rest >= _REPEATS:
        words.append("a repeat (* + ? {m,n})")
        rest -= _REPEATS
    words.extend(word for terminal, word in _WORDS.items() if terminal in rest)
    return tuple(words)


def _hint(token: Token, read: Sequence[Token], accepted: Set[str]) -> str:
    word = str(token)
    arrows = any(t.type == "_ARROW" for t in read)
    if read and not arrows and read[0].lower() in {"on", "window", "emit"}:
        return "windows stand after the rules"
    if any(t.type == "_WINDOW" for t in read) and re.match(r"[\w`?]|<-|:-|←", word):
        return "rules stand before the windows"
    if not read and token.type == "$END":
        return "the least query is one rule, as Answer(x, y) <- likes(x, y)."
    if word == "+":
        return "a + b with blanks on both sides means either, a+ without means once or more"
    if word.lower() in _OTHER_WORDS or (read and read[-1].lower() in _OTHER_WORDS):
        return "conditions are comparisons, each after a comma; for OR write a rule for each part"
    if token.type == "_ARROW" and arrows and read and read[-1].type in {"PROPERTY", "NUMBER"}:
        return "between < and - stands a blank"
    if token.type == "_ARROW" and arrows:
        return "between rules stands a dot, a comma only between the atoms of a body"
    if word == "." and "_THEN" in accepted:
        return "a dot ends a rule; the steps of a path are joined by /"
    if word[:1].isdigit() and not word.isdigit():
        return "no name begins with a digit: a vertex goes in quotes, a label in backquotes"
    if word == "-" and read and read[-1].type == "NAME" and location_of(token) == end_of(read[-1]):
        return "a label that is more than letters, digits and _ goes in backquotes, `has-creator`"
    if word in {'"', "'"}:
        return "write a quote inside as \\\" or \\'"
    return ""

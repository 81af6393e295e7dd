"""Translates the functions of :mod:`headrace.algebra.functions` to Spark SQL.

The SQL never fails, and is null where the result is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..algebra import functions
from ..algebra.scalar import Literal, kind_of, text
from ..algebra.values import PropertyType

Argument = tuple[str, PropertyType | None]
"""The SQL of an argument, and its type; None for one that is never known."""

_NULL: Final = "CAST(NULL AS {})"
_SQL_TYPES: Final[Mapping[PropertyType, str]] = {
    "string": "STRING",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
}
_SIGNS: Final = {
    functions.EQUAL: "=",
    functions.UNEQUAL: "<>",
    functions.LESS: "<",
    functions.AT_MOST: "<=",
}
_MOST: Final = 2**31 - 2


def function_sql(name: str, arguments: Sequence[Argument], gives: PropertyType | None) -> str:
    """The SQL of a function that is ``in_sql``; ``gives`` is the type of its result, if it has
    one."""
    if gives is None:
        return "NULL"
    null = _NULL.format(_SQL_TYPES[gives])
    match name:
        case functions.EQUAL | functions.UNEQUAL | functions.LESS | functions.AT_MOST:
            return _compared(name, arguments)
        case functions.ALL_TRUE | functions.ANY_TRUE:
            truths = [sql if kind == "boolean" else null for sql, kind in arguments]
            return f"({(' AND ' if name == functions.ALL_TRUE else ' OR ').join(truths)})"
        case functions.IS_NOT_NULL:
            return f"({arguments[0][0]} IS NOT NULL)"
        case functions.CASE_WHEN:
            tests, values = arguments[:-1:2], _alike(name, arguments, gives)
            parts = [
                f"WHEN {sql} THEN {value}"
                for (sql, kind), value in zip(tests, values[:-1], strict=True)
                if kind == "boolean"
            ]
            return f"CASE {' '.join(parts)} ELSE {values[-1]} END" if parts else values[-1]
        case functions.FIRST_NOT_NULL:
            return f"COALESCE({', '.join(_alike(name, arguments, gives))})"
    kinds = functions.kinds_of(name, len(arguments))
    for (_, own), kind in zip(arguments, kinds, strict=True):
        if own is None or kind not in ("any", kind_of(own)):
            return null
    parts = [sql for sql, _ in arguments]
    if name == "MODULO":
        one, other = [f"CAST({part} AS {_SQL_TYPES[gives]})" for part in parts]
        return f"({one} % NULLIF({other}, 0))"
    return _FUNCTIONS[name](parts)


def _compared(name: str, arguments: Sequence[Argument]) -> str:
    (left, kind), (right, other) = arguments
    if kind is None or other is None:
        return _NULL.format("BOOLEAN")
    if kind_of(kind) == kind_of(other):
        return f"({left} {_SIGNS[name]} {right})"
    outcome = {functions.EQUAL: "FALSE", functions.UNEQUAL: "TRUE"}.get(name, "NULL")
    return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN {outcome} END"


def _alike(name: str, arguments: Sequence[Argument], gives: PropertyType) -> list[str]:
    """The arguments that may be the result, in its type."""
    results = [arguments[place] for place in functions.results_of(name, len(arguments))]
    first = next(kind for _, kind in results if kind is not None)
    return [
        f"CAST({sql} AS {_SQL_TYPES[gives]})"
        if kind is not None and kind_of(kind) == kind_of(first)
        else _NULL.format(_SQL_TYPES[gives])
        for sql, kind in results
    ]


def _length(number: str) -> str:
    """A length without its fraction; null if it is negative."""
    return f"NULLIF(CAST(GREATEST(LEAST({number}, {_MOST}), -1) AS INT), -1)"


def _part(parts: Sequence[str]) -> str:
    whole, start, *rest = parts
    length = _length(rest[0]) if rest else str(_MOST)
    return f"SUBSTRING({whole}, {_length(start)} + 1, {length})"


def _trimmed(ends: str) -> Callable[[Sequence[str]], str]:
    blanks = text(Literal(functions.BLANKS))
    return lambda parts: f"TRIM({ends} {blanks} FROM {parts[0]})"


def _call(function: str) -> Callable[[Sequence[str]], str]:
    return lambda parts: f"{function}({', '.join(parts)})"


_FUNCTIONS: Final[Mapping[str, Callable[[Sequence[str]], str]]] = {
    functions.LOGICAL_NOT: lambda parts: f"(NOT {parts[0]})",
    "TEXT_SIZE": lambda parts: f"CAST(CHAR_LENGTH({parts[0]}) AS BIGINT)",
    "TEXT_TRIM": _trimmed("BOTH"),
    "TEXT_LTRIM": _trimmed("LEADING"),
    "TEXT_RTRIM": _trimmed("TRAILING"),
    "TEXT_LEFT": lambda parts: f"SUBSTRING({parts[0]}, 1, {_length(parts[1])})",
    "TEXT_RIGHT": lambda parts: f"RIGHT({parts[0]}, {_length(parts[1])})",
    "TEXT_PART": _part,
    "TEXT_REVERSE": _call("REVERSE"),
    "TEXT_STARTS": _call("STARTSWITH"),
    "TEXT_ENDS": _call("ENDSWITH"),
    "TEXT_CONTAINS": _call("CONTAINS"),
    "SIGN_OF": lambda parts: f"CAST(SIGN({parts[0]}) AS BIGINT)",
}

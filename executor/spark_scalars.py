"""Translates scalar expressions (:mod:`headrace.algebra.scalar`) to Spark SQL.

The SQL never fails and never coerces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard

from sqlglot import exp

from ..algebra.functions import FUNCTIONS, SMALLEST_INTEGER, results_of, types_of
from ..algebra.scalar import Call, Column, Literal, Value, text
from ..algebra.values import ColumnType, PropertyType, only_type
from .spark_functions import function_sql

_SIGNS: Final[dict[type, str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_NUMBERS: Final = ("integer", "number")
_TRIED: Final = {"+": "TRY_ADD", "-": "TRY_SUBTRACT", "*": "TRY_MULTIPLY"}
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")


def comparison_sql(sign: type, left: Value, right: Value, types: Sequence[PropertyType]) -> str:
    """The SQL of a comparison over columns of these types; not valid below a negation."""
    kinds = [_kind(left, types), _kind(right, types)]
    if None in kinds:
        return "FALSE"
    if kinds[0] == kinds[1] or set(kinds) <= set(_NUMBERS):
        if _is_number_column(left, types) and isinstance(right, Literal):
            # Spark pushes a comparison of a bare column down to a source. NaN is greater than all.
            bare = f"c{left.position} {_SIGNS[sign]} {value_sql(right, types)}"
            after = sign in (exp.GT, exp.GTE, exp.NEQ)
            return f"({bare} AND NOT ISNAN(c{left.position}))" if after else bare
        return f"{value_sql(left, types)} {_SIGNS[sign]} {value_sql(right, types)}"
    if sign is not exp.NEQ:
        return "FALSE"
    # Values of two kinds are unequal if neither is missing.
    there = [f"{value_sql(v, types)} IS NOT NULL" for v in (left, right)]
    return f"({' AND '.join(there)})"


def _is_number_column(value: Value, types: Sequence[PropertyType]) -> TypeGuard[Column]:
    return isinstance(value, Column) and types[value.position] == "number"


def _kind(value: Value, types: Sequence[PropertyType]) -> PropertyType | None:
    """The type of an expression; None if it is unknown in all rows."""
    match value:
        case Column(place):
            return types[place]
        case Literal():
            return value.type
        case Call(function, arguments):
            kinds = [_kind(part, types) for part in arguments]
            if function in FUNCTIONS:
                return _type_of(function, kinds)
            if not set(kinds) <= set(_NUMBERS):
                return None
            return "number" if function == "/" or "number" in kinds else "integer"


def _type_of(function: str, kinds: Sequence[PropertyType | None]) -> PropertyType | None:
    """The type of a function over arguments of these types."""
    if FUNCTIONS[function].gives == "joined":
        results = [kinds[place] for place in results_of(function, len(kinds))]
        first = next((kind for kind in results if kind is not None), None)
        return "number" if first == "integer" and "number" in results else first
    sets = [frozenset[ColumnType]() if kind is None else frozenset({kind}) for kind in kinds]
    found = types_of(function, sets)
    return "number" if found == set(_NUMBERS) else only_type(found)


def value_sql(value: Value, types: Sequence[PropertyType]) -> str:
    """The SQL of a side of a comparison, in which NaN and infinities become null.

    A value that is not finite stays so through all arithmetic but division. So within an expression
    only divisors and the arguments of functions need the same replacement; the functions themselves
    give finite values.
    """
    match value:
        case Literal(float() as number):
            return f"CAST('{number!r}' AS DOUBLE)"
        case Literal():
            return text(value)
        case Column(place):
            return (
                f"NULLIF(c{place}, CAST('NaN' AS DOUBLE))"
                if types[place] == "number"
                else f"c{place}"
            )
        case Call():
            sql = _sql(value, types)
            is_finite = _kind(value, types) != "number" or value.function in FUNCTIONS
            return sql if is_finite else _finite(sql)


def _sql(value: Value, types: Sequence[PropertyType]) -> str:
    match value:
        case Column():
            return value_sql(value, types)
        case Literal(float()):
            return value_sql(value, types)
        case Literal(number):
            return f"CAST('{number}' AS BIGINT)"
        case Call(function, arguments):
            if function in FUNCTIONS:
                own = [(value_sql(part, types), _kind(part, types)) for part in arguments]
                return function_sql(function, own, _kind(value, types))
            exact = _kind(value, types) == "integer"
            parts = [_sql(part, types) for part in arguments]
    if function == "ABS":
        return (
            f"ABS(NULLIF({parts[0]}, CAST('{SMALLEST_INTEGER}' AS BIGINT)))"
            if exact
            else f"ABS({parts[0]})"
        )
    if function == "NEG":
        return f"TRY_SUBTRACT(CAST('0' AS BIGINT), {parts[0]})" if exact else f"(-{parts[0]})"
    if exact:
        return f"{_TRIED[function]}({parts[0]}, {parts[1]})"
    left, right = (f"CAST({part} AS DOUBLE)" for part in parts)
    if function == "/":
        return f"TRY_DIVIDE({left}, {_finite(right)})"
    return f"({left} {function} {right})"


def _finite(sql: str) -> str:
    for name in _NO_NUMBERS:
        sql = f"NULLIF({sql}, CAST('{name}' AS DOUBLE))"
    return sql

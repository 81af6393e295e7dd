"""The values of :mod:`headrace.algebra.scalar` as Spark SQL that neither fails nor coerces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard

from sqlglot import exp

from ..algebra.scalar import SMALLEST_INTEGER, Call, Column, Literal, Value, text
from ..algebra.values import PropertyType

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
    """A comparison that stands below no negation, over columns of these types."""
    kinds = [_kind(left, types), _kind(right, types)]
    if None in kinds:
        return "FALSE"
    if kinds[0] == kinds[1] or set(kinds) <= set(_NUMBERS):
        if _is_number_column(left, types) and isinstance(right, Literal):
            # A column on its own can be asked of a source. NaN comes after every number.
            bare = f"c{left.position} {_SIGNS[sign]} {value_sql(right, types)}"
            after = sign in (exp.GT, exp.GTE, exp.NEQ)
            return f"({bare} AND NOT ISNAN(c{left.position}))" if after else bare
        return f"{value_sql(left, types)} {_SIGNS[sign]} {value_sql(right, types)}"
    if sign is not exp.NEQ:
        return "FALSE"
    # What is of two kinds is unequal, if it is there.
    there = [f"{value_sql(v, types)} IS NOT NULL" for v in (left, right)]
    return f"({' AND '.join(there)})"


def _is_number_column(value: Value, types: Sequence[PropertyType]) -> TypeGuard[Column]:
    return isinstance(value, Column) and types[value.position] == "number"


def _kind(value: Value, types: Sequence[PropertyType]) -> PropertyType | None:
    """The type of a value, None if it is never known."""
    match value:
        case Column(place):
            return types[place]
        case Literal():
            return value.type
        case Call(function, arguments):
            kinds = [_kind(part, types) for part in arguments]
            if not set(kinds) <= set(_NUMBERS):
                return None
            return "number" if function == "/" or "number" in kinds else "integer"


def value_sql(value: Value, types: Sequence[PropertyType]) -> str:
    """SQL of a value at the top of a comparison: a float that is none is null there.

    What is not finite stays so through all arithmetic but division, so that between it is
    enough to look at divisors.
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
            return _finite(sql) if _kind(value, types) == "number" else sql


def _sql(value: Value, types: Sequence[PropertyType]) -> str:
    match value:
        case Column():
            return value_sql(value, types)
        case Literal(float()):
            return value_sql(value, types)
        case Literal(number):
            return f"CAST('{number}' AS BIGINT)"
        case Call(function, arguments):
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

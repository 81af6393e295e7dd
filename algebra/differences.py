"""Bounds on the differences of columns that follow from a predicate: ``abs(c0 - c1) <= 10``.

In: a predicate. Out: bounds ``x - y <= c`` that hold for every row that satisfies the predicate.
Only conditions that are linear over integers give bounds: integer arithmetic is exact or unknown,
and an unknown condition is not satisfied.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from sqlglot import exp

from . import scalar
from .predicate import Predicate
from .predicate_syntax import checked, sides
from .scalar import Call, Column, Literal, Value

Difference = tuple[int, int, int]
"""``(x, y, c)``: column x is at most c larger than column y."""

Linear = tuple[dict[int, int], int]
"""Coefficients of columns, and a constant."""

_STRICT: Final = (exp.LT, exp.GT)
_AT_MOST: Final = (exp.LT, exp.LTE, exp.EQ)
_AT_LEAST: Final = (exp.GT, exp.GTE, exp.EQ)


@lru_cache(maxsize=4096)
def differences(predicate: Predicate) -> tuple[Difference, ...]:
    """The bounds that follow from each single conjunct of the predicate.

    The bounds hold for columns of integers only.
    """
    return tuple(
        difference for part in predicate.conjuncts for difference in _of_conjunct(part.sql)
    )


@lru_cache(maxsize=4096)
def unequal_columns(predicate: Predicate) -> tuple[tuple[int, int], ...]:
    """The pairs of columns that a conjunct of the predicate requires to differ: ``c0 <> c1``."""
    pairs = []
    for part in predicate.conjuncts:
        node = checked(part.sql)
        if isinstance(node, exp.NEQ):
            match sides(node, part.sql):
                case Column(x), Column(y):
                    pairs.append((x, y))
    return tuple(pairs)


def _of_conjunct(sql: str) -> Iterator[Difference]:
    node = checked(sql)
    if not isinstance(node, (*_AT_MOST, *_AT_LEAST)):
        return
    left, right = sides(node, sql)
    strict = isinstance(node, _STRICT)
    if isinstance(node, _AT_MOST):
        yield from _at_most(left, right, strict)
    if isinstance(node, _AT_LEAST):
        yield from _at_most(right, left, strict)


def _at_most(small: Value, large: Value, strict: bool) -> Iterator[Difference]:
    """The bounds of ``small <= large``."""
    limit = _linear(large)
    if limit is None:
        return
    either_way = isinstance(small, Call) and small.function == "ABS"
    inner = _linear(small.arguments[0] if isinstance(small, Call) and either_way else small)
    if inner is None:
        return
    for sign in (1, -1) if either_way else (1,):
        columns, constant = _sum(_times(sign, inner), _times(-1, limit))
        if sorted(columns.values()) == [-1, 1]:
            (x,) = (column for column, factor in columns.items() if factor == 1)
            (y,) = (column for column, factor in columns.items() if factor == -1)
            yield x, y, -constant - strict


def _linear(value: Value) -> Linear | None:
    match value:
        case Column(place):
            return {place: 1}, 0
        case Literal(int() as number) if scalar.type_of(number) == "integer":
            return {}, number
        case Call("NEG", (part,)):
            inner = _linear(part)
            return None if inner is None else _times(-1, inner)
        case Call("+" | "-" as sign, (one, other)):
            left, right = _linear(one), _linear(other)
            if left is None or right is None:
                return None
            return _sum(left, right if sign == "+" else _times(-1, right))
        case _:
            return None


def _times(factor: int, of: Linear) -> Linear:
    columns, constant = of
    return {column: factor * k for column, k in columns.items()}, factor * constant


def _sum(one: Linear, other: Linear) -> Linear:
    columns = {c: one[0].get(c, 0) + other[0].get(c, 0) for c in (*one[0], *other[0])}
    return {column: k for column, k in columns.items() if k}, one[1] + other[1]

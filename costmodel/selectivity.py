"""Selectivities by System R's rules (thesis 6.4.2; Selinger et al. 1979, table 1).

All rules assume uniform and independent columns, and containment: of two joined columns, the
one with more values has all values of the other. Where the distribution of a column was measured,
:mod:`headrace.costmodel.measured_selectivity` replaces the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from math import prod
from typing import Any

from sqlglot import exp

from ..algebra import functions
from ..algebra.predicate import Predicate
from .columns import Columns
from .measured_selectivity import Measured, measured

RANGE = 1 / 3
BETWEEN = 1 / 4
EQUALITY = 1 / 10
"""The selectivity of an equality without a column on either side; System R's value."""
MOST_OF_A_LIST = 1 / 2
"""The largest selectivity of a list of constants; System R's value."""
NULL = 1 / 10
LIKE = 1 / 10
RAREST = 1e-6
"""The smallest selectivity by distributions."""
UNKNOWN = 1 / 3
"""The selectivity of any other condition, such as a call of a boolean function."""

Distinct = tuple[float, ...]

Node = Any
"""A sqlglot expression; its typed classes differ between sqlglot's versions."""


def equal_columns(left: float, right: float) -> float:
    """``x = y`` for columns of ``left`` and ``right`` distinct values: 1 / the larger."""
    return 1 / max(left, right, 1.0)


@dataclass(frozen=True, slots=True)
class Condition:
    """The effect of a predicate on its input, as functions of the input's distinct counts.

    Attributes:
        selectivity: the part of the rows that remain, by System R.
        distinct: the distinct counts among them, not yet capped by the population.
        measured: the parts of the rows for which the predicate is true, and for which it is false,
            by the distributions of the columns.
        limited: the columns whose distribution changes.
    """

    selectivity: Callable[[Distinct], float]
    distinct: Callable[[Distinct], Distinct]
    measured: Measured | None = None
    limited: frozenset[int] = frozenset()

    def share(self, distinct: Distinct, columns: Columns) -> float:
        """The part of the rows that remain; by System R if no column has statistics.

        It is not below :data:`RAREST`, so that values that the sample lacks keep an estimate.
        """
        if self.measured is None or not any(columns):
            return self.selectivity(distinct)
        return max(self.measured(distinct, columns)[0], RAREST)

    def kept(self, columns: Columns) -> Columns:
        """The columns of the remaining rows, without those whose distribution changes."""
        if not any(columns):
            return ()
        return tuple([None if i in self.limited else c for i, c in enumerate(columns)])


@lru_cache(maxsize=4096)
def condition(predicate: Predicate) -> Condition:
    """The compiled condition of a predicate over columns ``c0``, ``c1``, ...

    That of a connective in normal form is made of those of its parts, without parsing its text.
    """
    if predicate.form is not None and predicate.form.parts:
        parts = [condition(part) for part in predicate.form.parts]
        joined = reduce(_both if predicate.form.conjunction else _either, parts)
        columns = frozenset[int]().union(*(part.limited for part in parts))
        return replace(joined, measured=_when_asked(predicate), limited=columns)
    node = predicate.parsed
    by_system_r = _compiled(node)
    limited = {
        int(column.name[1:])
        for column in node.find_all(exp.Column)
        if not isinstance(column.parent, exp.NEQ)
    }
    if not any(True for _ in node.find_all(exp.Column)):
        return by_system_r
    shares = measured(node, lambda part: _compiled(part).selectivity)
    return replace(by_system_r, measured=shares, limited=frozenset(limited))


def _when_asked(predicate: Predicate) -> Measured:
    """The shares of a predicate by distributions; it is parsed when they are first asked for."""

    @cache
    def shares() -> Measured:
        return measured(predicate.parsed, lambda part: _compiled(part).selectivity)

    def of_rows(distinct: Distinct, columns: Columns) -> tuple[float, float]:
        return shares()(distinct, columns)

    return of_rows


def _compiled(node: Node) -> Condition:
    return _COMPILERS.get(type(node), _unknown)(node)


def _unchanged(distinct: Distinct) -> Distinct:
    return distinct


def _constant(value: float) -> Condition:
    return Condition(lambda _: value, _unchanged)


def _unknown(node: Node) -> Condition:
    return _constant(UNKNOWN)


def _column(node: Node) -> int | None:
    return int(node.name[1:]) if isinstance(node, exp.Column) else None


def _at_most(column: int, most: float) -> Callable[[Distinct], Distinct]:
    def distinct(before: Distinct) -> Distinct:
        return (*before[:column], min(before[column], most), *before[column + 1 :])

    return distinct


def _equal(node: Node) -> Condition:
    if isinstance(node.left, exp.Anonymous) and isinstance(node.right, exp.Boolean):
        true = _truth_of(node.left)
        return _constant(true if node.right.this else 1 - true)
    sides = [column for column in (_column(node.left), _column(node.right)) if column is not None]
    if not sides:
        return _constant(EQUALITY)
    if len(sides) == 1:
        (column,) = sides
        other = node.right if _column(node.left) is not None else node.left
        if other.find(exp.Column) is not None:
            # Computed from columns: as many values as there are rows, for all that is known.
            return Condition(lambda d: 1 / max(d[column], 1.0), _unchanged)
        return Condition(lambda d: 1 / max(d[column], 1.0), _at_most(column, 1.0))
    left, right = sides

    def distinct(before: Distinct) -> Distinct:
        fewer = min(before[left], before[right])
        return tuple(fewer if i in (left, right) else v for i, v in enumerate(before))

    return Condition(lambda d: equal_columns(d[left], d[right]), distinct)


def _truth_of(call: Node) -> float:
    """The part of the rows for which a function that gives truth values is true."""
    name = str(call.this).upper()
    match name:
        case functions.EQUAL | functions.UNEQUAL:
            return EQUALITY if name == functions.EQUAL else 1 - EQUALITY
        case functions.LESS | functions.AT_MOST:
            return RANGE
        case functions.IS_NOT_NULL:
            return 1 - NULL
        case functions.LOGICAL_NOT | functions.ALL_TRUE | functions.ANY_TRUE:
            parts = [
                _truth_of(part) if isinstance(part, exp.Anonymous) else UNKNOWN
                for part in call.expressions
            ]
            if name == functions.LOGICAL_NOT:
                return 1 - parts[0]
            return prod(parts) if name == functions.ALL_TRUE else 1 - prod(1 - p for p in parts)
    return LIKE if name.startswith("TEXT_") else UNKNOWN


def _and(node: Node) -> Condition:
    return _both(_compiled(node.left), _compiled(node.right))


def _or(node: Node) -> Condition:
    return _either(_compiled(node.left), _compiled(node.right))


def _both(left: Condition, right: Condition) -> Condition:
    return Condition(
        lambda d: left.selectivity(d) * right.selectivity(d),
        lambda d: tuple(map(min, left.distinct(d), right.distinct(d))),
    )


def _either(left: Condition, right: Condition) -> Condition:
    def selectivity(d: Distinct) -> float:
        a, b = left.selectivity(d), right.selectivity(d)
        return a + b - a * b

    def distinct(before: Distinct) -> Distinct:
        sums = map(sum, zip(left.distinct(before), right.distinct(before), strict=True))
        return tuple(map(min, before, sums))

    return Condition(selectivity, distinct)


def _not(node: Node) -> Condition:
    inner = _compiled(node.this)
    return Condition(lambda d: 1 - inner.selectivity(d), _unchanged)


def _unequal(node: Node) -> Condition:
    equal = _equal(node)
    return Condition(lambda d: 1 - equal.selectivity(d), _unchanged)


def _in(node: Node) -> Condition:
    column = _column(node.this)
    count = len(node.expressions)
    if column is None or not count:
        return _constant(MOST_OF_A_LIST)
    return Condition(
        lambda d: min(count / max(d[column], 1.0), MOST_OF_A_LIST), _at_most(column, count)
    )


def _truth(node: Node) -> Condition:
    return _constant(1.0 if node.this else 0.0)


def _inside(node: Node) -> Condition:
    return _compiled(node.this)


def _always(value: float) -> Callable[[Any], Condition]:
    return lambda _: _constant(value)


_COMPILERS: Mapping[type[exp.Expression], Callable[[Any], Condition]] = {
    exp.EQ: _equal,
    exp.NEQ: _unequal,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Paren: _inside,
    exp.In: _in,
    exp.Boolean: _truth,
    exp.Between: _always(BETWEEN),
    exp.Is: _always(NULL),
    exp.Like: _always(LIKE),
    exp.ILike: _always(LIKE),
    exp.LT: _always(RANGE),
    exp.LTE: _always(RANGE),
    exp.GT: _always(RANGE),
    exp.GTE: _always(RANGE),
}

"""Selectivities from the distributions of columns, in three-valued logic.

A condition on one column is constant between the literals that it compares the column with. So its
selectivity is a sum of shares of the column's :class:`Distribution`, exact for any AND, OR and NOT.
Conditions on different columns are taken as independent. Other conditions have the selectivity of
System R (:mod:`headrace.costmodel.selectivity`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

from sqlglot import exp

from ..algebra import scalar
from ..algebra.predicate_syntax import COMPARISONS
from .columns import Columns
from .distributions import Kind, kind_of

Node = Any
"""A sqlglot expression; its typed classes differ between sqlglot's versions."""
Distinct = tuple[float, ...]
Shares = tuple[float, float]
"""The shares of rows for which a condition is true, and for which it is false."""
Measured = Callable[[Distinct, Columns], Shares]
SystemR = Callable[[Node], Callable[[Distinct], float]]

_WIDEST = 1 << 30
_CONNECTIVES = (exp.And, exp.Or)
_TESTS: Mapping[type, Callable[[int], bool]] = {
    exp.EQ: lambda order: order == 0,
    exp.NEQ: lambda order: order != 0,
    exp.LT: lambda order: order < 0,
    exp.LTE: lambda order: order <= 0,
    exp.GT: lambda order: order > 0,
    exp.GTE: lambda order: order >= 0,
}
_OTHER_KINDS: Mapping[type, bool] = {exp.EQ: False, exp.NEQ: True}
"""The outcomes of comparing values of different kinds; unknown for the others."""
_SWAPPED: Mapping[type, type] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}


def measured(node: Node, system_r: SystemR) -> Measured:
    """The shares of a condition, as a function of the distinct counts and columns of its input.

    Args:
        node: the condition.
        system_r: gives the selectivity of a condition without distributions.
    """
    node = node.unnest()
    column = _only_column(node)
    if column is not None:
        return _of_column(node, column, system_r)
    if isinstance(node, exp.Not):
        inner = measured(node.this, system_r)
        return lambda distinct, columns: inner(distinct, columns)[::-1]
    if isinstance(node, _CONNECTIVES):
        parts = [measured(part, system_r) for part in _by_column(node)]
        if isinstance(node, exp.And):
            return lambda distinct, columns: _all([part(distinct, columns) for part in parts])
        return lambda distinct, columns: _all([part(distinct, columns)[::-1] for part in parts])[
            ::-1
        ]
    selectivity = system_r(node)
    return lambda distinct, _: (selectivity(distinct), 1 - selectivity(distinct))


def _all(parts: Sequence[Shares]) -> Shares:
    """The shares of a conjunction of independent conditions."""
    return prod(true for true, _ in parts), 1 - prod(1 - false for _, false in parts)


def _by_column(node: Node) -> list[Node]:
    """The parts of a connective, where those on one column are one part."""
    groups: dict[int, Node] = {}
    others = []
    for part in node.flatten():
        column = _only_column(part.unnest())
        if column is None:
            others.append(part)
        elif column in groups:
            both = {"this": groups[column].copy(), "expression": part.copy()}
            groups[column] = type(node)(**both)
        else:
            groups[column] = part
    return [*groups.values(), *others]


def _only_column(node: Node) -> int | None:
    """The only column of a condition that compares it with literals; None for another one."""
    columns = {int(column.name[1:]) for column in node.find_all(exp.Column)}
    return next(iter(columns)) if len(columns) == 1 and _is_simple(node) else None


def _is_simple(node: Node) -> bool:
    match node:
        case exp.And() | exp.Or():
            return all(_is_simple(part) for part in node.flatten())
        case exp.Not() | exp.Paren():
            return _is_simple(node.this)
        case exp.Boolean():
            return True
        case exp.Is():
            return isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Null)
        case exp.In():
            options = node.expressions
            values = [_literal(option) for option in options]
            return bool(options) and isinstance(node.this, exp.Column) and None not in values
        case _ if isinstance(node, COMPARISONS):
            return _comparison(node) is not None
        case _:
            return False


def _literal(node: Node) -> scalar.Scalar | None:
    value = scalar.read(node, _WIDEST)
    value = None if value is None else scalar.normal(value)
    return value.value if isinstance(value, scalar.Literal) else None


def _comparison(node: Node) -> tuple[type, scalar.Scalar] | None:
    """The comparison of a column with a literal, the column on the left."""
    kind = type(node)
    if isinstance(node.left, exp.Column):
        value = _literal(node.right)
    elif isinstance(node.right, exp.Column):
        kind, value = _SWAPPED.get(kind, kind), _literal(node.left)
    else:
        return None
    return None if value is None else (kind, value)


def _of_column(node: Node, column: int, system_r: SystemR) -> Measured:
    selectivity = system_r(node)

    @cache
    def outcomes(kind: Kind) -> tuple[tuple[Any, ...], tuple[bool | None, ...], bool | None]:
        """The points, the outcomes in their cells, and the outcome for a missing value."""
        points = tuple(sorted({v for v in _literals(node) if kind_of(v) == kind}))
        place = {point: 2 * k + 1 for k, point in enumerate(points)}
        in_cells = tuple(_outcome(node, cell, place, kind) for cell in range(2 * len(points) + 1))
        return points, in_cells, _outcome(node, None, place, kind)

    def shares(distinct: Distinct, columns: Columns) -> Shares:
        entry = columns[column] if column < len(columns) else None
        if entry is None or entry.distribution is None:
            return selectivity(distinct), 1 - selectivity(distinct)
        points, in_cells, of_null = outcomes(entry.distribution.kind)
        cells = (*entry.distribution.cells(points), entry.distribution.nulls)
        both = list(zip(cells, (*in_cells, of_null), strict=True))
        true = sum(share for share, outcome in both if outcome is True)
        return true, sum(share for share, outcome in both if outcome is False)

    return shares


def _literals(node: Node) -> list[scalar.Scalar]:
    compared = [_comparison(one) for one in node.find_all(*COMPARISONS)]
    listed = [_literal(option) for one in node.find_all(exp.In) for option in one.expressions]
    return [one[1] for one in compared if one] + [value for value in listed if value is not None]


def _outcome(node: Node, cell: int | None, place: Mapping[Any, int], kind: Kind) -> bool | None:
    """The outcome of a condition in a cell, or for a missing value; None is unknown."""
    match node:
        case exp.Paren():
            return _outcome(node.this, cell, place, kind)
        case exp.Boolean():
            return bool(node.this)
        case exp.Not():
            inner = _outcome(node.this, cell, place, kind)
            return None if inner is None else not inner
        case exp.And() | exp.Or():
            outcomes = [_outcome(part, cell, place, kind) for part in node.flatten()]
            decisive = isinstance(node, exp.Or)
            if decisive in outcomes:
                return decisive
            return None if None in outcomes else not decisive
        case exp.Is():
            return cell is None
        case exp.In():
            options = [_literal(option) for option in node.expressions]
            return _any_equal(options, cell, place, kind)
        case _:
            compared = _comparison(node)
            assert compared is not None
            test, value = compared
            if cell is None:
                return None
            if kind_of(value) != kind:
                return _OTHER_KINDS.get(test)
            return _TESTS[test](cell - place[value])


def _any_equal(
    options: Sequence[Any], cell: int | None, place: Mapping[Any, int], kind: Kind
) -> bool | None:
    if cell is None:
        return None
    return any(kind_of(option) == kind and place[option] == cell for option in options)

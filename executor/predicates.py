"""Predicates where they are run: checked against an allow-list, then evaluated.

In: the SQL of a FILTER over ``c0``, ``c1``, ... Out: the same condition made safe for
columns of given types (Spark runs it as SQL), or which rows satisfy it: by decoded values,
or, where it only asks what is equal, by the codes themselves.

What may be written, and what it means, is said in :mod:`headrace.algebra.predicate` and
:mod:`headrace.algebra.scalar`. What SQL would coerce, overflow or refuse is decided here, once for
both executors. A condition that is unknown for a row counts as not satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ..algebra import predicate
from ..algebra.plan import PlanError
from ..algebra.predicate import PredicateError
from ..algebra.scalar import Column, Literal, Value
from ..algebra.values import PropertyType
from .batch import IntArray
from .scalars import Mask, Scalars, compared
from .spark_scalars import comparison_sql, value_sql

__all__ = ["Mask", "checked", "code_mask", "mask", "spark_sql"]

_ORDERS: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def checked(sql: str, width: int) -> exp.Expression:
    """:func:`headrace.algebra.predicate.checked`, for a predicate that stands in a plan.

    Raises:
        PlanError: if it does not parse, names another column, or holds anything that is
            not on the allow-list.
    """
    try:
        return predicate.checked(sql, width)
    except PredicateError as error:
        raise PlanError(str(error)) from error


def spark_sql(sql: str, types: Sequence[PropertyType]) -> str:
    """The condition as Spark SQL over columns ``c0``, ... of these types, which may be null.

    It is the normal form, in which nothing stands below a negation. Comparisons between kinds
    are replaced by what they mean here, so that Spark has nothing to coerce, and arithmetic by
    functions that give null where Spark's own fails or goes round; which mode of ANSI Spark is
    in makes no difference.

    Raises:
        PlanError: as :func:`checked`.
    """
    checked(sql, len(types))

    def fixed(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Is):
            return exp.maybe_parse(
                f"{value_sql(predicate.questioned(node, sql), types)} IS NULL", dialect="spark"
            )
        if not isinstance(node, predicate.COMPARISONS):
            return node
        left, right = predicate.sides(node, sql, len(types))
        return exp.maybe_parse(comparison_sql(type(node), left, right, types), dialect="spark")

    normal = predicate.checked(predicate.Predicate(sql).normal.sql)
    return normal.copy().transform(fixed).sql(dialect="spark")


def mask(sql: str, columns: Sequence[pa.Array[Any]]) -> Mask:
    """Which rows of decoded ``columns`` satisfy the condition.

    Columns are strings, int64, float64, booleans, all null, or a dense union of these; a null
    or a float that is not a number is a missing value.

    Raises:
        PlanError: as :func:`checked`.
    """
    tree = checked(sql, len(columns))
    for place in sorted(predicate.columns_of(tree)):
        if pa.types.is_union(columns[place].type):
            return _mask_of_mixed(sql, columns, place)
    rows = len(columns[0])
    scalars = Scalars(columns)

    def outcome(node: exp.Expression) -> Outcome:
        match node:
            case exp.Is():
                known = scalars.known(predicate.questioned(node, sql))
                return ~known, known
            case exp.In():
                value, literals = predicate.alternatives(node, sql)
                left = scalars.of(value)
                options = [compared(exp.EQ, left, scalars.of(x), rows) for x in literals]
                return reduce(_either, options)
            case _:
                left, right = map(scalars.of, predicate.sides(node, sql))
                return compared(type(node), left, right, rows)

    return _truth(tree, rows, outcome)[0]


def code_mask(
    sql: str,
    codes: IntArray,
    constant: Callable[[str | int], int],
    vertices: Collection[int] | None = None,
) -> Mask | None:
    """:func:`mask` over the columns of a batch of codes; None if codes cannot decide it.

    ``constant`` gives the code of a literal. Codes decide what is equal where columns hold
    vertices alone, which are strings or integers and never missing: ``vertices`` are the
    positions of those columns, None for all.
    """
    width, rows = codes.shape
    tree = checked(sql, width)
    if tree.find(*_ORDERS, exp.Is, exp.In):
        return None
    for comparison in tree.find_all(exp.EQ, exp.NEQ):
        for side in predicate.sides(comparison, sql, width):
            match side:
                case Column(position) if vertices is None or position in vertices:
                    continue
                case Literal(type="string" | "integer"):
                    continue
                case _:
                    return None

    def coded(value: Value) -> Any:
        if isinstance(value, Column):
            return codes[value.position]
        assert isinstance(value, Literal)
        assert isinstance(value.value, str | int)
        return constant(value.value)

    def outcome(node: exp.Expression) -> Outcome:
        left, right = map(coded, predicate.sides(node, sql, width))
        equal = np.broadcast_to(np.asarray(left == right), rows)
        return (equal, ~equal) if isinstance(node, exp.EQ) else (~equal, equal)

    return _truth(tree, rows, outcome)[0]


Outcome = tuple[Mask, Mask]
"""Where a condition is true and where it is false; elsewhere it is unknown."""


def _truth(
    node: exp.Expression, rows: int, outcome: Callable[[exp.Expression], Outcome]
) -> Outcome:
    match node:
        case exp.Paren():
            return _truth(node.this, rows, outcome)
        case exp.Not():
            true, false = _truth(node.this, rows, outcome)
            return false, true
        case exp.And():
            left = _truth(node.this, rows, outcome)
            right = _truth(node.expression, rows, outcome)
            return left[0] & right[0], left[1] | right[1]
        case exp.Or():
            return _either(_truth(node.this, rows, outcome), _truth(node.expression, rows, outcome))
        case exp.Boolean():
            return np.full(rows, bool(node.this)), np.full(rows, not node.this)
        case _:
            return outcome(node)


def _either(left: Outcome, right: Outcome) -> Outcome:
    return left[0] | right[0], left[1] & right[1]


def _mask_of_mixed(sql: str, columns: Sequence[pa.Array[Any]], position: int) -> Mask:
    """:func:`mask` where a column mixes types: once for the rows of each type."""
    column: Any = columns[position]
    type_codes = np.asarray(column.type_codes)
    outcome = np.zeros(len(column), np.bool_)
    for code in range(column.type.num_fields):
        rows = np.flatnonzero(type_codes == code)
        parts = [c.take(pa.array(rows, pa.int64())) for c in columns]
        parts[position] = column.field(code).take(
            pa.array(np.asarray(column.offsets)[rows], pa.int32())
        )
        outcome[rows] = mask(sql, parts)
    return outcome

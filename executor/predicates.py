"""Evaluates predicates after a check against an allow-list.

In: the SQL of a FILTER over ``c0``, ``c1``, ... Out: Spark SQL that is safe for typed columns
(:func:`spark_sql`), or a mask of the rows that satisfy the predicate, from decoded values
(:func:`mask`) or, if the predicate only tests equality, from dictionary codes (:func:`code_mask`).

:mod:`headrace.algebra.predicate` and :mod:`headrace.algebra.scalar` define the syntax and meaning
of predicates. This module decides, for both executors, the cases that SQL would coerce, overflow or
refuse. A row does not satisfy a predicate that is unknown for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ..algebra import predicate_syntax as syntax
from ..algebra.plan_parts import PlanError
from ..algebra.predicate import Predicate
from ..algebra.predicate_syntax import PredicateError
from ..algebra.scalar import Column, Literal, Value
from ..algebra.values import PropertyType
from .batch import IntArray
from .evaluated import Mask, compared
from .scalars import Scalars
from .spark_scalars import comparison_sql, value_sql

__all__ = ["Mask", "checked", "code_mask", "mask", "spark_sql"]

_ORDERS: Final = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def checked(sql: str, width: int) -> exp.Expression:
    """Parses and checks a predicate of a plan (:func:`headrace.algebra.predicate_syntax.checked`).

    Raises:
        PlanError: if the predicate does not parse, names a column that does not exist, or is not
            on the allow-list.
    """
    try:
        return syntax.checked(sql, width)
    except PredicateError as error:
        raise PlanError(str(error)) from error


def spark_sql(sql: str, types: Sequence[PropertyType]) -> str:
    """The predicate as Spark SQL over nullable columns ``c0``, ... of these types.

    Translates the normal form, which has no negation. Comparisons between kinds are replaced by
    their meaning in Headrace, so that Spark coerces nothing. Arithmetic uses functions that return
    null where Spark's operators fail or overflow, so Spark's ANSI mode makes no difference.

    Raises:
        PlanError: as :func:`checked`.
    """
    checked(sql, len(types))

    def fixed(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Is):
            return exp.maybe_parse(
                f"{value_sql(syntax.questioned(node, sql), types)} IS NULL", dialect="spark"
            )
        if not isinstance(node, syntax.COMPARISONS):
            return node
        left, right = syntax.sides(node, sql, len(types))
        return exp.maybe_parse(comparison_sql(type(node), left, right, types), dialect="spark")

    normal = syntax.checked(Predicate(sql).normal.sql)
    return normal.copy().transform(fixed).sql(dialect="spark")


def mask(sql: str, columns: Sequence[pa.Array[Any]]) -> Mask:
    """A mask of the rows of decoded ``columns`` that satisfy the predicate.

    Columns are strings, int64, float64, booleans, all null, or a dense union of these. Nulls and
    NaN are missing values.

    Raises:
        PlanError: as :func:`checked`.
    """
    tree = checked(sql, len(columns))
    for place in sorted(syntax.columns_of(tree)):
        if pa.types.is_union(columns[place].type):
            return _mask_of_mixed(sql, columns, place)
    rows = len(columns[0])
    scalars = Scalars(columns)

    def outcome(node: exp.Expression) -> Outcome:
        match node:
            case exp.Is():
                known = scalars.known(syntax.questioned(node, sql))
                return ~known, known
            case exp.In():
                value, literals = syntax.alternatives(node, sql)
                left = scalars.of(value)
                options = [compared(exp.EQ, left, scalars.of(x), rows) for x in literals]
                return reduce(_either, options)
            case _:
                left, right = map(scalars.of, syntax.sides(node, sql))
                return compared(type(node), left, right, rows)

    return _truth(tree, rows, outcome)[0]


def code_mask(
    sql: str,
    codes: IntArray,
    constant: Callable[[str | int], int],
    vertices: Collection[int] | None = None,
) -> Mask | None:
    """As :func:`mask`, over dictionary codes; None if codes cannot decide the predicate.

    Codes decide equality in columns of vertices, which are strings or integers and never missing.

    Args:
        sql: the predicate.
        codes: a row for each column.
        constant: returns the code of a literal.
        vertices: the positions of the columns that hold vertices only; None for all.
    """
    width, rows = codes.shape
    tree = checked(sql, width)
    if tree.find(*_ORDERS, exp.Is, exp.In):
        return None
    for comparison in tree.find_all(exp.EQ, exp.NEQ):
        for side in syntax.sides(comparison, sql, width):
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
        left, right = map(coded, syntax.sides(node, sql, width))
        equal = np.broadcast_to(np.asarray(left == right), rows)
        return (equal, ~equal) if isinstance(node, exp.EQ) else (~equal, equal)

    return _truth(tree, rows, outcome)[0]


Outcome = tuple[Mask, Mask]
"""Masks of the rows for which a condition is true, and false; for other rows it is unknown."""


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
    """As :func:`mask`, for a column of mixed types: evaluates the rows of each type separately."""
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

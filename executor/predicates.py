"""Predicates where they are run: checked against an allow-list, then evaluated.

In: the SQL of a FILTER over ``c0``, ``c1``, ... Out: the same condition made safe for
columns of given types (Spark runs it as SQL), or which rows satisfy it: by decoded values,
or, where it only asks what is equal, by the codes themselves.

Only comparisons of columns and literals, AND, OR and NOT pass. A string and an integer are
never equal, and which of them comes first is unknown: what SQL would coerce is decided
here, once for both executors. A condition that is unknown for a row counts as not
satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

from algebra import predicate
from algebra.plan import PlanError
from algebra.predicate import Operand, PredicateError
from catalog.model import VertexType
from executor.batch import IntArray

Mask = NDArray[np.bool_]
_COMPARISONS: Final[dict[type[exp.Expression], str]] = {
    exp.EQ: "equal",
    exp.NEQ: "not_equal",
    exp.LT: "less",
    exp.LTE: "less_equal",
    exp.GT: "greater",
    exp.GTE: "greater_equal",
}


def checked(sql: str, width: int) -> exp.Expression:
    """:func:`algebra.predicate.checked`, for a predicate that stands in a plan.

    Raises:
        PlanError: if it does not parse, names another column, or holds anything that is
            not on the allow-list.
    """
    try:
        return predicate.checked(sql, width)
    except PredicateError as error:
        raise PlanError(str(error)) from error


def spark_sql(sql: str, types: Sequence[VertexType]) -> str:
    """The condition as Spark SQL over columns ``c0``, ... of these types.

    Comparisons between a string and an integer are replaced by what they mean here, so
    that Spark has nothing to coerce.

    Raises:
        PlanError: as :func:`checked`.
    """

    def kind(operand: Operand) -> VertexType:
        if isinstance(operand, exp.Column):
            return types[predicate.position(operand)]
        return "string" if isinstance(operand, str) else "integer"

    def fixed(node: exp.Expression) -> exp.Expression:
        if type(node) not in _COMPARISONS:
            return node
        left = predicate.operand(node.this, sql, len(types))
        right = predicate.operand(node.expression, sql, len(types))
        if kind(left) == kind(right):
            return node
        match node:
            case exp.EQ():
                return exp.false()
            case exp.NEQ():
                return exp.true()
            case _:
                return exp.cast(exp.null(), "boolean")

    return checked(sql, len(types)).copy().transform(fixed).sql(dialect="spark")


def mask(sql: str, columns: Sequence[pa.Array[Any]]) -> Mask:
    """Which rows of decoded ``columns`` (string, int64 or a dense union) satisfy the condition.

    Raises:
        PlanError: as :func:`checked`.
    """
    tree = checked(sql, len(columns))
    for position in sorted({predicate.position(c) for c in tree.find_all(exp.Column)}):
        if pa.types.is_union(columns[position].type):
            return _mask_of_mixed(sql, columns, position)

    def compared(node: exp.Expression) -> tuple[Mask, Mask]:
        left, right = (
            columns[predicate.position(side)] if isinstance(side, exp.Column) else pa.scalar(side)
            for side in _operands(node, sql, len(columns))
        )
        if pa.types.is_integer(left.type) == pa.types.is_integer(right.type):
            outcome = pc.call_function(_COMPARISONS[type(node)], [left, right])
            truth = _to_mask(outcome, rows)
            return truth, ~truth
        return np.full(rows, isinstance(node, exp.NEQ)), np.full(rows, isinstance(node, exp.EQ))

    rows = len(columns[0])
    return _truth(tree, rows, compared)[0]


def code_mask(sql: str, codes: IntArray, constant: Callable[[str | int], int]) -> Mask | None:
    """:func:`mask` over the columns of a batch of codes; None if codes cannot decide it.

    ``constant`` gives the code of a literal.
    """
    width, rows = codes.shape
    tree = checked(sql, width)
    if tree.find(exp.LT, exp.LTE, exp.GT, exp.GTE):
        return None

    def compared(node: exp.Expression) -> tuple[Mask, Mask]:
        left, right = (
            codes[predicate.position(side)] if isinstance(side, exp.Column) else constant(side)
            for side in _operands(node, sql, width)
        )
        equal = np.broadcast_to(np.asarray(left == right), rows)
        return (equal, ~equal) if isinstance(node, exp.EQ) else (~equal, equal)

    return _truth(tree, rows, compared)[0]


def _truth(
    node: exp.Expression, rows: int, compared: Callable[[exp.Expression], tuple[Mask, Mask]]
) -> tuple[Mask, Mask]:
    """Where the condition is true and where it is false; elsewhere it is unknown."""
    match node:
        case exp.Paren():
            return _truth(node.this, rows, compared)
        case exp.Not():
            true, false = _truth(node.this, rows, compared)
            return false, true
        case exp.And():
            left = _truth(node.this, rows, compared)
            right = _truth(node.expression, rows, compared)
            return left[0] & right[0], left[1] | right[1]
        case exp.Or():
            left = _truth(node.this, rows, compared)
            right = _truth(node.expression, rows, compared)
            return left[0] | right[0], left[1] & right[1]
        case exp.Boolean():
            return np.full(rows, bool(node.this)), np.full(rows, not node.this)
        case _:
            return compared(node)


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


def _to_mask(outcome: Any, rows: int) -> Mask:
    if isinstance(outcome, pa.Scalar):
        return np.full(rows, bool(outcome.as_py()))
    return np.asarray(outcome.to_numpy(zero_copy_only=False), np.bool_)


def _operands(node: exp.Expression, sql: str, width: int) -> tuple[Operand, Operand]:
    return predicate.operand(node.this, sql, width), predicate.operand(node.expression, sql, width)

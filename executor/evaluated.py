"""The value of an expression in every row, and comparisons of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from typing import Literal as OneOf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

Mask = NDArray[np.bool_]
Kind = OneOf["string", "number", "boolean", "null"]
"""Values are comparable within a kind; ``null`` is an expression that is null in all rows."""

_STRINGS: Final[Mapping[type, str]] = {
    exp.EQ: "equal",
    exp.NEQ: "not_equal",
    exp.LT: "less",
    exp.LTE: "less_equal",
    exp.GT: "greater",
    exp.GTE: "greater_equal",
}
_NUMBERS: Final[Mapping[type, Any]] = {
    exp.EQ: np.equal,
    exp.NEQ: np.not_equal,
    exp.LT: np.less,
    exp.LTE: np.less_equal,
    exp.GT: np.greater,
    exp.GTE: np.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An expression's value in every row.

    Attributes:
        kind: the kind of the values.
        values: an Arrow array or scalar of strings, or a numpy array; None for ``null``.
        known: a mask of the rows that have a value.
    """

    kind: Kind
    values: Any
    known: Mask

    @staticmethod
    def null(rows: int) -> Evaluated:
        """A value that is null in all rows."""
        return Evaluated("null", None, np.zeros(rows, np.bool_))

    def python(self) -> list[Any]:
        """The values as those of Python; rows without one have any value."""
        if isinstance(self.values, pa.Scalar):
            return [self.values.as_py()] * len(self.known)
        found: list[Any] = (
            self.values.to_pylist() if self.kind == "string" else self.values.tolist()
        )
        return found

    def array(self) -> pa.Array[Any]:
        """The values as an Arrow array, null where they have none."""
        if self.kind == "null":
            return pa.nulls(len(self.known))
        if self.kind != "string":
            numbers: pa.Array[Any] = pa.array(np.ascontiguousarray(self.values), mask=~self.known)
            return numbers
        one = self.values.as_py() if isinstance(self.values, pa.Scalar) else None
        whole: Any = self.values if one is None else pa.repeat(one, len(self.known))
        found: pa.Array[Any] = pc.if_else(pa.array(self.known), whole, None)
        return found


def compared(sign: type, left: Evaluated, right: Evaluated, rows: int) -> tuple[Mask, Mask]:
    """Masks of the rows where a comparison (``exp.EQ``, ...) is true, and where it is false."""
    known = left.known & right.known
    if left.kind != right.kind:
        different = sign is exp.NEQ
        if sign not in (exp.EQ, exp.NEQ):
            known = np.zeros(rows, np.bool_)
        return known & different, known & (not different)
    if left.kind == "null":
        return known, known
    if left.kind == "string":
        outcome = pc.call_function(_STRINGS[sign], [left.values, right.values])
        true = _to_mask(outcome, rows)
    else:
        true = _NUMBERS[sign](*alike(left.values, right.values))
    return known & true, known & ~true


def alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Both operands in one type: integers beside floats become the nearest floats."""
    if left.dtype == right.dtype or np.bool_ in (left.dtype, right.dtype):
        return left, right
    return left.astype(np.float64), right.astype(np.float64)


def _to_mask(outcome: Any, rows: int) -> Mask:
    if isinstance(outcome, pa.Scalar):
        return np.full(rows, bool(outcome.as_py()))
    return np.asarray(outcome.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)

"""COMPUTE: evaluates scalar expressions over the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ...algebra.scalar import Call, Column, Literal, Value, columns, parsed
from ..batch import Batch, IntArray, lasting
from ..dictionary import Dictionary
from ..scalars import Scalars
from .base import Stateless


class ComputeOperator(Stateless):
    """Computes the output columns of each row.

    Raises:
        ValueError: if an expression does not parse.
    """

    def __init__(self, values: Sequence[str], width: int, dictionary: Dictionary) -> None:
        self._values = [parsed(value, width) for value in values]
        self._dictionary = dictionary

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """One result row for each input row."""
        (batch,) = inputs
        codes = np.empty((len(self._values), len(batch)), np.int64)
        for i, value in enumerate(self._values if len(batch) else ()):
            codes[i] = self._codes(value, batch)
        return Batch(codes, batch.ts, batch.exp)

    def _codes(self, value: Value, batch: Batch) -> Any:
        match value:
            case Column(position):
                return batch.columns[position]
            case Literal(constant):
                return self._dictionary.constant(constant)
            case Call():
                looked_at = columns(value)
                decoded = {c: self._dictionary.decode(batch.columns[c]) for c in set(looked_at)}
                until = lasting(batch.exp)
                return self._dictionary.encode(_computed(value, decoded, len(batch)), until)


def _computed(value: Call, inputs: dict[int, pa.Array[Any]], rows: int) -> pa.Array[Any]:
    """The value of a call in each row, null where it is unknown.

    ``inputs`` are the decoded columns that the call reads, by position.
    """
    mixed = next((c for c in sorted(inputs) if pa.types.is_union(inputs[c].type)), None)
    if mixed is not None:
        return _of_mixed(value, inputs, mixed, rows)
    width = 1 + max(inputs, default=0)
    nothing: pa.Array[Any] = pa.nulls(rows)
    evaluated = Scalars([inputs.get(c, nothing) for c in range(width)]).of(value)
    if evaluated.kind != "number":
        return nothing
    result: pa.Array[Any] = pa.array(np.ascontiguousarray(evaluated.values), mask=~evaluated.known)
    return result


def _of_mixed(
    value: Call, inputs: dict[int, pa.Array[Any]], mixed: int, rows: int
) -> pa.Array[Any]:
    """As :func:`_computed`, for a column of mixed types: computes the rows of each type separately.

    The result is float64 if any row is; integers then become the nearest floats.
    """
    column: Any = inputs[mixed]
    type_codes, offsets = np.asarray(column.type_codes), np.asarray(column.offsets)
    parts: list[tuple[IntArray, pa.Array[Any]]] = []
    for code in range(column.type.num_fields):
        own = np.flatnonzero(type_codes == code)
        if len(own):
            chosen: Any = pa.array(own, pa.int64())
            inside = {c: values.take(chosen) for c, values in inputs.items() if c != mixed}
            inside[mixed] = column.field(code).take(pa.array(offsets[own]))
            parts.append((own, _computed(value, inside, len(own))))
    kinds = {part.type for _, part in parts if not pa.types.is_null(part.type)}
    kind = pa.int64() if kinds == {pa.int64()} else pa.float64()
    whole: Any = pa.concat_arrays([part.cast(kind, safe=False) for _, part in parts])
    ordered: pa.Array[Any] = whole.take(
        pa.array(np.argsort(np.concatenate([own for own, _ in parts])))
    )
    return ordered

"""COMPUTE: evaluates scalar expressions over the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

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
                return self._encoded(_computed(value, decoded, len(batch)), until)

    def _encoded(self, computed: Computed, until: IntArray) -> IntArray:
        codes = np.empty(len(until), np.int64)
        for rows, values in computed:
            codes[rows] = self._dictionary.encode(values, until[rows])
        return codes


Computed: TypeAlias = "list[tuple[IntArray, pa.Array[Any]]]"
"""Values of one type each, with their rows."""


def _computed(value: Call, inputs: dict[int, pa.Array[Any]], rows: int) -> Computed:
    """The value of a call in each row, null where it is unknown.

    ``inputs`` are the decoded columns that the call reads, by position.
    """
    mixed = next((c for c in sorted(inputs) if pa.types.is_union(inputs[c].type)), None)
    if mixed is not None:
        return _of_mixed(value, inputs, mixed)
    width = 1 + max(inputs, default=0)
    nothing: pa.Array[Any] = pa.nulls(rows)
    scalars = Scalars([inputs.get(c, nothing) for c in range(width)])
    return [(np.arange(rows, dtype=np.int64), scalars.of(value).array())]


def _of_mixed(value: Call, inputs: dict[int, pa.Array[Any]], mixed: int) -> Computed:
    """As :func:`_computed`, for a column of mixed types: computes the rows of each type separately.

    If any numbers are float64, integers become the nearest floats.
    """
    column: Any = inputs[mixed]
    type_codes, offsets = np.asarray(column.type_codes), np.asarray(column.offsets)
    parts: Computed = []
    for code in range(column.type.num_fields):
        own = np.flatnonzero(type_codes == code)
        if len(own):
            chosen: Any = pa.array(own, pa.int64())
            inside = {c: values.take(chosen) for c, values in inputs.items() if c != mixed}
            inside[mixed] = column.field(code).take(pa.array(offsets[own]))
            parts += [(own[rows], of) for rows, of in _computed(value, inside, len(own))]
    if not any(pa.types.is_floating(of.type) for _, of in parts):
        return parts
    return [
        (rows, of.cast(pa.float64(), safe=False) if pa.types.is_integer(of.type) else of)
        for rows, of in parts
    ]

"""Values as kernels take them: strings as bytes, all others as 64 bits.

A value is a vertex or a property: a string, an integer, a number, a truth value, or missing.
NaN is no number here but a missing value, and -0.0 is 0.0, so that equal values have equal bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..algebra.values import PropertyType
from .batch import IntArray

Values: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any]"

ARROW_TYPES: Mapping[PropertyType, Any] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
}
"""How the values of a column of each type are held."""


def plain(values: Values) -> pa.Array[Any]:
    """One array of string, large_string, int64, float64 or bool, or of nothing.

    Raises:
        ValueError: on another type.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if pa.types.is_dictionary(kind):
        return plain(values.cast(kind.value_type))
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_floating(kind):
        return values.cast(pa.float64())
    known = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_null)
    if not any(is_one(kind) for is_one in known):
        raise ValueError(f"values are strings, integers, numbers or booleans, not {kind}")
    return values


def missing(values: pa.Array[Any]) -> NDArray[np.bool_]:
    """Which of plain values are missing."""
    if pa.types.is_floating(values.type):
        return np.asarray(np.isnan(values.to_numpy(zero_copy_only=False)))  # so is null
    if not values.null_count:
        return np.zeros(len(values), np.bool_)
    return np.asarray(values.is_null())


def bits_of(values: pa.Array[Any]) -> IntArray:
    """Plain values other than strings, none of them missing, as integers; equal if they are."""
    if pa.types.is_floating(values.type):
        return (values.to_numpy() + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
    return np.array(values.to_numpy(zero_copy_only=False), np.int64)


def string_buffers(strings: pa.Array[Any]) -> tuple[IntArray, NDArray[np.uint8]]:
    """Offsets and bytes of a ``large_string`` array that is not empty, as kernels take them."""
    _, offset_buffer, data_buffer = strings.buffers()
    assert offset_buffer is not None
    first, last = strings.offset, strings.offset + len(strings)
    offsets = np.frombuffer(memoryview(offset_buffer), np.int64)[first : last + 1].copy()
    data = np.frombuffer(memoryview(data_buffer or b""), np.uint8)
    data.flags.writeable = False  # always the one type that the kernels are compiled for
    return offsets, data

"""Values in the form that kernels read: strings as bytes, all others as 64 bits.

A value is a vertex or a property: a string, an integer, a number, a truth value, or missing.
NaN is a missing value, and -0.0 is 0.0, so that equal values have equal bits.
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
"""The Arrow type of a column of each property type."""


def plain(values: Values) -> pa.Array[Any]:
    """Values as one array of string, large_string, int64, float64, bool or null.

    Raises:
        ValueError: for a type that is not a value type.
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
    others = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean, pa.types.is_null)
    if not any(has_type(kind) for has_type in others):
        raise ValueError(f"values are strings, integers, numbers or booleans, not {kind}")
    return values


def missing(values: pa.Array[Any]) -> NDArray[np.bool_]:
    """A mask of the missing ones among plain values."""
    if pa.types.is_floating(values.type):
        return np.asarray(np.isnan(values.to_numpy(zero_copy_only=False)))  # so is null
    if not values.null_count:
        return np.zeros(len(values), np.bool_)
    return np.asarray(values.is_null())


def bits_of(values: pa.Array[Any]) -> IntArray:
    """Plain values as 64 bits; equal values have equal bits. No value is a string or missing."""
    if pa.types.is_floating(values.type):
        return (values.to_numpy() + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
    return np.array(values.to_numpy(zero_copy_only=False), np.int64)


def string_buffers(strings: pa.Array[Any]) -> tuple[IntArray, NDArray[np.uint8]]:
    """The offsets and bytes of a ``large_string`` array that is not empty."""
    _, offset_buffer, data_buffer = strings.buffers()
    assert offset_buffer is not None
    first, last = strings.offset, strings.offset + len(strings)
    offsets = np.frombuffer(memoryview(offset_buffer), np.int64)[first : last + 1].copy()
    data = np.frombuffer(memoryview(data_buffer or b""), np.uint8)
    data.flags.writeable = False  # kernels are compiled for read-only bytes
    return offsets, data

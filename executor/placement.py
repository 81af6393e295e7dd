"""Which partition a vertex belongs to.

In: vertices, as Arrow arrays here or as codes in :meth:`executor.dictionary.Dictionary.partitions`.
Out: partition numbers.

Invariant: equal vertices belong to the same partition, in every process and every run, whether
looked at as values or as codes. (The string ``"1"`` and the integer ``1`` are different vertices
and may be apart.) State on disk rests on it: a change of the hash is a change of version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from executor.batch import IntArray
from executor.kernels import vertices as kernel


@dataclass(frozen=True, slots=True)
class Place:
    """One of several partitions; by default the only one."""

    partition: int = 0
    partitions: int = 1


def partitions_of(vertices: pa.Array[Any] | pa.ChunkedArray[Any], partitions: int) -> IntArray:
    """The partitions, of so many, to which vertices belong.

    Raises:
        ValueError: on a type that is neither string nor integer.
    """
    found = np.zeros(len(vertices), np.int64)
    if partitions == 1 or not len(vertices):
        return found
    if isinstance(vertices, pa.ChunkedArray):
        vertices = vertices.combine_chunks()
    if pa.types.is_integer(vertices.type):
        kernel.place_integers(np.array(vertices.cast(pa.int64())), partitions, found)
    elif pa.types.is_string(vertices.type) or pa.types.is_large_string(vertices.type):
        kernel.place_strings(*string_buffers(vertices.cast(pa.large_string())), partitions, found)
    else:
        raise ValueError(f"vertices are strings or integers, not {vertices.type}")
    return found


def string_buffers(strings: pa.Array[Any]) -> tuple[IntArray, NDArray[np.uint8]]:
    """Offsets and bytes of a ``large_string`` array that is not empty, as kernels take them."""
    _, offset_buffer, data_buffer = strings.buffers()
    assert offset_buffer is not None
    first, last = strings.offset, strings.offset + len(strings)
    offsets = np.frombuffer(memoryview(offset_buffer), np.int64)[first : last + 1].copy()
    data = np.frombuffer(memoryview(data_buffer or b""), np.uint8)
    data.flags.writeable = False  # always the one type that the kernels are compiled for
    return offsets, data

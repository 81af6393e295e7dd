"""Assigns values (vertices and properties) to partitions by a hash.

In: values, as Arrow arrays here or as codes in
:meth:`headrace.executor.dictionary.Dictionary.partitions`.
Out: partition numbers.

Invariant: equal values belong to the same partition, in every process and every run, as values
and as codes. (The string ``"1"`` and the integer ``1`` are different values and may differ; a
missing value has a partition, too.) State on disk depends on the hash: changing the hash changes
the version of the state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .batch import IntArray
from .kernels import vertices as kernel
from .values import Values, bits_of, missing, plain, string_buffers


@dataclass(frozen=True, slots=True)
class Partition:
    """The number of a partition, and how many there are; by default the only one."""

    partition: int = 0
    partitions: int = 1


def partitions_of(values: Values, partitions: int) -> IntArray:
    """The partition of each value, by number.

    Raises:
        ValueError: for a type that is not a value type.
    """
    partition_of = np.zeros(len(values), np.int64)
    if partitions == 1 or not len(values):
        return partition_of
    values = plain(values)
    absent = missing(values)
    if absent.any():
        kernel.place_bits(np.zeros(len(values), np.int64), partitions, partition_of)
        there = ~absent
        partition_of[there] = partitions_of(values.filter(pa.array(there)), partitions)
    elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        kernel.place_strings(
            *string_buffers(values.cast(pa.large_string())), partitions, partition_of
        )
    else:
        kernel.place_bits(bits_of(values), partitions, partition_of)
    return partition_of

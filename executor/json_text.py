"""Values and lists of values as JSON text, whole columns at a time.

A number that is not finite is written ``1e999`` or ``-1e999``, which is read as it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .batch import IntArray

Column = Any  # an Arrow array; the stubs of pyarrow.compute want to know of what


def json_values(column: Column) -> Column:
    """Each value as JSON text."""
    return converted(column, _json_of_plain)


def json_lists(texts: Column, ends: IntArray) -> Column:
    """JSON of lists of JSON texts; list i ends before text ``ends[i]``."""
    lists: Any = pa.ListArray.from_arrays(pa.array(np.r_[0, ends], pa.int32()), texts)
    return joined([pa.scalar("["), pc.binary_join(lists, ","), pa.scalar("]")])


def joined(parts: Sequence[Column]) -> Column:
    """Text columns and constants side by side."""
    nothing_between: Column = pa.scalar("")
    return pc.binary_join_element_wise(*parts, nothing_between)


def converted(column: Column, convert: Callable[[Column], Column]) -> Column:
    """``convert`` on a column of one type, or on each part of one that mixes two."""
    if not pa.types.is_union(column.type):
        return convert(column)
    parts = [convert(column.field(kind)) for kind in range(column.type.num_fields)]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    rows = starts[column.type_codes.to_numpy()] + column.offsets.to_numpy()
    return pa.concat_arrays(parts).take(pa.array(rows))


def _json_of_plain(values: Column) -> Column:
    written: Column
    if pa.types.is_floating(values.type):
        written = pc.cast(values, pa.string())
        written = pc.replace_substring_regex(written, r"^(-?[0-9]+)$", r"\1.0")
        written = pc.replace_substring(written, "inf", "1e999")
    elif not pa.types.is_string(values.type):
        written = pc.cast(values, pa.string())
    elif _needs_escape(values):
        written = pa.array([json.dumps(v, ensure_ascii=False) for v in values.to_pylist()])
    else:
        quote = pa.scalar('"')
        written = joined([quote, values, quote])
    return pc.fill_null(written, "null") if written.null_count else written


def _needs_escape(values: Column) -> bool:
    """Whether any byte is a quote, a backslash or a control character."""
    data = values.buffers()[2]
    if data is None:
        return False
    octets = np.frombuffer(data, np.uint8)
    return bool(((octets < 0x20) | (octets == 0x22) | (octets == 0x5C)).any())

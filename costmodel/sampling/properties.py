"""Properties of edges in the rows of joins, as codes.

The code of a value is the position of the first edge of the sample that has the value. So codes
are equal for equal values of a property, and the sample decodes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra.predicate import Predicate
from .arrays import Ints, Mask

if TYPE_CHECKING:
    from ...catalog.model import StreamSample

Properties = Mapping[int, tuple[str, str]]
"""The columns of rows that hold properties, with the stream and the name of each."""
Checking = Callable[[Predicate, Properties, Mapping[int, Ints], int], Mask | None]
"""The rows that satisfy a condition over columns; None if the sample cannot decide it.

The arguments are the condition, the columns that hold properties, the codes of the columns that the
condition reads, and the number of rows.
"""
KEPT = 16
"""The properties whose codes a process keeps."""


def undecided(_condition: Predicate, _of: Properties, _codes: Any, _rows: int) -> Mask | None:
    """Decides no condition."""
    return None


def values_of(sample: StreamSample, name: str) -> Any:
    """The values of a property of a sample's edges, as an Arrow array; None without them."""
    if name != "ts":
        return sample.properties.get(name)
    import pyarrow as pa

    return pa.array(sample.ts)


@lru_cache(maxsize=KEPT)
def codes_of(sample: StreamSample, name: str) -> Ints | None:
    """The codes of the values of a property, for each edge of a sample.

    None if the sample does not have the property, or its values are of several types.
    """
    import pyarrow as pa

    values = values_of(sample, name)
    if values is None or pa.types.is_union(values.type) or pa.types.is_null(values.type):
        return None
    encoded = values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    codes: Ints = first[places].astype(np.int64)
    return codes

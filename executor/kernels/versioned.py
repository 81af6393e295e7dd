"""Joins rows that have versions, for estimates from a sample: each version has a time of its own.

A version of a row is created, expires, and may be replaced by the next version of the row before
that. Versions of two rows join if both are there at one time before either is replaced.
"""

from __future__ import annotations

from numpy import bool_
from numpy.typing import NDArray

from ..batch import IntArray
from .compiling import kernel

Versions = tuple[IntArray, IntArray, IntArray, NDArray[bool_]]
"""By row when the version was created, expires and is replaced, and whether the row is new."""


@kernel
def joined(
    low: IntArray,
    high: IntArray,
    left: Versions,
    right: Versions,
    rows: IntArray,
    others: IntArray,
    out: Versions,
) -> int:
    """Joins each row of the left with a range of rows of the right.

    Args:
        low: by row of the left the first row of the right.
        high: by row of the left the end of its rows of the right.
        left: the versions of the left.
        right: the versions of the right.
        rows: room for the row of the left of each result.
        others: room for the row of the right of each result.
        out: room for the versions of the results.

    Returns:
        The number of results, which is at most the sum of the lengths of the ranges.
    """
    created, expiry, replaced, fresh = left
    created_right, expiry_right, replaced_right, fresh_right = right
    out_created, out_expiry, out_replaced, out_fresh = out
    written = 0
    for row in range(len(low)):
        for other in range(low[row], high[row]):
            begun = max(created[row], created_right[other])
            ended = min(replaced[row], replaced_right[other])
            if begun < ended:
                later = created_right[other] > created[row]
                rows[written], others[written] = row, other
                out_created[written], out_replaced[written] = begun, ended
                out_expiry[written] = min(expiry[row], expiry_right[other])
                out_fresh[written] = fresh_right[other] if later else fresh[row]
                written += 1
    return written

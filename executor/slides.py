"""Alignment to slides: evaluation per slide has results only at the multiples of a period.

The snapshot at a multiple is that of the last instant before it. So an edge valid in ``[ts, exp)``
counts at the multiples k with ``ts < k <= exp``. These are the multiples in
``[next(ts), next(exp))``, where ``next`` is the first multiple after a time. Scan inputs give edges
that validity, so all edges of a slide begin at once, and operators need no special case.
"""

from __future__ import annotations

import numpy as np

from .batch import FOREVER, IntArray
from .watermarks import NEVER


def align_to_slide(times: IntArray, every: int | None) -> IntArray:
    """The first multiple of ``every`` after each time; FOREVER stays. Without ``every`` all stay.

    A multiple beyond 64 bits becomes the tick before FOREVER.
    """
    if every is None:
        return times
    start = times // every * every
    far = start >= FOREVER - every
    return np.where(times == FOREVER, FOREVER, np.where(far, FOREVER - 1, start + every))


def aligned_time(now: int, every: int | None) -> int:
    """The time of reports at application time ``now``.

    Rows of ``now`` may still arrive; they count at the next multiple.
    """
    if every is None or now in (NEVER, FOREVER):
        return now
    return int(align_to_slide(np.array([now], np.int64), every)[0])

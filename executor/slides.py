"""Alignment to slides: with evaluation per slide, results hold at the multiples of a period only.

What is true at the last instant before a multiple is reported as of that multiple. So an edge valid
in ``[ts, exp)`` counts at the multiples k with ``ts < k <= exp``, which are those in
``[next(ts), next(exp))`` with the next multiple after either: leaves give edges that validity, in
which all edges of a slide begin at once, and operators compute with it as with any other.
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

    Rows of ``now`` may still come; they count at the next multiple.
    """
    if every is None or now in (NEVER, FOREVER):
        return now
    return int(align_to_slide(np.array([now], np.int64), every)[0])

"""Which instants of a sample are looked at.

Joins have most of their rows at the few instants of a stream at which many edges are valid, and a
label may have its edges in a part of the stream. So instants with many valid or new edges of some
label, relative to the mean of the label, are more probable, and each counts with the inverse of its
probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from ...catalog.model import StreamSample
from .arrays import Floats, Ints
from .relations import Scanned
from .snapshot import KEPT_SNAPSHOTS, TimePoints

MOST_VALID = 40_000
"""The number of valid edges over all instants, at which the number of instants aims."""
FEWEST, MOST = 4, 128
"""The bounds of the number of instants."""
SHORT_TIME = 1 / 4
"""The short time before an instant, as a part of the shortest window; at least a slide."""
_GRID = 512
"""The number of instants among which some are chosen."""


@lru_cache(maxsize=KEPT_SNAPSHOTS)
def points_of(
    samples: tuple[tuple[str, StreamSample], ...], scans: tuple[Scanned, ...]
) -> TimePoints | None:
    """The instants of the samples of some streams; None if a window is longer than the sample.

    The last ones are kept.
    """
    return _points_of(dict(samples), scans)


def _points_of(samples: Mapping[str, StreamSample], scans: Sequence[Scanned]) -> TimePoints | None:
    windows = [scan.window for scan in scans if scan.window is not None]
    slide = max(window.slide for window in windows)
    part = int(min(window.range for window in windows) * SHORT_TIME)
    since = max(part // slide, 1) * slide
    timed = {scan.stream: samples[scan.stream] for scan in scans if scan.window is not None}
    first = max(sample.begin for sample in timed.values())
    first += max(window.range for window in windows)
    last = min(sample.end for sample in timed.values())
    # An instant is the last one of a slide, at which all edges of the slide are there.
    first, last = -(-(first + 1) // slide), (last + 1) // slide
    if first > last:
        return None
    grid = np.unique(np.linspace(first, last, _GRID).astype(np.int64)) * slide - 1
    busy, valid = _busy(samples, scans, grid, since)
    chance = busy / busy.sum() + 1 / len(grid)
    mean = max(float((valid * chance).sum() / chance.sum()), 1.0)
    count = min(max(int(MOST_VALID / mean), FEWEST), MOST, len(grid))
    if count == len(grid):
        return TimePoints(grid, np.full(count, 1 / count), since, slide)
    ends = np.cumsum(chance / chance.sum()) * count
    chosen = np.searchsorted(ends, np.arange(count) + 0.5)
    chosen, times = np.unique(np.minimum(chosen, len(grid) - 1), return_counts=True)
    weights = times / chance[chosen]
    return TimePoints(grid[chosen], weights / weights.sum(), since, slide)


def _busy(
    samples: Mapping[str, StreamSample], scans: Sequence[Scanned], grid: Ints, since: int
) -> tuple[Floats, Floats]:
    """How many rows joins may have at each instant, and the number of valid edges."""
    busy, valid = np.zeros(len(grid)), np.zeros(len(grid))
    for stream, label, window, *_ in scans:
        ts = samples[stream].ts[samples[stream].rows_of(label)]
        if window is None:
            valid += len(ts)
            continue
        until = np.searchsorted(ts, grid, "right")
        own = until - np.searchsorted(ts, grid - window.range, "right")
        new = until - np.searchsorted(ts, grid - since, "right")
        if own.any():
            busy += (own / own.mean()) ** 2
            valid += own
        if new.any():
            busy += own * new / max((own * new).mean(), 1e-9)
    return busy + 1e-9, valid

"""Draws a sample of values, the larger ones with a larger probability."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .arrays import Floats, Ints


def draw(sizes: Floats, count: int, seed: int) -> tuple[Ints, Floats]:
    """Samples positions, sorted, with the probability that the sample has each of them.

    The sample is systematic. Its expected size is ``count``. The probability of a position is in
    proportion to its size plus the mean size, and at most 1. A sample of all positions has
    probability 1 for each.
    """
    if len(sizes) <= count:
        return np.arange(len(sizes)), np.ones(len(sizes))
    weights = sizes / sizes.mean() + 1
    probability = np.minimum(count * weights / weights.sum(), 1.0)
    before, certain = 0, int(np.count_nonzero(probability == 1))
    while certain > before:
        free = probability < 1
        room = count - certain
        probability[free] = np.minimum(room * weights[free] / weights[free].sum(), 1.0)
        before, certain = certain, int(np.count_nonzero(probability == 1))
    ends = np.cumsum(probability)
    places = np.searchsorted(ends, np.arange(_start(seed), ends[-1], 1.0), "right")
    drawn = np.unique(np.minimum(places, len(sizes) - 1))
    return drawn, probability[drawn]


@lru_cache
def _start(seed: int) -> float:
    """The start of a systematic sample, in the interval of the first."""
    return float(np.random.default_rng(seed).random())

"""Rank correlation, quantiles, and intervals of medians."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, sqrt
from statistics import median

LEVEL = 0.95
"""The level of confidence of intervals."""


def kendall(one: Sequence[float], other: Sequence[float], margin: float = 0.0) -> float | None:
    """Kendall's tau-b of two rows of numbers; None if one of them has a single value.

    Args:
        one: numbers, such as costs.
        other: as many numbers, such as times; infinities are equal to each other.
        margin: the relative difference in ``other`` below which a pair is left out.
    """
    agreeing = tied_in_one = tied_in_other = pairs = 0
    for (a, x), (b, y) in combinations(zip(one, other, strict=True), 2):
        if margin and abs(x - y) <= margin * min(x, y):
            continue
        pairs += 1
        first, second = (a > b) - (a < b), (x > y) - (x < y)
        agreeing += first * second
        tied_in_one += first == 0
        tied_in_other += second == 0
    size = sqrt((pairs - tied_in_one) * (pairs - tied_in_other))
    return agreeing / size if size else None


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least ``part`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-part * len(ordered) // 1) - 1))]


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """An interval that holds the median with :data:`LEVEL` confidence, by order statistics.

    Fewer than six values have none: then the interval is from 0 to infinity.
    """
    ordered, n = sorted(values), len(values)
    outside, left_out = 0.0, 0
    while left_out < n // 2:
        outside += 2 * comb(n, left_out) / 2**n
        if outside > 1 - LEVEL:
            break
        left_out += 1
    if not left_out:
        return 0.0, float("inf")
    return ordered[left_out - 1], ordered[n - left_out]


def is_narrow(values: Sequence[float], width: float) -> bool:
    """Whether the interval of the median is at most ``width`` wide, relative to its low end."""
    low, high = median_interval(values)
    return low > 0 and high <= low * (1 + width)


def middle(values: Sequence[float]) -> float:
    """The median; infinity without a value."""
    return median(values) if values else float("inf")

"""Conditions over rows with missing values."""

from __future__ import annotations

from collections.abc import Set

from .predicate import Predicate
from .predicate_syntax import COMPARISONS, sides
from .scalar import unknown_without


def rejects_missing(predicate: Predicate, columns: Set[int]) -> bool:
    """Whether no row with missing values in all of these columns satisfies the predicate.

    A comparison with a missing value is unknown, and so are arithmetic and most functions on one.
    False where that is not certain.

    >>> rejects_missing(Predicate("c1 > 3 AND c0 = 1"), {1})
    True
    >>> rejects_missing(Predicate("c1 > 3 OR c0 = 1"), {1})
    False
    """
    parts = predicate.conjuncts
    if len(parts) > 1:
        return any(rejects_missing(part, columns) for part in parts)
    parts = predicate.disjuncts
    if len(parts) > 1:
        return all(rejects_missing(part, columns) for part in parts)
    comparison = predicate.normal.parsed
    if not isinstance(comparison, COMPARISONS):
        return False
    return any(unknown_without(side, columns) for side in sides(comparison, predicate.sql))

"""Conditions over rows with missing values."""

from __future__ import annotations

from collections.abc import Set

from sqlglot import exp

from .predicate import Predicate


def rejects_missing(predicate: Predicate, columns: Set[int]) -> bool:
    """Whether no row with missing values in all of these columns satisfies the predicate.

    A comparison with a missing value is unknown, and so is arithmetic on one. False where that is
    not certain.

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
    return not isinstance(predicate.normal.parsed, exp.Is) and not columns.isdisjoint(
        predicate.columns
    )

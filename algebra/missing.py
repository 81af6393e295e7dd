"""Conditions over rows with missing values."""

from __future__ import annotations

from collections.abc import Set

from sqlglot import exp

from .predicate import Predicate
from .predicate_syntax import COMPARISONS, alternatives, sides
from .scalar import Column, Value, null_without


def rejects_missing(predicate: Predicate, columns: Set[int]) -> bool:
    """Whether no row with missing values in all of these columns satisfies the predicate.

    A comparison with a missing value is unknown; arithmetic and most functions on one are null.
    False where that is not certain.

    >>> rejects_missing(Predicate("c1 > 3 AND c0 = 1"), {1})
    True
    >>> rejects_missing(Predicate("NOT c1 IS NULL"), {1})
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
    return any(null_without(value, columns) for value in _compared(predicate))


def _compared(predicate: Predicate) -> tuple[Value, ...]:
    """The values of which a predicate is not true if any of them is null."""
    test, sql = predicate.normal.parsed, predicate.sql
    negated = isinstance(test, exp.Not)
    if negated:
        test = test.this.unnest()
    if isinstance(test, COMPARISONS):
        return sides(test, sql)
    if isinstance(test, exp.In):
        return (alternatives(test, sql)[0],)
    if negated and isinstance(test, exp.Is):
        return (Column(int(test.this.name[1:])),)
    return ()

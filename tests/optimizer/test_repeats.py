"""The rules of joins for rows that repeat others."""

from __future__ import annotations

from headrace.algebra.physical import HashJoin, MultiwayJoin

PAIR = HashJoin(((0, 1), (1, 2)), (0, 2))
TRIANGLE = MultiwayJoin((0, 1, 2), ((0, 1), (1, 2), (2, 0)), (0,), ((2,), (0,), (1,)))


def test_a_join_meets_a_repeated_row_once_without_deletions() -> None:
    assert PAIR.repeats([2, 2]) == TRIANGLE.repeats([2, 2, 2]) == "derived anew"


def test_a_join_over_deletions_meets_each_copy() -> None:
    assert PAIR.over_deletions().repeats([2, 2]) == "derived"
    assert TRIANGLE.over_deletions().repeats([2, 2, 2]) == "derived"

"""Disjoint sets with merging (union-find), each with a leader as its representative."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Disjoint sets; every value begins in a set of its own. True once two sets were merged."""

    def __init__(self) -> None:
        self._parents: dict[T, T] = {}

    def leader(self, value: T) -> T:
        """The representative of the set of a value."""
        while value in self._parents:
            value = self._parents[value]
        return value

    def merge(self, first: T, second: T) -> bool:
        """Merges two sets under the leader of the first one; returns whether they were distinct."""
        first, second = self.leader(first), self.leader(second)
        if first == second:
            return False
        self._parents[second] = first
        return True

    def __bool__(self) -> bool:
        return bool(self._parents)

"""Disjoint sets that are merged (union-find), each with one member that stands for it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Every value is in a set of its own until it is merged; true once any two were merged."""

    def __init__(self) -> None:
        self._parents: dict[T, T] = {}

    def leader(self, value: T) -> T:
        """The member that stands for the set of a value."""
        while value in self._parents:
            value = self._parents[value]
        return value

    def merge(self, first: T, second: T) -> bool:
        """Merges two sets, of which the first one's leader leads; whether they were two."""
        first, second = self.leader(first), self.leader(second)
        if first == second:
            return False
        self._parents[second] = first
        return True

    def __bool__(self) -> bool:
        return bool(self._parents)

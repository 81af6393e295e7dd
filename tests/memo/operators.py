"""Operators without semantics, for tests of the memo alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, Self, cast

from headrace.memo import Digest, GroupId, Operators


class Canonical(Protocol):
    """An operator with a canonical form of its own."""

    def canonical(self, inputs: tuple[int, ...], /) -> tuple[Self, tuple[int, ...]]: ...


class OwnForms(Operators):
    """Answers the memo's questions by the operators' own canonical forms."""

    def canonical(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        form, used = cast(Canonical, operator).canonical(inputs)
        return cast(Hashable, form), used


@dataclass(frozen=True)
class Leaf:
    name: str

    def canonical(self, inputs: tuple[int, ...]) -> tuple[Leaf, tuple[int, ...]]:
        return self, inputs

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Node:
    """An operator of any arity; ``sorts`` makes the operator commutative."""

    name: str
    sorts: bool = False

    def canonical(self, inputs: tuple[int, ...]) -> tuple[Node, tuple[int, ...]]:
        return self, tuple(sorted(inputs)) if self.sorts else inputs

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Other:
    """A second type, for patterns that distinguish types."""

    name: str

    def canonical(self, inputs: tuple[int, ...]) -> tuple[Other, tuple[int, ...]]:
        return self, inputs

    def __str__(self) -> str:
        return self.name

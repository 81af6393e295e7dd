"""Operators that mean nothing, for a memo that knows nothing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, Self, cast

from headrace.memo import Digest, GroupId, Operators


class Canonical(Protocol):
    """An operator that knows its canonical form."""

    def canonical(self, inputs: tuple[int, ...], /) -> tuple[Self, tuple[int, ...]]: ...


class OwnForms(Operators):
    """Operators that know their canonical form."""

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
    """An operator of any arity; ``sorts`` makes the order of its inputs meaningless."""

    name: str
    sorts: bool = False

    def canonical(self, inputs: tuple[int, ...]) -> tuple[Node, tuple[int, ...]]:
        return self, tuple(sorted(inputs)) if self.sorts else inputs

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Other:
    """A second type, for patterns that tell types apart."""

    name: str

    def canonical(self, inputs: tuple[int, ...]) -> tuple[Other, tuple[int, ...]]:
        return self, inputs

    def __str__(self) -> str:
        return self.name

"""The parts of the syntax tree without expressions in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ...algebra.scalar import Scalar
from ..query.atoms import Location


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the query; equality ignores the place."""

    text: str
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as a value."""

    name: Name

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.name.at


@dataclass(frozen=True, slots=True)
class Property:
    """``owner.key``; ``more`` are further keys, which only maps have."""

    owner: Name
    key: Name
    more: tuple[Name, ...] = ()

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.owner.at


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, a number, a truth value, or null."""

    value: Scalar | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name``."""

    name: Name

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.name.at


@dataclass(frozen=True, slots=True)
class HasLabels:
    """``x:Person:Student`` as a condition."""

    name: Name
    labels: tuple[Name, ...]

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.name.at


class TextTest(Enum):
    """How two strings are compared."""

    STARTS = "STARTS WITH"
    ENDS = "ENDS WITH"
    CONTAINS = "CONTAINS"


class Quantifier(Enum):
    """Of how many members of a list a condition has to be true."""

    ALL = "all"
    ANY = "any"
    NONE = "none"
    SINGLE = "single"


class Direction(Enum):
    """The direction of a relationship in a pattern."""

    RIGHT = "->"
    LEFT = "<-"
    EITHER = "--"


@dataclass(frozen=True, slots=True)
class Hops:
    """``*least..most``; ``most`` None is unbounded."""

    least: int
    most: int | None
    at: Location = field(compare=False)


class Shortest(Enum):
    """Which of the paths between two nodes a pattern chooses."""

    ONE = "shortestPath"
    ALL = "allShortestPaths"

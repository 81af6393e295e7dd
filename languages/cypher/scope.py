"""What the variables of a query are bound to."""

from __future__ import annotations

from dataclasses import dataclass

from ..query import regular_query as rq


@dataclass(frozen=True, slots=True)
class Node:
    """A node.

    Attributes:
        variable: its variable in rules.
        labels: the labels that patterns say it has.
        optional: whether a pattern of an OPTIONAL MATCH binds it, so that it may be missing.
    """

    variable: str
    labels: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship.

    Attributes:
        name: its name in rules.
        types: its types; none stand for any.
        ends: the variables in rules of the nodes where it starts and ends; None if the pattern does
            not say which is which.
        optional: as of :class:`Node`.
        only_ends: whether nothing else of it is known, as of a step of a shortest path.
    """

    name: str
    types: tuple[str, ...]
    ends: tuple[str, str] | None = None
    optional: bool = False
    only_ends: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """The variables in rules of the nodes of a path, and its relationships, from its start on."""

    nodes: tuple[str, ...]
    relationships: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path.

    Attributes:
        name: its name in rules.
        shortest: whether it is a shortest one.
        ends: the variables in rules of its first and last node.
        optional: as of :class:`Node`.
        steps: what is on the path, if the query reads it.
        types: the types of the relationships of a shortest path; none stand for any.
    """

    name: str
    shortest: bool
    ends: tuple[str, str]
    optional: bool = False
    steps: Steps | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A value with a name."""

    value: rq.Value


@dataclass(frozen=True, slots=True)
class Point:
    """A point.

    Attributes:
        on_earth: whether its coordinates are latitude and longitude in degrees, and not x and y.
        coordinates: the two coordinates.
    """

    on_earth: bool
    coordinates: tuple[rq.Value, rq.Value]


@dataclass(frozen=True, slots=True)
class Members:
    """A list that a WITH collects.

    Attributes:
        rows: the predicate of its values, which are behind the keys of the WITH.
        keys: the variables in rules of the keys; nodes, which are never missing.
        of_nodes: the labels of its values if they are nodes; None for other values.
        repeats: whether a value may be in the list several times, and is there once in ``rows``.
    """

    rows: str
    keys: tuple[str, ...]
    of_nodes: tuple[str, ...] | None
    repeats: bool


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A list that RETURN gives, and that clauses before only hand on: its members are not known.

    Attributes:
        value: what rules compute the list by.
        of_nodes: whether it has the nodes of a path.
    """

    value: rq.Value
    of_nodes: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a list.

    Attributes:
        bound: what it is.
        kept: the truth value of whether the list has it, which is never null; None if it has it in
            each row.
    """

    bound: Bound
    kept: rq.Value | None = None


@dataclass(frozen=True, slots=True)
class KnownList:
    """A list of which a rule knows all members that it may have."""

    members: tuple[Member, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has all of its members in each row."""
        return all(member.kept is None for member in self.members)


Bound = Node | Edge | Path | Value | Point | Members | ListColumn | KnownList

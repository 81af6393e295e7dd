"""The syntax tree of a G-CORE query: immutable values with the places they were read from.

Nothing is decided here; a tree holds all that the grammar takes, whether or not it can be
translated yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from ..parsing.emit import EmitText
from ..parsing.paths import PathExpression
from ..parsing.windows import WindowText
from ..query.regular_query import Location


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the query; two are equal if their texts are."""

    text: str
    at: Location = field(compare=False)


class Direction(Enum):
    """Which way a link of a pattern points."""

    RIGHT = "->"
    LEFT = "<-"
    EITHER = "--"


@dataclass(frozen=True, slots=True)
class Property:
    """``variable.key``."""

    variable: Name
    key: Name


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, a number, or a truth value."""

    value: str | float | bool
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``function(argument, ...)``; ``count(*)`` has no argument, ``depth`` is as of values."""

    function: Name
    arguments: tuple[Name | Value, ...]
    depth: int = field(default=1, compare=False)
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """Arithmetic: ``+ - * /`` of two values, ``NEG`` of one; ``depth`` is how deep it nests."""

    function: str
    arguments: tuple[Value, ...]
    at: Location = field(compare=False)
    depth: int = field(compare=False)


Value = Property | Literal | Call | Computed


@dataclass(frozen=True, slots=True)
class Node:
    """``(variable:label|label:label {key = value})``; each of ``labels`` is a choice."""

    variable: Name | None
    labels: tuple[tuple[Name, ...], ...]
    properties: tuple[tuple[Name, Literal], ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """``-[variable:label|label {key = value}]->``; without labels it is any edge."""

    variable: Name | None
    labels: tuple[Name, ...]
    properties: tuple[tuple[Name, Literal], ...]
    direction: Direction
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """``-/variable <expression>/->``.

    A symbol of the expression is ``:label``, ``~macro``, or ``!`` and a leaf of the expression,
    a set of labels; ``names`` are these words, each as often and where it was written.
    """

    variable: Name | None
    expression: PathExpression
    names: tuple[Name, ...]
    direction: Direction
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class StoredPath:
    """``-/variable/->`` in CONSTRUCT: a path that MATCH has bound."""

    variable: Name
    direction: Direction
    at: Location = field(compare=False)


Link = Edge | Path | StoredPath


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes, and the links between each and the next; at least one node."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def steps(self) -> Iterator[tuple[Node, Link, Node]]:
        """Each link with its ends, in the order of the text."""
        return zip(self.nodes, self.links, self.nodes[1:], strict=False)


@dataclass(frozen=True, slots=True)
class On:
    """The source of patterns: a stream or graph, or what a query constructs."""

    graph: Name | Query
    window: WindowText | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Matched:
    """A pattern of a MATCH, and the ON right behind it."""

    pattern: Pattern
    on: On | None


@dataclass(frozen=True, slots=True)
class And:
    """All of ``parts``; ``depth`` is how deep the condition is nested."""

    parts: tuple[Condition, ...]
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of ``parts``."""

    parts: tuple[Condition, ...]
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Not ``part``."""

    part: Condition
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class VertexComparison:
    """``(x) = (y)``."""

    left: Node
    sign: Name
    right: Node


@dataclass(frozen=True, slots=True)
class EdgeComparison:
    """``e = f``."""

    left: Name
    sign: Name
    right: Name


@dataclass(frozen=True, slots=True)
class Comparison:
    """``e.key < 3``; a vertex may be compared with a value."""

    left: Node | Value
    sign: Name
    right: Node | Value


@dataclass(frozen=True, slots=True)
class Exists:
    """``EXISTS (query)``."""

    query: Query
    at: Location = field(compare=False)


Condition = And | Or | Not | Pattern | VertexComparison | EdgeComparison | Comparison | Exists


@dataclass(frozen=True, slots=True)
class Block:
    """Patterns that are matched together, and what must hold of them."""

    matched: tuple[Matched, ...]
    condition: Condition | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    """A MATCH with its OPTIONAL blocks."""

    block: Block
    optional: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Macro:
    """``PATH name = pattern, ... WHERE condition``."""

    name: Name
    patterns: tuple[Pattern, ...]
    condition: Condition | None


@dataclass(frozen=True, slots=True)
class Item:
    """A column of SELECT."""

    value: Name | Value
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Construct:
    """CONSTRUCT: patterns of edges and stored paths between bound vertices."""

    patterns: tuple[Pattern, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT: the columns of a table."""

    items: tuple[Item, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Basic:
    """One statement: its macros, its head, and where the bindings come from."""

    macros: tuple[Macro, ...]
    head: Construct | Select
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Statements and named graphs, joined by UNION; ``view`` is the name of a GRAPH VIEW.

    Of a whole text it is the last query, and ``views`` are those before it; ``emit`` says when
    its answers are reported.
    """

    parts: tuple[Basic | Name, ...]
    view: Name | None = None
    views: tuple[Query, ...] = ()
    depth: int = field(default=1, compare=False)
    emit: EmitText | None = None


def depth_of(condition: Condition) -> int:
    """The nesting of a condition; 1 for a test."""
    return condition.depth if isinstance(condition, And | Or | Not) else 1

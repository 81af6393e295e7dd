"""The syntax tree of a G-CORE query: immutable values with their places in the text.

A tree represents everything that the grammar accepts, including unsupported constructs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from ..parsing.emit import EmitText
from ..parsing.paths import PathExpression
from ..parsing.windows import WindowText
from ..query.atoms import Location


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the query; equality ignores the place."""

    text: str
    at: Location = field(compare=False)


class Direction(Enum):
    """The direction of a link of a pattern."""

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
    """``-[variable:label|label {key = value}]->``.

    Attributes:
        variable: the variable of the edge, if any.
        labels: the alternative labels; empty matches any label.
        properties: the required values of properties.
        direction: the direction of the edge.
        at: the place in the text.
    """

    variable: Name | None
    labels: tuple[Name, ...]
    properties: tuple[tuple[Name, Literal], ...]
    direction: Direction
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """``-/variable <expression>/->``.

    Attributes:
        variable: the variable of the path, if any.
        expression: the path expression. A symbol is ``:label``, ``~macro``, or ``!`` followed by
            the name of a leaf, which is a label set.
        names: the symbols as written, with repeats and places.
        direction: the direction of the path.
        at: the place in the text.
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
    """The source of patterns: a stream, a graph, or a query."""

    graph: Name | Query
    window: WindowText | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Matched:
    """A pattern of a MATCH, and the ON right after it, if any."""

    pattern: Pattern
    on: On | None


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of ``parts``; ``depth`` is the depth of nesting."""

    parts: tuple[Condition, ...]
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of ``parts``."""

    parts: tuple[Condition, ...]
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of ``part``."""

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
    """Patterns that are matched together, and their condition."""

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
    """One statement: its macros, its head, and its MATCHes."""

    macros: tuple[Macro, ...]
    head: Construct | Select
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Statements and named graphs, joined by UNION.

    Attributes:
        parts: the statements and named graphs.
        view: the name, if the query is a GRAPH VIEW.
        views: for the last query of a text, the views before it.
        depth: the depth of nested queries.
        emit: the EMIT clause, if any.
    """

    parts: tuple[Basic | Name, ...]
    view: Name | None = None
    views: tuple[Query, ...] = ()
    depth: int = field(default=1, compare=False)
    emit: EmitText | None = None


def depth_of(condition: Condition) -> int:
    """The nesting of a condition; 1 for a test."""
    return condition.depth if isinstance(condition, And | Or | Not) else 1

# ruff: noqa: D102 - a method is what the rule of its name says in gcore.lark
"""Builds the syntax tree of a text during parsing.

The parser calls a method for each grammar rule that it completes, so there is no tree of tokens and
no recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lark import Token, Transformer

from ..parsing.emit import EmitText
from ..parsing.tokens import location_of, nested, number, string
from ..parsing.windows import Length, WindowText
from ..query.atoms import Location
from ..query.errors import QueryError
from .path_reading import PathRules, name_from, unwrapped, words_of
from .syntax import (
    And,
    Basic,
    Block,
    Call,
    Comparison,
    Computed,
    Condition,
    Construct,
    Direction,
    Edge,
    EdgeComparison,
    Exists,
    Item,
    Link,
    Literal,
    Macro,
    Match,
    Matched,
    Name,
    Node,
    Not,
    On,
    Or,
    Path,
    Pattern,
    Property,
    Query,
    Select,
    StoredPath,
    Value,
    VertexComparison,
    depth_of,
)

DEEPEST = 50
"""The deepest nesting of conditions, and of queries in ON."""


@dataclass(frozen=True, slots=True)
class _Where:
    condition: Condition


_Properties = tuple[tuple[Name, Literal], ...]


class Reader(PathRules, Transformer[Token, Query]):
    """One method for each rule of the grammar."""

    # --- queries ----------------------------------------------------------------------

    def start(self, parts: list[Any]) -> Query:
        *views, last = [part for part in parts if isinstance(part, Query)]
        emit = [part for part in parts if isinstance(part, EmitText)]
        return replace(last, views=tuple(views), emit=emit[0] if emit else None)

    def emit(self, parts: list[Token]) -> EmitText:
        return EmitText.of(words_of(parts))

    def query(self, parts: list[Basic | Name]) -> Query:
        inside = [
            matched.on.graph.depth
            for part in parts
            if isinstance(part, Basic)
            for match in part.matches
            for block in (match.block, *match.optional)
            for matched in block.matched
            if matched.on is not None and isinstance(matched.on.graph, Query)
        ]
        return Query(tuple(parts), depth=1 + max(inside, default=0))

    def view(self, parts: list[Any]) -> Query:
        name, inside = words_of(parts)
        assert isinstance(inside, Query)
        return replace(inside, view=name_from(name))

    def graph(self, parts: list[Token]) -> Name:
        return name_from(parts[0])

    def basic(self, parts: list[Any]) -> Basic:
        macros = tuple(part for part in parts if isinstance(part, Macro))
        head, *matches = parts[len(macros) :]
        return Basic(macros, head, tuple(matches))

    def macro(self, parts: list[Any]) -> Macro:
        name, *rest = words_of(parts)
        patterns, condition = _with_condition(rest)
        return Macro(name_from(name), tuple(patterns), condition)

    def construct(self, parts: list[Any]) -> Construct:
        word, *patterns = parts
        return Construct(tuple(patterns), location_of(word))

    def select(self, parts: list[Any]) -> Select:
        word, *items = parts
        return Select(tuple(items), location_of(word))

    def item(self, parts: list[Any]) -> Item:
        value, *alias = parts
        return Item(value, name_from(alias[0]) if alias else None)

    def variable(self, parts: list[Token]) -> Name:
        return name_from(parts[0])

    def property(self, parts: list[Token]) -> Property:
        variable, key = parts
        return Property(name_from(variable), name_from(key))

    def call(self, parts: list[Any]) -> Call:
        function, *rest = words_of(parts)
        name = name_from(function)
        distinct = bool(rest) and isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        rest = rest[distinct:]
        return Call(name, tuple(rest), _depth(rest, name.at), distinct)

    def literal(self, parts: list[Token]) -> Literal:
        (token,) = parts
        match token.type:
            case "STRING":
                return Literal(string(token), location_of(token))
            case "TRUTH":
                return Literal(token.lower() == "true", location_of(token))
            case _:
                return Literal(number(token), location_of(token))

    # --- matching ---------------------------------------------------------------------

    def match(self, parts: list[Any]) -> Match:
        _, block, *optional = parts
        return Match(block, tuple(optional))

    def optional(self, parts: list[Any]) -> Block:
        return next(part for part in parts if isinstance(part, Block))

    def block(self, parts: list[Any]) -> Block:
        matched, condition = _with_condition(parts)
        return Block(tuple(matched), condition, matched[0].pattern.nodes[0].at)

    def matched(self, parts: list[Any]) -> Matched:
        pattern, *on = parts
        return Matched(pattern, on[0] if on else None)

    def on(self, parts: list[Any]) -> On:
        graph, *window = words_of(parts)
        range_, *slide = window if window else [None]
        text = WindowText(range_, slide[0] if slide else None) if range_ else None
        if isinstance(graph, Token):
            return On(name_from(graph), text, location_of(graph))
        if graph.depth > DEEPEST:
            raise QueryError(
                "E-SIZE",
                f"queries are nested more than {DEEPEST} deep",
                at=location_of(parts[0]),
                text="(",
            )
        return On(graph, text, location_of(parts[0]))

    def window(self, parts: list[Token]) -> Length:
        return Length.of(unwrapped(parts))

    slide = window

    def where(self, parts: list[Condition]) -> _Where:
        return _Where(parts[0])

    # --- patterns ---------------------------------------------------------------------

    def pattern(self, parts: list[Any]) -> Pattern:
        return Pattern(tuple(parts[::2]), tuple(parts[1::2]))

    built = pattern

    def node(self, parts: list[Any]) -> Node:
        first, *rest = parts
        variable, labels, properties = _contents(rest)
        return Node(variable, labels, properties, location_of(first))

    def labels(self, parts: list[Token]) -> list[Name]:
        return [name_from(token) for token in parts]

    def properties(self, parts: list[Any]) -> tuple[tuple[Name, Literal], ...]:
        words = words_of(parts)
        return tuple(
            (name_from(key), value) for key, value in zip(words[::2], words[1::2], strict=True)
        )

    def edge(self, parts: list[Any]) -> Edge:
        first, *rest = parts
        variable, labels, properties = _contents(rest)
        names = labels[0] if labels else ()
        return Edge(variable, names, properties, Direction.RIGHT, location_of(first))

    def path(self, parts: list[Any]) -> Path:
        first, *rest = parts
        *variable, whole = words_of(rest)
        return Path(
            name_from(variable[0]) if variable else None,
            whole.expression,
            whole.names,
            Direction.RIGHT,
            location_of(first),
        )

    def stored(self, parts: list[Token]) -> StoredPath:
        return StoredPath(name_from(unwrapped(parts)), Direction.RIGHT, location_of(parts[0]))

    def rightward(self, parts: list[Any]) -> Link:
        return _linked(parts, Direction.RIGHT)

    def leftward(self, parts: list[Any]) -> Link:
        return _linked(parts, Direction.LEFT)

    def either_way(self, parts: list[Any]) -> Link:
        return _linked(parts, Direction.EITHER)

    # --- conditions -------------------------------------------------------------------

    def conjunction(self, parts: list[Condition]) -> Condition:
        return And(tuple(parts), _deeper(parts))

    def disjunction(self, parts: list[Condition]) -> Condition:
        return Or(tuple(parts), _deeper(parts))

    def negation(self, parts: list[Any]) -> Condition:
        sign, part = parts
        return Not(part, location_of(sign), _deeper([part]))

    def pattern_test(self, parts: list[Pattern]) -> Condition:
        return parts[0]

    def test(self, parts: list[Any]) -> Any:
        return unwrapped(parts)

    def sign(self, parts: list[Token]) -> Name:
        return Name(str(parts[0]), location_of(parts[0]))

    def comparison(self, parts: list[Any]) -> Condition:
        left, sign, right = parts
        if isinstance(left, Node) and isinstance(right, Node):
            return VertexComparison(left, sign, right)
        return Comparison(left, sign, right)

    def edge_comparison(self, parts: list[Name]) -> Condition:
        return EdgeComparison(*parts)

    def computed(self, parts: list[Any]) -> Value:
        left, sign, right = parts
        return _computed(str(sign), location_of(sign), (left, right))

    def negative(self, parts: list[Any]) -> Value:
        sign, part = parts
        return _computed("NEG", location_of(sign), (part,))

    def factor(self, parts: list[Any]) -> Any:
        return unwrapped(parts)

    def exists(self, parts: list[Any]) -> Condition:
        word, query = words_of(parts)
        return Exists(query, location_of(word))


def _with_condition(parts: list[Any]) -> tuple[list[Any], Condition | None]:
    """The parts before a WHERE, and its condition; a pattern is also a condition."""
    *most, last = parts
    return (most, last.condition) if isinstance(last, _Where) else (parts, None)


def _contents(parts: list[Any]) -> tuple[Name | None, tuple[tuple[Name, ...], ...], _Properties]:
    """The variable, the labels and the properties of a node or an edge."""
    variable = next((name_from(part) for part in parts if isinstance(part, Token)), None)
    labels = tuple(tuple(part) for part in parts if isinstance(part, list))
    properties = next((part for part in parts if isinstance(part, tuple)), ())
    return variable, labels, properties


def _linked(parts: list[Any], direction: Direction) -> Link:
    links: list[Link] = words_of(parts)
    if not links:
        return Edge(None, (), (), direction, location_of(parts[0]))
    return replace(links[0], direction=direction)


def _computed(function: str, at: Location, parts: tuple[Value, ...]) -> Computed:
    return Computed(function, parts, at, _depth(parts, at))


def _depth(parts: Sequence[Name | Value], at: Location) -> int:
    inside = (part.depth for part in parts if isinstance(part, Call | Computed))
    return nested(inside, at)


def _deeper(parts: list[Condition]) -> int:
    depth = 1 + max(map(depth_of, parts))
    if depth > DEEPEST:
        raise QueryError("E-SIZE", f"the condition is nested more than {DEEPEST} deep")
    return depth

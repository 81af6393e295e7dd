# ruff: noqa: D102 - a method is what the rule of its name says in cypher.lark
"""Builds the patterns of the syntax tree during parsing, also those in conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lark import Token

from ..parsing.tokens import location_of, repeats
from ..query.atoms import Location
from . import errors
from .leaves import Direction, HasLabels, Hops, Name, Parameter, Shortest
from .reading_expressions import EitherLabel, Expressions, Labels, Where, first_of, word_of
from .syntax import (
    And,
    Exists,
    Expression,
    MatchCount,
    Node,
    NullTest,
    Or,
    Part,
    Pattern,
    Relationship,
    depth_of,
)


@dataclass(frozen=True, slots=True)
class _Types:
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class _Properties:
    values: tuple[tuple[Name, Expression], ...]


@dataclass(frozen=True, slots=True)
class _Shortest:
    pattern: Pattern
    kind: Shortest


class Patterns(Expressions):
    """One method for each rule of patterns."""

    def part(self, parts: list[Any]) -> Part:
        *named, pattern = parts
        variable = word_of(named[0]) if named else None
        inside = pattern.pattern if isinstance(pattern, _Shortest) else pattern
        kind = pattern.kind if isinstance(pattern, _Shortest) else None
        at = inside.nodes[0].at if variable is None else variable.at
        return Part(variable, inside, kind, at)

    def shortest(self, parts: list[Any]) -> _Shortest:
        word, _, pattern = parts
        return _Shortest(pattern, Shortest.ONE if word.type == "SHORTEST" else Shortest.ALL)

    def pattern(self, parts: list[Any]) -> Pattern:
        return Pattern(tuple(parts[::2]), tuple(parts[1::2]))

    def node(self, parts: list[Any]) -> Node:
        bracket = next((p for p in parts if isinstance(p, Token) and p.type == "LPAR"), None)
        names = [p for p in parts if isinstance(p, Token) and p.type != "LPAR"]
        labels, where = first_of(parts, Labels), first_of(parts, Where)
        at = Location(1, 1)
        if bracket is not None:
            at = location_of(bracket)
        elif names:
            at = location_of(names[0])
        elif labels is not None:
            at = labels.names[0].at
        variable = word_of(names[0]) if names else None
        condition = None if where is None else where.condition
        if (either := first_of(parts, EitherLabel)) is not None:
            variable = variable or Name(f"({at.line}:{at.column})", at)
            condition = _also(_one_of(variable, either.names), condition)
        own = () if labels is None else labels.names
        return Node(variable, own, _values(parts), condition, at)

    def labels(self, parts: list[Token]) -> Labels:
        return Labels(tuple(map(word_of, parts)))

    def either_label(self, parts: list[Token]) -> EitherLabel:
        return EitherLabel(tuple(map(word_of, parts)))

    def types(self, parts: list[Token]) -> _Types:
        return _Types(tuple(map(word_of, parts)))

    def properties(self, parts: list[Any]) -> _Properties:
        if isinstance(parts[0], Parameter):
            raise errors.MAP_PARAMETER.error(parts[0].at, f"${parts[0].name.text}")
        _, *words = parts
        keys = map(word_of, words[::2])
        return _Properties(tuple(zip(keys, words[1::2], strict=True)))

    def rightward(self, parts: list[Any]) -> Relationship:
        return _relationship(parts, Direction.RIGHT)

    def leftward(self, parts: list[Any]) -> Relationship:
        return _relationship(parts, Direction.LEFT)

    def either_way(self, parts: list[Any]) -> Relationship:
        return _relationship(parts, Direction.EITHER)

    def hops(self, parts: list[Any]) -> Hops:
        star, *bounds = parts
        at = location_of(star)
        if not bounds:
            return Hops(1, None, at)
        (bound,) = bounds
        if isinstance(bound, Token):
            return Hops(repeats(bound), repeats(bound), at)
        return Hops(bound[0], bound[1], at)

    def at_least(self, parts: list[Token]) -> tuple[int, int | None]:
        return repeats(parts[0]), None

    def at_most(self, parts: list[Token]) -> tuple[int, int | None]:
        return 1, repeats(parts[0])

    def between(self, parts: list[Token]) -> tuple[int, int | None]:
        return repeats(parts[0]), repeats(parts[1])

    def pattern_test(self, parts: list[Any]) -> Expression:
        pattern = self.pattern(parts)
        at = next((n.at for n in pattern.nodes if n.variable), pattern.relationships[0].at)
        return Exists((Part(None, pattern, None, at),), None, False, at)

    def exists_part(self, parts: list[Any]) -> Expression:
        where = first_of(parts, Where)
        inside = tuple(part for part in parts if isinstance(part, Part))
        condition = None if where is None else where.condition
        return Exists(inside, condition, True, location_of(parts[0]))

    def match_count(self, parts: list[Any]) -> Expression:
        where = first_of(parts, Where)
        inside = tuple(part for part in parts if isinstance(part, Part))
        condition = None if where is None else where.condition
        return MatchCount(inside, condition, location_of(parts[0]))

    def exists_value(self, parts: list[Any]) -> Expression:
        value: Expression = parts[2]
        return value if isinstance(value, Exists) else NullTest(value, is_null=False)


def _one_of(name: Name, labels: Sequence[Name]) -> Expression:
    """The condition that a node has one of some labels."""
    return Or(tuple(HasLabels(name, (label,)) for label in labels), 1)


def _also(one: Expression, other: Expression | None) -> Expression:
    return one if other is None else And((one, other), 1 + max(depth_of(one), depth_of(other)))


def _values(parts: Sequence[Any]) -> tuple[tuple[Name, Expression], ...]:
    properties = first_of(parts, _Properties)
    return () if properties is None else properties.values


def _relationship(parts: list[Any], direction: Direction) -> Relationship:
    first, *rest = parts
    names = [p for p in rest if isinstance(p, Token) and p.type in ("NAME", "QUOTED")]
    types, where = first_of(rest, _Types), first_of(rest, Where)
    return Relationship(
        word_of(names[0]) if names else None,
        () if types is None else types.names,
        first_of(rest, Hops),
        _values(rest),
        None if where is None else where.condition,
        direction,
        location_of(first),
    )

# ruff: noqa: D102 - a method is what the rule of its name says in cypher.lark
"""Builds the clauses of the syntax tree during parsing.

The parser calls a method for each grammar rule that it completes, so there is no tree of tokens and
no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from ..parsing.emit import EmitText
from ..parsing.tokens import location_of, string
from ..parsing.windows import Length
from ..query.atoms import Location
from .clauses import From, Item, Match, Projection, Query, Single, Sorted, Unwind, With
from .constructed import projections
from .expression_text import expression_text
from .leaves import Name
from .reading_expressions import Where, first_of, word_of
from .reading_patterns import Patterns
from .syntax import Expression, Part


@dataclass(frozen=True, slots=True)
class _Within:
    window: Length


@dataclass(frozen=True, slots=True)
class _Start:
    start: Name


@dataclass(frozen=True, slots=True)
class _Into:
    target: Name


@dataclass(frozen=True, slots=True)
class _Union:
    at: Location | None


@dataclass(frozen=True, slots=True)
class _Order:
    keys: tuple[Sorted, ...]


@dataclass(frozen=True, slots=True)
class _Skip:
    rows: Expression


@dataclass(frozen=True, slots=True)
class _Limit:
    rows: Expression


class Reader(Patterns):
    """One method for each rule of the grammar."""

    def start(self, parts: list[Query]) -> Query:
        return parts[0]

    def registered(self, parts: list[Any]) -> Query:
        _, name, *rest = parts
        query = first_of(rest, Query)
        assert query is not None
        start, into = first_of(rest, _Start), first_of(rest, _Into)
        return replace(
            query,
            name=_source(name).text,
            source=first_of(rest, From),
            start=None if start is None else start.start,
            into=None if into is None else into.target,
        )

    def starting_at(self, parts: list[Token]) -> _Start:
        return _Start(_source(parts[0]))

    starting_from = starting_at

    def source(self, parts: list[Token]) -> Name:
        return _source(parts[0])

    def into(self, parts: list[Any]) -> _Into:
        return _Into(parts[1])

    def from_stream(self, parts: list[Any]) -> From:
        stream, *rest = parts
        start = first_of(rest, _Start)
        range_ = first_of(rest, Token)
        return From(
            stream,
            None if start is None else start.start,
            None if range_ is None else Length.of(range_),
        )

    def query(self, parts: list[Any]) -> Query:
        singles = tuple(single for part in parts if isinstance(part, tuple) for single in part)
        unions = tuple(p.at for p in parts if isinstance(p, _Union) and p.at is not None)
        return Query(singles, unions, first_of(parts, EmitText))

    def union(self, parts: list[Token]) -> _Union:
        return _Union(location_of(parts[0]) if len(parts) > 1 else None)

    def emit(self, parts: list[Token]) -> EmitText:
        return EmitText.of(parts)

    def single(self, parts: list[Any]) -> tuple[Single, ...]:
        *clauses, result = parts
        if isinstance(result, Projection):
            return (Single(tuple(clauses), result),)
        return tuple(Single(tuple(clauses), ends, created) for created, ends in result)

    def construct(self, parts: list[Any]) -> tuple[tuple[Name, Projection], ...]:
        word, *patterns = (part for part in parts if not _is_return(part))
        return tuple(projections(patterns, location_of(word)))

    def return_clause(self, parts: list[Any]) -> Projection:
        word, projection = parts
        assert isinstance(projection, Projection)
        return replace(projection, at=location_of(word))

    def with_clause(self, parts: list[Any]) -> With:
        word, projection, *where = parts
        placed = replace(projection, at=location_of(word))
        return With(placed, where[0].condition if where else None)

    def unwind(self, parts: list[Any]) -> Unwind:
        word, members, name = parts
        return Unwind(members, word_of(name), location_of(word))

    def projection(self, parts: list[Any]) -> Projection:
        tokens = [part for part in parts if isinstance(part, Token)]
        order, skip, limit = (
            first_of(parts, _Order),
            first_of(parts, _Skip),
            first_of(parts, _Limit),
        )
        return Projection(
            tuple(part for part in parts if isinstance(part, Item)),
            any(token.type == "DISTINCT" for token in tokens),
            () if order is None else order.keys,
            None if skip is None else skip.rows,
            None if limit is None else limit.rows,
            Location(1, 1),
            any(token.type == "STAR" for token in tokens),
        )

    def item(self, parts: list[Any]) -> Item:
        value, *alias = parts
        return Item(value, word_of(alias[0]) if alias else None, expression_text(value))

    def order(self, parts: list[Sorted]) -> _Order:
        return _Order(tuple(parts))

    def sort_key(self, parts: list[Any]) -> Sorted:
        value, *direction = parts
        return Sorted(value, bool(direction) and direction[0].type == "DESC")

    def skip(self, parts: list[Any]) -> _Skip:
        return _Skip(parts[1])

    def limit(self, parts: list[Any]) -> _Limit:
        return _Limit(parts[1])

    def match(self, parts: list[Any]) -> Match:
        words = [part for part in parts if isinstance(part, Token)]
        where, within = first_of(parts, Where), first_of(parts, _Within)
        return Match(
            tuple(part for part in parts if isinstance(part, Part)),
            words[0].type == "OPTIONAL",
            None if within is None else within.window,
            None if where is None else where.condition,
            location_of(words[0]),
        )

    def within(self, parts: list[Token]) -> _Within:
        return _Within(Length.of(parts[0]))


def _is_return(part: Any) -> bool:
    return isinstance(part, Token) and part.type == "RETURN"


def _source(token: Token) -> Name:
    """A name, a string, or the last part of an address: ``kafka://topic`` names ``topic``."""
    at = location_of(token)
    if token.type == "STRING":
        return Name(string(token), at)
    if token.type == "IRI":
        return Name(token.rstrip("/").rpartition("/")[2], at)
    return word_of(token)

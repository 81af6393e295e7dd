# ruff: noqa: D102 - a method is what the rule of its name says in cypher.lark
"""Builds the syntax tree of a text during parsing.

The parser calls a method for each grammar rule that it completes, so there is no tree of tokens and
no recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lark import Token, Transformer

from ..parsing.emit import EmitText
from ..parsing.tokens import location_of, name_of, nested, number, repeats, string
from ..parsing.windows import Length
from ..query.atoms import Location
from ..query.errors import QueryError
from . import errors
from .constructed import projections
from .expression_text import expression_text
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Comparison,
    Computed,
    Direction,
    Exists,
    Expression,
    From,
    HasLabels,
    Hops,
    InList,
    Item,
    ListOf,
    Literal,
    MapOf,
    Match,
    Name,
    Node,
    Not,
    NullTest,
    Or,
    Parameter,
    Part,
    Pattern,
    Projection,
    Property,
    Query,
    Relationship,
    Shortest,
    Single,
    Sorted,
    TextComparison,
    TextTest,
    Unwind,
    Variable,
    With,
    depth_of,
    nesting_of,
)

DEEPEST = 50
"""The deepest nesting of conditions."""


@dataclass(frozen=True, slots=True)
class _Where:
    condition: Expression


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


@dataclass(frozen=True, slots=True)
class _Labels:
    names: tuple[Name, ...]


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


class Reader(Transformer[Token, Query]):
    """One method for each rule of the grammar."""

    # --- queries ----------------------------------------------------------------------

    def start(self, parts: list[Query]) -> Query:
        return parts[0]

    def registered(self, parts: list[Any]) -> Query:
        _, name, *rest = parts
        query = _one(rest, Query)
        assert query is not None
        start, into = _one(rest, _Start), _one(rest, _Into)
        return replace(
            query,
            name=_source(name).text,
            source=_one(rest, From),
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
        start = _one(rest, _Start)
        range_ = _one(rest, Token)
        return From(
            stream,
            None if start is None else start.start,
            None if range_ is None else Length.of(range_),
        )

    def query(self, parts: list[Any]) -> Query:
        singles = tuple(single for part in parts if isinstance(part, tuple) for single in part)
        unions = tuple(p.at for p in parts if isinstance(p, _Union) and p.at is not None)
        return Query(singles, unions, _one(parts, EmitText))

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
        return Unwind(members, _name(name), location_of(word))

    def projection(self, parts: list[Any]) -> Projection:
        tokens = [part for part in parts if isinstance(part, Token)]
        order, skip, limit = _one(parts, _Order), _one(parts, _Skip), _one(parts, _Limit)
        return Projection(
            tuple(part for part in parts if isinstance(part, Item)),
            any(token.type == "DISTINCT" for token in tokens),
            () if order is None else order.keys,
            None if skip is None else skip.rows,
            None if limit is None else limit.rows,
            Location(1, 1),
        )

    def item(self, parts: list[Any]) -> Item:
        value, *alias = parts
        return Item(value, _name(alias[0]) if alias else None, expression_text(value))

    def order(self, parts: list[Sorted]) -> _Order:
        return _Order(tuple(parts))

    def sort_key(self, parts: list[Any]) -> Sorted:
        value, *direction = parts
        return Sorted(value, bool(direction) and direction[0].type == "DESC")

    def skip(self, parts: list[Any]) -> _Skip:
        return _Skip(parts[1])

    def limit(self, parts: list[Any]) -> _Limit:
        return _Limit(parts[1])

    # --- matching ---------------------------------------------------------------------

    def match(self, parts: list[Any]) -> Match:
        words = [part for part in parts if isinstance(part, Token)]
        where, within = _one(parts, _Where), _one(parts, _Within)
        return Match(
            tuple(part for part in parts if isinstance(part, Part)),
            words[0].type == "OPTIONAL",
            None if within is None else within.window,
            None if where is None else where.condition,
            location_of(words[0]),
        )

    def within(self, parts: list[Token]) -> _Within:
        return _Within(Length.of(parts[0]))

    def where(self, parts: list[Expression]) -> _Where:
        return _Where(parts[0])

    def part(self, parts: list[Any]) -> Part:
        *named, pattern = parts
        variable = _name(named[0]) if named else None
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
        labels, where = _one(parts, _Labels), _one(parts, _Where)
        at = Location(1, 1)
        if bracket is not None:
            at = location_of(bracket)
        elif names:
            at = location_of(names[0])
        elif labels is not None:
            at = labels.names[0].at
        return Node(
            _name(names[0]) if names else None,
            () if labels is None else labels.names,
            _values(parts),
            None if where is None else where.condition,
            at,
        )

    def labels(self, parts: list[Token]) -> _Labels:
        return _Labels(tuple(map(_name, parts)))

    def types(self, parts: list[Token]) -> _Types:
        return _Types(tuple(map(_name, parts)))

    def properties(self, parts: list[Any]) -> _Properties:
        if isinstance(parts[0], Parameter):
            raise errors.MAP_PARAMETER.error(parts[0].at, f"${parts[0].name.text}")
        _, *words = parts
        keys = map(_name, words[::2])
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

    # --- expressions ------------------------------------------------------------------

    def either(self, parts: list[Expression]) -> Expression:
        return Or(tuple(parts), _deeper(parts))

    def either_alone(self, parts: list[Any]) -> Expression:
        one, word, other = parts
        depth = _deeper([Not(one, one.at, _deeper([one])), other]) + 1
        at = location_of(word)
        not_both = Not(And((one, other), depth), at, depth)
        return And((Or((one, other), depth), not_both), depth)

    def both(self, parts: list[Expression]) -> Expression:
        return And(tuple(parts), _deeper(parts))

    def negated(self, parts: list[Any]) -> Expression:
        word, part = parts
        return Not(part, location_of(word), _deeper([part]))

    def compared(self, parts: list[Any]) -> Expression:
        values = tuple(parts[::2])
        return Comparison(values, tuple(parts[1::2]), _nested(values))

    def sign(self, parts: list[Token]) -> Name:
        return Name(str(parts[0]), location_of(parts[0]))

    def in_list(self, parts: list[Any]) -> Expression:
        value, _, members = parts
        return InList(value, members, _nested((value, members)))

    def text_test(self, parts: list[Any]) -> Expression:
        value, word, part = parts
        test = TextTest(" ".join(word.upper().split()))
        return TextComparison(value, test, part, location_of(word), _nested((value, part)))

    def null_test(self, parts: list[Any]) -> Expression:
        value, *words = parts
        is_null = all(word.type != "NOT" for word in words)
        return NullTest(value, is_null, _nested((value,)))

    def computed(self, parts: list[Any]) -> Expression:
        left, sign, right = parts
        return _computed(str(sign), location_of(sign), (left, right))

    def negative(self, parts: list[Any]) -> Expression:
        sign, part = parts
        if isinstance(part, Literal) and type(part.value) in (int, float):
            assert isinstance(part.value, int | float)
            return Literal(-part.value, location_of(sign))
        return _computed("NEG", location_of(sign), (part,))

    def positive(self, parts: list[Any]) -> Expression:
        value: Expression = parts[1]
        return value

    def grouped(self, parts: list[Any]) -> Expression:
        value: Expression = parts[1]
        return value

    def variable(self, parts: list[Token]) -> Expression:
        return Variable(_name(parts[0]))

    def property(self, parts: list[Token]) -> Expression:
        owner, key, *more = map(_name, parts)
        return Property(owner, key, tuple(more))

    def has_labels(self, parts: list[Any]) -> Expression:
        name, labels = parts
        return HasLabels(_name(name), labels.names)

    def literal(self, parts: list[Token]) -> Expression:
        (token,) = parts
        at = location_of(token)
        match token.type:
            case "STRING":
                return Literal(string(token), at)
            case "TRUTH":
                return Literal(token.lower() == "true", at)
            case "NULL":
                return Literal(None, at)
            case _:
                return Literal(number(token), at)

    def parameter(self, parts: list[Token]) -> Parameter:
        (token,) = parts
        return Parameter(Name(token[1:].strip("`"), location_of(token)))

    def list_of(self, parts: list[Any]) -> Expression:
        bracket, *items = parts
        return ListOf(tuple(items), location_of(bracket), _nested(items))

    def map_of(self, parts: list[Any]) -> Expression:
        bracket, *words = parts
        values = tuple(zip(map(_name, words[::2]), words[1::2], strict=True))
        return MapOf(values, location_of(bracket), _nested(words[1::2]))

    def call(self, parts: list[Any]) -> Expression:
        function, _, *rest = parts
        return _call(_name(function), rest)

    def qualified_call(self, parts: list[Any]) -> Expression:
        bracket = next(k for k, p in enumerate(parts) if isinstance(p, Token) and p.type == "LPAR")
        names = list(map(_name, parts[:bracket]))
        function = Name(".".join(name.text for name in names), names[0].at)
        return _call(function, parts[bracket + 1 :])

    def access(self, parts: list[Any]) -> Expression:
        of, key = parts
        return Access(of, _name(key), _nested((of,)))

    def when(self, parts: list[Any]) -> _When:
        return _When(parts[0], parts[1])

    def otherwise(self, parts: list[Any]) -> _Otherwise:
        return _Otherwise(parts[0])

    def case_of(self, parts: list[Any]) -> Expression:
        word, *rest = parts
        branches = tuple((p.test, p.value) for p in rest if isinstance(p, _When))
        otherwise = _one(rest, _Otherwise)
        last = None if otherwise is None else otherwise.value
        subject = None if isinstance(rest[0], _When) else rest[0]
        inside = [part for branch in branches for part in branch]
        inside += [part for part in (subject, last) if part is not None]
        return Case(subject, branches, last, location_of(word), _nested(inside))

    def pattern_test(self, parts: list[Any]) -> Expression:
        pattern = self.pattern(parts)
        at = next((n.at for n in pattern.nodes if n.variable), pattern.relationships[0].at)
        return Exists((Part(None, pattern, None, at),), None, False, at)

    def exists_part(self, parts: list[Any]) -> Expression:
        where = _one(parts, _Where)
        inside = tuple(part for part in parts if isinstance(part, Part))
        condition = None if where is None else where.condition
        return Exists(inside, condition, True, location_of(parts[0]))

    def exists_value(self, parts: list[Any]) -> Expression:
        value: Expression = parts[2]
        return value if isinstance(value, Exists) else NullTest(value, is_null=False)


@dataclass(frozen=True, slots=True)
class _When:
    test: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class _Otherwise:
    value: Expression


Found = TypeVar("Found")


def _one(parts: Sequence[Any], kind: type[Found]) -> Found | None:
    """The first part of a kind, if there is one."""
    return next((part for part in parts if isinstance(part, kind)), None)


def _name(token: Token) -> Name:
    return Name(name_of(token), location_of(token))


def _is_return(part: Any) -> bool:
    return isinstance(part, Token) and part.type == "RETURN"


def _source(token: Token) -> Name:
    """A name, a string, or the last part of an address: ``kafka://topic`` names ``topic``."""
    at = location_of(token)
    if token.type == "STRING":
        return Name(string(token), at)
    if token.type == "IRI":
        return Name(token.rstrip("/").rpartition("/")[2], at)
    return _name(token)


def _values(parts: Sequence[Any]) -> tuple[tuple[Name, Expression], ...]:
    properties = _one(parts, _Properties)
    return () if properties is None else properties.values


def _relationship(parts: list[Any], direction: Direction) -> Relationship:
    first, *rest = parts
    names = [p for p in rest if isinstance(p, Token) and p.type in ("NAME", "QUOTED")]
    types, where = _one(rest, _Types), _one(rest, _Where)
    return Relationship(
        _name(names[0]) if names else None,
        () if types is None else types.names,
        _one(rest, Hops),
        _values(rest),
        None if where is None else where.condition,
        direction,
        location_of(first),
    )


def _computed(function: str, at: Location, parts: tuple[Expression, ...]) -> Computed:
    return Computed(function, parts, at, _nested(parts, at))


def _call(function: Name, parts: Sequence[Any]) -> Call:
    words = [part.type for part in parts if isinstance(part, Token)]
    arguments = tuple(part for part in parts if not isinstance(part, Token))
    depth = _nested(arguments, function.at)
    return Call(function, arguments, "DISTINCT" in words, "STAR" in words, depth)


def _nested(parts: Sequence[Expression], at: Location | None = None) -> int:
    """The nesting of an expression with these parts."""
    place = at or (parts[0].at if parts else Location(1, 1))
    return nested(map(nesting_of, parts), place)


def _deeper(parts: Sequence[Expression]) -> int:
    depth = 1 + max(map(depth_of, parts))
    if depth > DEEPEST:
        raise QueryError("E-SIZE", f"the condition is nested more than {DEEPEST} deep")
    return depth

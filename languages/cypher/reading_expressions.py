# ruff: noqa: D102 - a method is what the rule of its name says in cypher.lark
"""Builds the expressions of the syntax tree during parsing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lark import Token, Transformer

from ...algebra.functions import LARGEST_INTEGER
from ..parsing.tokens import location_of, name_of, nested, number, string
from ..query.atoms import Location
from ..query.errors import QueryError
from . import errors
from .leaves import HasLabels, Literal, Name, Parameter, Property, Quantifier, TextTest, Variable
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Comparison,
    Comprehension,
    Computed,
    Exists,
    Expression,
    Indexed,
    InList,
    ListOf,
    MapOf,
    MatchCount,
    MatchList,
    Not,
    NullTest,
    Or,
    Quantified,
    Reduced,
    Sliced,
    TextComparison,
    depth_of,
    nesting_of,
)

DEEPEST = 50
"""The deepest nesting of conditions."""
Found = TypeVar("Found")


def first_of(parts: Sequence[Any], kind: type[Found]) -> Found | None:
    """The first part of a kind, if there is one."""
    return next((part for part in parts if isinstance(part, kind)), None)


def word_of(token: Token) -> Name:
    """A name and its place."""
    return Name(name_of(token), location_of(token))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a node."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class EitherLabel:
    """The labels of a node that has one of them at least."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """A condition after WHERE."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class _Mapped:
    value: Expression


@dataclass(frozen=True, slots=True)
class _Start:
    value: Expression


@dataclass(frozen=True, slots=True)
class _End:
    value: Expression


@dataclass(frozen=True, slots=True)
class _When:
    test: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class _Otherwise:
    value: Expression


@dataclass(frozen=True, slots=True)
class _Chosen:
    """``.key``, ``key: value`` or ``variable`` of a map projection."""

    key: Name
    value: Expression | None
    is_property: bool = False

    def value_of(self, owner: Name) -> Expression:
        """The value of the key."""
        if self.is_property:
            return Property(replace(owner, at=self.key.at), self.key)
        return Variable(self.key) if self.value is None else self.value


class Expressions(Transformer[Token, Any]):
    """One method for each rule of expressions."""

    def where(self, parts: list[Expression]) -> Where:
        return Where(parts[0])

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
        match value, members:
            case Literal(str(label)), Call(function, (Variable(name),)) if _is_labels(function):
                return HasLabels(name, (Name(label, value.at),))
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
        return Variable(word_of(parts[0]))

    def property(self, parts: list[Token]) -> Expression:
        owner, key, *more = map(word_of, parts)
        return Property(owner, key, tuple(more))

    def has_labels(self, parts: list[Any]) -> Expression:
        name, labels = parts
        return HasLabels(word_of(name), labels.names)

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
            case _ if token[1:2] in ("x", "X", "o", "O"):
                return Literal(_in_other_digits(token), at)
            case _:
                return Literal(number(token), at)

    def parameter(self, parts: list[Token]) -> Parameter:
        (token,) = parts
        return Parameter(Name(token[1:].strip("`"), location_of(token)))

    def list_of(self, parts: list[Any]) -> Expression:
        bracket, *items = parts
        return ListOf(tuple(items), location_of(bracket), _nested(items))

    def mapped(self, parts: list[Expression]) -> _Mapped:
        return _Mapped(parts[0])

    def comprehension(self, parts: list[Any]) -> Expression:
        bracket, values, *rest = parts
        at = location_of(bracket)
        where, mapped = first_of(rest, Where), first_of(rest, _Mapped)
        condition = None if where is None else where.condition
        value = None if mapped is None else mapped.value
        match values:
            case InList(Variable(variable), members):
                inside = [part for part in (members, condition, value) if part is not None]
                depth = _nested(inside, at)
                return Comprehension(variable, members, condition, value, at, depth)
            case Exists(parts=patterns, is_block=False) if value is not None:
                return MatchList(patterns, condition, value, at, _nested((value,), at))
            case Comparison((Variable(), Exists(is_block=False))):
                raise errors.MATCH_LIST.error(at, "[")
        raise (errors.FILTERED if value is None else errors.MAPPED).error(at, "[")

    def indexed(self, parts: list[Any]) -> Expression:
        members, _, place = parts
        return Indexed(members, place, members.at, _nested((members, place)))

    def slice_start(self, parts: list[Expression]) -> _Start:
        return _Start(parts[0])

    def slice_end(self, parts: list[Expression]) -> _End:
        return _End(parts[0])

    def sliced(self, parts: list[Any]) -> Expression:
        members, _, *bounds = parts
        start, end = first_of(bounds, _Start), first_of(bounds, _End)
        inside = [members, *(bound.value for bound in bounds)]
        return Sliced(
            members,
            None if start is None else start.value,
            None if end is None else end.value,
            members.at,
            _nested(inside),
        )

    def reduced(self, parts: list[Any]) -> Expression:
        word, _, result, _, initial, variable, _, members, mapped = parts
        at, value = location_of(word), mapped.value
        depth = _nested((initial, members, value), at)
        return Reduced(word_of(result), initial, word_of(variable), members, value, at, depth)

    def map_of(self, parts: list[Any]) -> Expression:
        bracket, *words = parts
        values = tuple(zip(map(word_of, words[::2]), words[1::2], strict=True))
        return MapOf(values, location_of(bracket), _nested(words[1::2]))

    def chosen_property(self, parts: list[Token]) -> _Chosen:
        return _Chosen(word_of(parts[0]), None, is_property=True)

    def chosen_value(self, parts: list[Any]) -> _Chosen:
        return _Chosen(word_of(parts[0]), parts[1] if len(parts) > 1 else None)

    def map_projection(self, parts: list[Any]) -> Expression:
        owner, _, *chosen = parts
        of = word_of(owner)
        values = tuple((one.key, one.value_of(of)) for one in chosen)
        return MapOf(values, of.at, _nested([value for _, value in values], of.at), Variable(of))

    def call(self, parts: list[Any]) -> Expression:
        function, _, *rest = parts
        return _call(word_of(function), rest)

    def qualified_call(self, parts: list[Any]) -> Expression:
        bracket = next(k for k, p in enumerate(parts) if isinstance(p, Token) and p.type == "LPAR")
        names = list(map(word_of, parts[:bracket]))
        function = Name(".".join(name.text for name in names), names[0].at)
        return _call(function, parts[bracket + 1 :])

    def access(self, parts: list[Any]) -> Expression:
        of, key = parts
        return Access(of, word_of(key), _nested((of,)))

    def quantified(self, parts: list[Any]) -> Expression:
        word, _, variable, _, members, condition = parts
        at = location_of(word)
        depth = _nested((members, condition), at)
        quantifier = Quantifier(word.lower())
        return Quantified(quantifier, word_of(variable), members, condition, at, depth)

    def when(self, parts: list[Any]) -> _When:
        return _When(parts[0], parts[1])

    def otherwise(self, parts: list[Any]) -> _Otherwise:
        return _Otherwise(parts[0])

    def case_of(self, parts: list[Any]) -> Expression:
        word, *rest = parts
        branches = tuple((p.test, p.value) for p in rest if isinstance(p, _When))
        otherwise = first_of(rest, _Otherwise)
        last = None if otherwise is None else otherwise.value
        subject = None if isinstance(rest[0], _When) else rest[0]
        inside = [part for branch in branches for part in branch]
        inside += [part for part in (subject, last) if part is not None]
        return Case(subject, branches, last, location_of(word), _nested(inside))


def _computed(function: str, at: Location, parts: tuple[Expression, ...]) -> Computed:
    return Computed(function, parts, at, _nested(parts, at))


def _is_labels(function: Name) -> bool:
    return function.text.lower() == "labels"


def _in_other_digits(token: Token) -> int:
    """A number in hexadecimal digits behind 0x, or octal ones behind 0o.

    Raises:
        QueryError: E-SYNTAX if the number does not fit into 64 bits.
    """
    whole = int(token, 0)
    if whole > LARGEST_INTEGER:
        raise errors.NUMBER_RANGE.error(location_of(token), str(token)[:60])
    return whole


def _call(function: Name, parts: Sequence[Any]) -> Expression:
    words = [part.type for part in parts if isinstance(part, Token)]
    arguments = tuple(part for part in parts if not isinstance(part, Token))
    depth = _nested(arguments, function.at)
    match function.text.lower(), arguments:
        case "size", (MatchList(patterns, condition),):
            return MatchCount(patterns, condition, function.at)
        case "size", (Exists(patterns, None, False),):
            return MatchCount(patterns, None, function.at)
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

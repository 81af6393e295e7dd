"""Parses the conditions of RQ, and the columns of a head."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from lark import Token, Transformer

from ...algebra.functions import FUNCTIONS
from ...algebra.scalar import Literal
from ..parsing.tokens import SIGNS, location_of, name_of, nested, number, string, whole_number
from ..query.answers import Column, aggregate
from ..query.atoms import Location, Variable
from ..query.errors import QueryError
from ..query.regular_query import Aggregated, Comparison, Computed, Property, Value

_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed value, its place, and the depth of its arithmetic; ``text`` is a single word."""

    value: Value
    at: Location
    depth: int = 0
    text: str = ""


class Conditions(Transformer[Token, Any]):
    """One method for each grammar rule of conditions."""

    def comparison(self, parts: list[Any]) -> Comparison:
        """``value < value``."""
        left, sign, right = (_no_aggregate(part) for part in parts)
        return Comparison(left.value, SIGNS[str(sign)], right.value, left.at)

    def sum(self, parts: list[Any]) -> Read:
        """``value + value``, or ``-``."""
        left, sign, right = parts
        return _computed("+" if sign == "+" else "-", _no_aggregate(left).at, (left, right))

    def product(self, parts: list[Any]) -> Read:
        """``value * value``, or ``/``."""
        left, sign, right = parts
        return _computed(str(sign), _no_aggregate(left).at, (left, right))

    def negative(self, parts: list[Any]) -> Read:
        """``-value``."""
        sign, part = parts
        return _computed("NEG", location_of(sign), (part,))

    def absolute(self, parts: list[Read]) -> Read:
        """``abs(value)``."""
        return _computed("ABS", _no_aggregate(parts[0]).at, (parts[0],))

    def call(self, parts: list[Any]) -> Read:
        """``TEXT_SIZE(value)``, and the other functions of the algebra."""
        name, *arguments = parts
        known, at = FUNCTIONS[str(name)], location_of(name)
        if not known.least <= len(arguments) <= known.most:
            raise QueryError(
                "E-FUNC",
                f"it takes {known.least} arguments"
                if known.least == known.most
                else f"it takes {known.least} to {known.most} arguments",
                at=at,
                text=str(name),
            )
        return _computed(str(name), at, tuple(arguments))

    def value(self, parts: list[Token]) -> Read:
        """A variable, a property or a literal."""
        (token,) = parts
        return Read(_value(token), location_of(token), text=str(token))

    def aggregate(self, parts: list[Any]) -> Aggregated:
        """``count(*)``, ``count(distinct x)``, ``sum(value)``."""
        function, *rest = parts
        distinct = isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        argument = rest[-1]
        value = None if isinstance(argument, Token) else _no_aggregate(argument).value
        return aggregate(str(function), value, location_of(function), distinct=distinct)

    def of_two(self, parts: list[Any]) -> Aggregated:
        """``latest(value)``, ``latest(value, time)``, ``percentile_cont(value, 0.5)``."""
        function, *rest = parts
        distinct = isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        value, *second = rest[distinct:]
        return aggregate(
            str(function),
            _no_aggregate(value).value,
            location_of(function),
            distinct=distinct,
            second=_no_aggregate(second[0]).value if second else None,
        )

    def output(self, parts: list[Any]) -> Column:
        """A column of a head: a value, with or without a name."""
        of, *name = parts
        named = name_of(name[0]) if name else None
        if isinstance(of, Aggregated):
            assert of.location is not None
            return Column(of, named, of.location)
        value = of.value
        if isinstance(value, Literal) and named is None and of.text.lower() in _TRUTHS:
            value = Variable(of.text)  # a variable may be called so
        return Column(value, named, of.at, of.text)


def _no_aggregate(part: Any) -> Any:
    """Returns the part; refuses an aggregate inside a comparison or arithmetic."""
    if isinstance(part, Aggregated):
        raise QueryError(
            "E-AGG",
            "an aggregate is a column of a head by itself",
            at=part.location,
            text=part.function.removesuffix("_distinct"),
            hint="give it to a head, as Busy(x, count(*) as n), and use n in a rule that reads "
            "Busy(x, n)",
        )
    return part


def _computed(function: str, at: Location, parts: tuple[Read, ...]) -> Read:
    depth = nested((_no_aggregate(part).depth for part in parts), at)
    return Read(Computed(function, tuple(part.value for part in parts)), at, depth)


def _value(token: Token) -> Value:
    match token.type:
        case "STRING":
            return Literal(string(token))
        case "NUMBER":
            if not set(token) & set(".eE"):
                whole_number(token)  # refuses leading zeros
            return Literal(number(token))
        case "PROPERTY":
            return _property(token)
        case "VALUE_OF_PATH":
            value, path, _ = re.split(r"\s*[()]\s*", token)
            return Property(path.removeprefix("?"), value.lower(), location_of(token))
        case _ if token.lower() in _TRUTHS:
            return Literal(_TRUTHS[token.lower()])
        case _:
            return Variable(token.removeprefix("?"))


def _property(token: Token) -> Property:
    edge, _, name = token.removeprefix("?").partition(".")
    plain = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return Property(edge, plain, location_of(token))

"""Conditions of RQ, and the properties in a head, while the parser reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from lark import Token, Transformer

from algebra.scalar import DEEPEST_VALUE, Literal
from languages.errors import QueryError
from languages.regular_query import Comparison, Computed, Location, Property, Sign, Value, Variable
from languages.rq_tokens import location_of, name_of, string, whole_number

SIGNS: Final[dict[str, Sign]] = {
    "==": "=",
    "=": "=",
    "!=": "<>",
    "≠": "<>",
    "<>": "<>",
    "<": "<",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    ">=": ">=",
    "≥": ">=",
}
"""The ways to write each sign."""
_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Read:
    """A value, where it begins, and how deep its arithmetic nests."""

    value: Value
    at: Location
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Output:
    """A property in a head, and the name that it was given."""

    property: Property
    name: str | None


class Conditions(Transformer[Token, Any]):
    """One method for each rule of the grammar that conditions are made of."""

    def comparison(self, parts: list[Any]) -> Comparison:
        """``value < value``."""
        left, sign, right = parts
        return Comparison(left.value, SIGNS[str(sign)], right.value, left.at)

    def sum(self, parts: list[Any]) -> Read:
        """``value + value``, or ``-``."""
        left, sign, right = parts
        return _computed("+" if sign == "+" else "-", left.at, (left, right))

    def product(self, parts: list[Any]) -> Read:
        """``value * value``, or ``/``."""
        left, sign, right = parts
        return _computed(str(sign), left.at, (left, right))

    def negative(self, parts: list[Any]) -> Read:
        """``-value``."""
        sign, part = parts
        return _computed("NEG", location_of(sign), (part,))

    def absolute(self, parts: list[Read]) -> Read:
        """``abs(value)``."""
        return _computed("ABS", parts[0].at, (parts[0],))

    def value(self, parts: list[Token]) -> Read:
        """A variable, a property or a literal."""
        (token,) = parts
        return Read(_value(token), location_of(token))

    def output(self, parts: list[Token]) -> Output:
        """``e.amount as much``, in a head."""
        token, *name = parts
        return Output(_property(token), name_of(name[0]) if name else None)


def named_outputs(
    columns: Iterable[str | Output], taken: Iterable[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, Property], ...]]:
    """The names of a head's columns, and which of them stand for properties.

    A property without a name of its own is called as in the catalog, after its edge if that is
    taken: ``amount``, ``e_amount``, ``e_amount_2``.
    """
    columns = list(columns)
    used = {c for c in columns if isinstance(c, str)} | set(taken)
    used |= {c.name for c in columns if isinstance(c, Output) and c.name is not None}
    names: list[str] = []
    properties: dict[str, Property] = {}
    for column in columns:
        if isinstance(column, str):
            names.append(column)
            continue
        name = column.name
        if name is None:
            of = column.property
            name, number = of.name, 1
            while name in used:
                name = f"{of.edge}_{of.name}" + (f"_{number}" if number > 1 else "")
                number += 1
            used.add(name)
        elif properties.get(name, column.property) != column.property:
            raise QueryError(
                "E-EDB",
                "two columns of the head have this name",
                at=column.property.location,
                text=name,
                hint="choose another name after `as`",
            )
        names.append(name)
        properties[name] = column.property
    return tuple(names), tuple(properties.items())


def _computed(function: str, at: Location, parts: tuple[Read, ...]) -> Read:
    depth = 1 + max(part.depth for part in parts)
    if depth > DEEPEST_VALUE:
        raise QueryError(
            "E-SIZE",
            f"arithmetic is nested more than {DEEPEST_VALUE} deep",
            at=at,
            hint="say less in one comparison",
        )
    return Read(Computed(function, tuple(part.value for part in parts)), at, depth)


def _value(token: Token) -> Value:
    match token.type:
        case "STRING":
            return Literal(string(token))
        case "NUMBER" if set(token) & set(".eE"):
            number = float(token)
            if math.isfinite(number):
                return Literal(number)
        case "NUMBER":
            whole = whole_number(token)
            if -(2**63) <= whole < 2**63:
                return Literal(whole)
        case "PROPERTY":
            return _property(token)
        case _ if token.lower() in _TRUTHS:
            return Literal(_TRUTHS[token.lower()])
        case _:
            return Variable(token.removeprefix("?"))
    raise QueryError(
        "E-SYNTAX",
        "the number is beyond what 64 bits hold",
        at=location_of(token),
        text=str(token),
    )


def _property(token: Token) -> Property:
    edge, _, name = token.removeprefix("?").partition(".")
    plain = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return Property(edge, plain, location_of(token))

"""Translates conditions and values of a rule to predicates and scalars over columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...algebra import scalar
from ...algebra.predicate import Predicate
from ...algebra.predicate_syntax import PredicateError
from ...algebra.scalar import Column, Literal
from ..query.atoms import Location, Variable
from ..query.conditions import key
from ..query.errors import QueryError
from ..query.regular_query import (
    Both,
    Comparison,
    Computed,
    Condition,
    Either,
    Missing,
    Negated,
    Property,
    Value,
)


def predicate(conditions: Iterable[Condition], place: Mapping[str, int], at: Location) -> Predicate:
    """The conjunction over columns; ``place`` is the column of each reference by :func:`key`.

    Raises:
        QueryError: E-SIZE if the predicate is too large.
    """
    try:
        return Predicate(_sql(Both(tuple(conditions)), place)).normal
    except PredicateError as error:
        raise QueryError(
            "E-SIZE",
            "the conditions are too large",
            at=at,
            hint=str(error).splitlines()[0][:200],
        ) from None


def _sql(condition: Condition, place: Mapping[str, int]) -> str:
    match condition:
        case Comparison(left, sign, right):
            sides = (scalar.text(scalar_of(side, place)) for side in (left, right))
            return f" {sign} ".join(sides)
        case Missing(of):
            return f"c{place[key(of)]} IS NULL"
        case Negated(part):
            return f"NOT ({_sql(part, place)})"
        case Both(parts):
            return " AND ".join(f"({_sql(part, place)})" for part in parts) or "TRUE"
        case Either(parts):
            return " OR ".join(f"({_sql(part, place)})" for part in parts) or "FALSE"


def scalar_of(value: Value, place: Mapping[str, int]) -> scalar.Value:
    """The value over columns; ``place`` is the column of each reference by :func:`key`."""
    match value:
        case Literal():
            return value
        case Variable() | Property():
            return Column(place[key(value)])
        case Computed(function, arguments):
            return scalar.Call(function, tuple(scalar_of(part, place) for part in arguments))

"""Columns of an answer besides vertices: properties, computed values, aggregates.

In: the columns of a head as parsed. Out: the column names of a rule's head, and the values of the
columns that are not vertices of the body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...algebra.aggregates import (
    DEFINITIONS,
    IN_QUERIES,
    Function,
    percentile_units,
)
from ...algebra.scalar import Literal
from .atoms import Location
from .conditions import references_in, references_of
from .errors import QueryError
from .regular_query import Aggregated, Output, Property, Rule, Value

FUNCTIONS: Final[dict[str, Function]] = {name: name for name in IN_QUERIES}
"""Aggregate functions by their names in query texts."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a head: its value, its name if it has one, its place and its text."""

    value: Output
    name: str | None
    at: Location
    text: str = ""


def aggregate(
    name: str,
    argument: Value | None,
    at: Location,
    *,
    distinct: bool,
    second: Value | None = None,
    shown: str = "",
) -> Aggregated:
    """The aggregate of a function name, in any case.

    Args:
        name: one of :data:`FUNCTIONS`.
        argument: None for ``*``.
        at: the place of the call.
        distinct: whether the argument is DISTINCT.
        second: the time of ``latest``; without one it is that of the edge or row whose properties
            the argument has. Or the number of a percentile.
        shown: the name of the function in the text, if it is another one.

    Raises:
        QueryError: E-SYNTAX for ``sum(*)``, ``sum(x, t)`` and a percentile without a number; E-AGG
            for DISTINCT with a function that does not take it, for a latest value without a time,
            and for a percentile beyond 0 and 1.
    """
    function, text = FUNCTIONS[name.lower()], shown or name
    known = DEFINITIONS[function]
    if second is not None and known.second is None:
        raise QueryError(
            "E-SYNTAX",
            f"{shown or function} takes one argument",
            at=at,
            text=text,
            hint="latest has a second one, the time, as latest(v, t), and so have percentiles",
        )
    if argument is None and function != "count":
        raise QueryError(
            "E-SYNTAX",
            "only count takes *",
            at=at,
            text=text,
            hint=f"name its argument, as {shown or function}(e.amount)",
        )
    if distinct and known.distinct is None:
        raise QueryError(
            "E-AGG",
            f"{shown or function} does not take DISTINCT",
            at=at,
            text=text,
            hint="write count(distinct x), or leave DISTINCT out",
        )
    if known.second == "time" and argument is not None:
        return Aggregated(function, argument, at, second or _own_time(argument, at, name))
    if known.second == "percentile":
        percentile = _percentile(second, at, text)
        return Aggregated(function, argument, at, percentile=percentile)
    # DISTINCT changes neither the least nor the greatest value.
    if distinct and known.distinct is not None:
        function = known.distinct
    return Aggregated(function, argument, at)


def _percentile(of: Value | None, at: Location, text: str) -> float:
    """The number of a percentile."""
    if of is None:
        raise QueryError(
            "E-SYNTAX",
            f"{text} takes two arguments",
            at=at,
            text=text,
            hint=f"write the share of the values that lie below, as {text}(e.amount, 0.5)",
        )
    match of:
        case Literal(int() | float() as number) if (
            not isinstance(number, bool) and percentile_units(float(number)) is not None
        ):
            return float(number)
    raise QueryError(
        "E-AGG",
        "the second argument of a percentile is not a number from 0 to 1",
        at=at,
        text=text,
        hint=f"write the number out, with at most nine decimals, as {text}(e.amount, 0.5)",
    )


def _own_time(value: Value, at: Location, text: str) -> Value:
    """The time of the only edge or row that a value has properties of."""
    rows = {of.edge for of in references_of(value) if isinstance(of, Property)}
    if len(rows) != 1:
        raise QueryError(
            "E-AGG",
            "a latest value needs a time"
            if not rows
            else "the properties in a latest value are of several edges",
            at=at,
            text=text,
            hint="say which time counts, as latest(v, e.ts), or latest(v, t) for a value t",
        )
    return Property(rows.pop(), "ts", at)


def named_columns(
    columns: Iterable[str | Column], taken: Iterable[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, Output], ...]]:
    """The names of a head's columns, and the values of columns that are not vertices.

    An unnamed property column gets the name of the property, with the edge as prefix if that name
    is taken or if the head has this property of several edges, and a number if both are taken:
    ``amount``, ``e_amount``, ``e_amount_2``.

    Raises:
        QueryError: E-SYNTAX for an unnamed value of another kind; E-EDB for a repeated name.
    """
    columns = list(columns)
    used = {c for c in columns if isinstance(c, str)} | set(taken)
    used |= {c.name for c in columns if isinstance(c, Column) and c.name is not None}
    used |= _properties_of_several_edges(columns)
    names: list[str] = []
    outputs: dict[str, Output] = {}
    for column in columns:
        if isinstance(column, str):
            names.append(column)
            continue
        name = column.name
        if name is None:
            name = _own_name(column, used)
            used.add(name)
        elif outputs.get(name, column.value) != column.value:
            raise QueryError(
                "E-EDB",
                "two columns of the head have this name",
                at=column.at,
                text=name,
                hint="choose another name after `as`",
            )
        names.append(name)
        outputs[name] = column.value
    return tuple(names), tuple(outputs.items())


def _properties_of_several_edges(columns: Iterable[str | Column]) -> set[str]:
    """The names of the properties that unnamed columns have of several edges."""
    unnamed = {
        (of.edge, of.name)
        for column in columns
        if isinstance(column, Column)
        and column.name is None
        and isinstance(of := column.value, Property)
    }
    count = Counter(name for _, name in unnamed)
    return {name for name, edges in count.items() if edges > 1}


def _own_name(column: Column, used: Collection[str]) -> str:
    of = column.value
    if not isinstance(of, Property):
        what = "an aggregate" if isinstance(of, Aggregated) else "a computed column"
        raise QueryError(
            "E-SYNTAX",
            f"{what} needs a name",
            at=column.at,
            text=column.text,
            hint="name it with `as`, as in e.amount * 2 as twice",
        )
    name, number = of.name, 1
    while name in used:
        name = f"{of.edge}_{of.name}" + (f"_{number}" if number > 1 else "")
        number += 1
    return name


def is_aggregate(rule: Rule) -> bool:
    """Whether a rule's head has an aggregate."""
    return any(isinstance(of, Aggregated) for _, of in rule.properties)


def computes(rule: Rule) -> bool:
    """Whether a rule's head has columns other than vertices and properties."""
    return any(not isinstance(of, Property) for _, of in rule.properties)


def check_alike(rules: Sequence[Rule]) -> None:
    """Checks that the rules of a head have the same aggregates in the same columns.

    Raises:
        QueryError: E-AGG.
    """
    first = _functions(rules[0])
    for rule in rules[1:]:
        if _functions(rule) != first:
            raise QueryError(
                "E-AGG",
                f"the aggregates of {rule.head} differ from those in line {rules[0].location.line}",
                at=rule.location,
                text=rule.head,
                hint="rules of one head are alternatives: each column is a key in all of them, "
                "or the same function in all",
            )


def _functions(rule: Rule) -> list[tuple[Function, float | None] | None]:
    """The function of each column, with the number of a percentile."""
    of = dict(rule.properties)
    columns = (of.get(name) for name in rule.variables)
    return [(c.function, c.percentile) if isinstance(c, Aggregated) else None for c in columns]


def location_in(of: Output, otherwise: Location) -> Location:
    """The place of a column in the text; ``otherwise`` for a column without a place."""
    if isinstance(of, Aggregated) and of.location is not None:
        return of.location
    for reference in references_in(of):
        if isinstance(reference, Property) and reference.location is not None:
            return reference.location
    return otherwise

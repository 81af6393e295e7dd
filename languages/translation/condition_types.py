"""Checks the types of compared values; strings, numbers and truth values do not compare.

In: a condition and the types of the columns that it refers to. Out: the condition, with literals
converted to the types of the vertices beside them, or an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard

from ...algebra import functions
from ...algebra.aggregates import DEFINITIONS
from ...algebra.functions import FUNCTIONS
from ...algebra.remedy import Remedy
from ...algebra.scalar import Literal
from ...algebra.values import PropertyType, VertexType
from ..query.answers import computes, location_in
from ..query.atoms import Constant, Location, Variable
from ..query.condition_text import value_text
from ..query.conditions import (
    conjuncts,
    key,
    named_edges,
    references,
    references_in,
    references_of,
    values_of_output,
)
from ..query.errors import QueryError
from ..query.regular_query import (
    Aggregated,
    Both,
    Comparison,
    Computed,
    Condition,
    Either,
    Missing,
    Negated,
    Output,
    Property,
    Rule,
    Value,
)
from .edges_as_values import written_out
from .inputs import Inputs
from .join_keys import TypeOf

LARGEST_VERTEX: Final = 2**63
_NAMING: Final = ("=", "<>")
"""The signs beside which a whole number names a vertex, as in an atom."""
_KINDS: Final[Mapping[PropertyType, str]] = {
    "string": "a string",
    "integer": "a number",
    "number": "a number",
    "boolean": "a truth value",
}

Types = Mapping[str, PropertyType | None]
"""The types of variables and properties by :func:`headrace.languages.query.conditions.key`; None
for several types."""


def resolved(
    rule: Rule,
    inputs: Inputs,
    column_types: Sequence[tuple[PropertyType | None, ...]],
    values: Collection[str] = (),
) -> list[Condition]:
    """The typed conditions of a rule, without edge comparisons, and with conjunctions split.

    ``column_types`` are the types of the columns of each atom. They may be empty for a rule
    without conditions and computed columns. ``values`` are the variables that are no vertices.

    Raises:
        QueryError: E-UNKNOWN for an unknown property, E-TYPE for types that do not compare.
    """
    edges = named_edges(rule.body)
    types: dict[str, PropertyType | None] = {}
    several: dict[str, tuple[PropertyType, ...]] = {}

    def look_up(of: Property) -> None:
        kinds = inputs.property_types(edges[of.edge], of, rule.location)
        types[key(of)] = kinds[0] if len(kinds) == 1 else None
        if len(kinds) > 1:
            several[key(of)] = kinds

    referenced = [of for _, output in rule.properties for of in references_in(output)]
    referenced += [of for condition in rule.conditions for of in references(condition)]
    for of in referenced:
        if isinstance(of, Property):
            look_up(of)
    if not rule.conditions and not computes(rule):
        return []
    for atom, own in zip(rule.body, column_types, strict=True):
        for term, column_type in zip(atom.terms, own, strict=True):
            if isinstance(term, Variable):
                same = types.setdefault(term.name, column_type) == column_type
                types[term.name] = column_type if same else None

    def origins(name: str) -> dict[str, tuple[str, ...]]:
        return {o.tag: o.identity for o in inputs.origins(edges[name])}

    whole = [written_out(condition, edges, origins) for condition in rule.conditions]
    for reference in (r for condition in whole for r in references(condition)):
        if isinstance(reference, Property):
            kind = inputs.column_type(edges[reference.edge], reference.name)
            types.setdefault(key(reference), kind)
    # If the type of a property depends on the label, check every type.
    for one in (types, *({**types, name: kind} for name in several for kind in several[name])):
        check_outputs(rule, one, values)
        for condition in whole:
            typed(condition, one, values)
    return [typed(condition, types, values) for condition in conjuncts(whole)]


def check_outputs(rule: Rule, types: Types, values: Collection[str]) -> None:
    """Checks the types of the columns of a head.

    Raises:
        QueryError: E-TYPE.
    """
    for _, output in rule.properties:
        _check_output(output, types, values, location_in(output, rule.location))


def types_in(
    rule: Rule, inputs: Inputs, column_types: Sequence[tuple[PropertyType | None, ...]]
) -> TypeOf:
    """The types of references; None if streams disagree on the type of a vertex.

    ``column_types`` are those of the columns of each atom, in a rule with conditions.
    """
    rows = named_edges(rule.body)
    ends = [
        (term, kind)
        for atom, types in zip(rule.body, column_types, strict=False)
        for term, kind in zip(atom.terms, types, strict=True)
    ]

    def type_of(reference: Variable | Property) -> PropertyType | None:
        if isinstance(reference, Property):
            return inputs.column_type(rows[reference.edge], reference.name)
        kinds = {kind for term, kind in ends if term == reference}
        return kinds.pop() if len(kinds) == 1 else None

    return type_of


def typed(condition: Condition, types: Types, values: Collection[str] = ()) -> Condition:
    """The condition with constants of the types of the vertices beside them.

    ``values`` are the variables that are no vertices.

    Raises:
        QueryError: E-TYPE if the types of two sides do not compare, or a constant is not a vertex
            of its stream.
    """
    match condition:
        case Comparison(left, _, right):
            if condition.sign in _NAMING or _is_integer(left, types) or _is_integer(right, types):
                if _is_vertex(left, values) and isinstance(right, Literal):
                    right = _as_vertex(right, types.get(left.name), condition.location)
                elif _is_vertex(right, values) and isinstance(left, Literal):
                    left = _as_vertex(left, types.get(right.name), condition.location)
            kinds = [_kind(side, types, values, condition.location) for side in (left, right)]
            if None not in kinds and kinds[0] != kinds[1]:
                raise QueryError(
                    "E-TYPE",
                    f"{value_text(left)} is {kinds[0]} and {value_text(right)} is {kinds[1]}: "
                    "they are never equal, and neither comes first",
                    at=condition.location,
                    text=condition.sign,
                    hint=_hint((left, right), kinds, values),
                    remedies=_remedies((left, right), kinds, values),
                )
            return replace(condition, left=left, right=right)
        case Negated(part):
            return Negated(typed(part, types, values))
        case Both(parts):
            return Both(tuple(typed(part, types, values) for part in parts))
        case Either(parts):
            return Either(tuple(typed(part, types, values) for part in parts))
        case Missing():
            return condition


def _is_integer(side: Value, types: Types) -> bool:
    return isinstance(side, Variable) and types.get(side.name) == "integer"


def _is_vertex(side: Value, values: Collection[str]) -> TypeGuard[Variable]:
    return isinstance(side, Variable) and side.name not in values


def _hint(sides: Sequence[Value], kinds: Sequence[str | None], values: Collection[str]) -> str:
    """The hint for a comparison or arithmetic over values of these kinds."""
    for side in _strings_beside_numbers(sides, kinds):
        if _is_vertex(side, values):
            return (
                f"{side.name} is a vertex: if the vertices of its stream are numbers, declare "
                "vertex_type: integer in the catalog; if not, compare them with text in quotes"
            )
        if isinstance(side, Property):
            return (
                f"if {value_text(side)} is a number, the catalog has to say so: "
                f"properties: {{{side.name}: number}}"
            )
    return "compare values of one type; the catalog declares those of properties"


def _remedies(
    sides: Sequence[Value], kinds: Sequence[str | None], values: Collection[str]
) -> tuple[Remedy, ...]:
    """The settings of the request that also solve the problem."""
    strings = _strings_beside_numbers(sides, kinds)
    return (_INTEGERS,) if any(_is_vertex(side, values) for side in strings) else ()


def _strings_beside_numbers(sides: Sequence[Value], kinds: Sequence[str | None]) -> list[Value]:
    if "a number" not in kinds:
        return []
    return [side for side, kind in zip(sides, kinds, strict=True) if kind == "a string"]


_INTEGERS: Final = Remedy("vertex_type", "read vertices as integers", "integer")


def _check_output(of: Output, types: Types, values: Collection[str], at: Location) -> None:
    kinds = [(value, _kind(value, types, values, at)) for value in values_of_output(of)]
    if not isinstance(of, Aggregated) or not DEFINITIONS[of.function].numbers:
        return
    for value, kind in kinds:
        if kind in (None, "a number"):
            continue
        raise QueryError(
            "E-TYPE",
            f"{value_text(value)} is {kind}, and {of.function} is for numbers",
            at=at,
            text=value_text(value),
            hint=_hint([value, value], [kind, "a number"], values)
            if _is_vertex(value, values)
            else "count, min and max take values of any type",
        )


def _kind(value: Value, types: Types, values: Collection[str], at: Location) -> str | None:
    match value:
        case Literal():
            return _KINDS[value.type]
        case Variable() | Property():
            declared = types.get(key(value))
            return None if declared is None else _KINDS[declared]
        case Computed(function, arguments) if function in FUNCTIONS:
            return _kind_of_call(value, types, values, at)
        case Computed(_, arguments):
            for part in arguments:
                kind = _kind(part, types, values, at)
                if kind is not None and kind != "a number":
                    why = "arithmetic is for numbers"
                    raise _not_taken(value, (part, kind), why, values, at)
            return "a number"


def _not_taken(
    value: Computed, argument: tuple[Value, str], why: str, values: Collection[str], at: Location
) -> QueryError:
    """The error of an argument, with its kind, that arithmetic or a function does not take."""
    part, kind = argument
    return QueryError(
        "E-TYPE",
        f"{value_text(part)} is {kind}, and {why}",
        at=at,
        text=value_text(value),
        hint=_hint([part, value], [kind, "a number"], values),
        remedies=_remedies([part, value], [kind, "a number"], values),
    )


def _kind_of_call(
    value: Computed, types: Types, values: Collection[str], at: Location
) -> str | None:
    """The kind of a function's result; None where it is not sure."""
    name, arguments = value.function, value.arguments
    kinds = [_kind(part, types, values, at) for part in arguments]
    taken = functions.kinds_of(name, len(arguments))
    for part, kind, takes in zip(arguments, kinds, taken, strict=True):
        if takes != "any" and kind is not None and kind != (wanted := _KINDS_TAKEN[takes]):
            why = f"{name} takes {wanted} there"
            raise _not_taken(value, (part, kind), why, values, at)
    alike: Sequence[int] = ()
    if name in functions.COMPARISONS:
        alike = (0, 1)
    elif FUNCTIONS[name].gives == "joined":
        alike = functions.results_of(name, len(arguments))
    known = [place for place in alike if kinds[place] is not None]
    for place in known[1:]:
        if kinds[place] != kinds[known[0]]:
            one, other = arguments[known[0]], arguments[place]
            both = f"{value_text(one)} is {kinds[known[0]]} and {value_text(other)} is "
            if name in functions.COMPARISONS:
                raise _incomparable(value, f"{both}{kinds[place]}", at)
            raise QueryError(
                "E-TYPE",
                f"{both}{kinds[place]}, and {name} takes values of one type",
                at=at,
                text=value_text(value),
                hint="compare and choose among values of one type; AS_TEXT makes any value a text",
            )
    match FUNCTIONS[name].gives:
        case "joined":
            return kinds[known[0]] if known else None
        case "numeric":
            return "a number"
        case "list" | "strings":
            return "a list"
        case gives:
            return _KINDS[gives]


def _incomparable(value: Computed, kinds: str, at: Location) -> QueryError:
    """The error of a comparison of values of two kinds, at the first property in it."""
    properties = (of for of in references_of(value) if isinstance(of, Property))
    first = next(properties, value)
    return QueryError(
        "E-TYPE",
        f"{kinds}: they are never equal, and neither comes first",
        at=location_in(first, at),
        text=value_text(first),
        hint="compare values of one type; the catalog declares those of properties",
    )


_KINDS_TAKEN: Final[Mapping[functions.Kind, str]] = {
    "string": "a string",
    "number": "a number",
    "boolean": "a truth value",
}


def _as_vertex(literal: Literal, vertex_type: PropertyType | None, at: Location) -> Literal:
    value = literal.value
    if isinstance(value, bool | float) or vertex_type not in ("string", "integer"):
        return literal
    return Literal(vertex(Constant(value), "string" if vertex_type == "string" else "integer", at))


def vertex(constant: Constant, vertex_type: VertexType | None, at: Location) -> str | int:
    """The vertex that a constant names, in the vertex type of its stream.

    Raises:
        QueryError: E-TYPE if the constant names no vertex.
    """
    if vertex_type == "string":
        return str(constant.value)
    if vertex_type is None:
        return constant.value
    try:
        number = int(constant.value)
    except ValueError:
        number = LARGEST_VERTEX
    if str(number) == str(constant.value) and -LARGEST_VERTEX <= number < LARGEST_VERTEX:
        return number
    raise QueryError(
        "E-TYPE",
        "the vertices of its stream are integers of 64 bits",
        at=at,
        text=repr(constant.value),
        hint="write such a number, or set vertex_type: string in the catalog",
    )

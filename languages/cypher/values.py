"""Translates expressions to values of rules."""

from __future__ import annotations

from ...algebra import scalar
from ..query import regular_query as rq
from ..query.answers import FUNCTIONS
from ..query.atoms import Variable
from ..query.regular_query import Comparison
from ..query.shortest_paths import LENGTH
from . import errors
from .bodies import Body
from .expression_text import expression_text
from .scope import Edge, Node, Path, Value
from .syntax import (
    And,
    Call,
    Computed,
    Exists,
    Expression,
    HasLabels,
    InList,
    ListOf,
    Literal,
    Name,
    Not,
    NullTest,
    Or,
    Parameter,
    Property,
    TextComparison,
)
from .syntax import Comparison as ComparisonText
from .syntax import Variable as VariableText

_ARITHMETIC = {"+", "-", "*", "/", "NEG"}
_IDENTITIES = {"id", "elementid"}
AGGREGATES = frozenset({*FUNCTIONS, "stdev", "stdevp", "percentilecont"})
"""The names of aggregate functions, in lower case."""


def compared_with(body: Body, owner: str, key: Name, value: Expression) -> Comparison:
    """The test ``{key: value}`` of a node or a relationship."""
    return Comparison(rq.Property(owner, key.text, key.at), "=", value_of(body, value), key.at)


def value_of(body: Body, of: Expression) -> rq.Value:
    """The value of an expression.

    Raises:
        QueryError: E-SAFE for a variable that is not bound, E-FUNC for an unknown function,
            E-LATER for values that are not supported yet.
    """
    match of:
        case VariableText(name):
            return _variable(body, name)
        case Property():
            return property_of(body, of)
        case Literal(None):
            raise errors.NULL_VALUE.error(of.at, "null")
        case Literal(value):
            assert value is not None
            return scalar.Literal(value)
        case Parameter(name):
            raise errors.PARAMETER.error(name.at, f"${name.text}")
        case ListOf(_, at):
            raise errors.LISTS.error(at, "[")
        case Computed(function, arguments, at):
            if function not in _ARITHMETIC:
                raise errors.OPERATOR.error(at, function)
            values = tuple(value_of(body, part) for part in arguments)
            if function == "/" and not any(map(_has_fraction, values)):
                raise errors.DIVISION.error(at, "/")
            return rq.Computed(function, values)
        case Call():
            return _called(body, of)
        case (
            ComparisonText() | InList() | TextComparison() | NullTest() | HasLabels() | Exists()
            | And() | Or() | Not()
        ):  # fmt: skip
            raise errors.TRUTH_VALUE.error(of.at, expression_text(of))


def property_of(body: Body, of: Property) -> rq.Value:
    """The value of ``x.key``.

    Raises:
        QueryError: as :func:`value_of`.
    """
    text = expression_text(of)
    if of.more:
        raise errors.MAPS.error(of.at, text)
    outer = body.is_outer(of.owner)
    bound = body.bound(of.owner)
    match bound:
        case None:
            raise errors.UNBOUND.error(of.at, of.owner.text)
        case Node():
            if bound.optional and outer and body.around is not None:
                raise errors.OUTER_VALUE.error(of.at, text)
            body.for_properties(bound, of.at, text)
            return rq.Property(bound.variable, of.key.text, of.at)
        case Edge(name):
            if outer and body.around is not None:
                raise errors.OUTER_VALUE.error(of.at, text)
            return rq.Property(name, of.key.text, of.at)
        case Path():
            raise errors.PATH_VALUE.error(of.at, text)
        case Value():
            raise errors.MAPS.error(of.at, text)


def edge_of(body: Body, of: Expression) -> str | None:
    """The name in rules of a relationship that an expression is, if it is one."""
    if not isinstance(of, VariableText):
        return None
    outer = body.is_outer(of.name)
    bound = body.bound(of.name)
    if not isinstance(bound, Edge):
        return None
    if outer and body.around is not None:
        raise errors.OUTER_VALUE.error(of.at, of.name.text)
    if bound.optional:
        raise errors.OPTIONAL_EDGE.error(of.at, of.name.text)
    return bound.name


def _variable(body: Body, name: Name) -> rq.Value:
    outer = body.is_outer(name)
    bound = body.bound(name)
    match bound:
        case None:
            raise errors.UNBOUND.error(name.at, name.text)
        case Node(variable):
            return Variable(variable)
        case Edge():
            raise errors.EDGE_COLUMN.error(name.at, name.text)
        case Path():
            raise errors.PATH_VALUE.error(name.at, name.text)
        case Value(value):
            if outer and body.around is not None:
                raise errors.OUTER_VALUE.error(name.at, name.text)
            return value


def _called(body: Body, of: Call) -> rq.Value:
    function = of.function.text.lower()
    if function in AGGREGATES:
        raise errors.NO_AGGREGATE.error(of.at, of.function.text)
    if len(of.arguments) != 1 or of.distinct or of.is_star:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    (argument,) = of.arguments
    bound = body.bound(argument.name) if isinstance(argument, VariableText) else None
    if function == "abs":
        return rq.Computed("ABS", (value_of(body, argument),))
    if function == "tofloat":
        return rq.Computed("*", (value_of(body, argument), scalar.Literal(1.0)))
    if function in _IDENTITIES and isinstance(bound, Node):
        return Variable(bound.variable)
    if function == LENGTH and isinstance(bound, Path):
        if not bound.shortest:
            raise errors.PATH_VALUE.error(of.at, expression_text(of))
        return rq.Property(bound.name, LENGTH, of.at)
    if function == "type" and isinstance(bound, Edge):
        if len(bound.types) != 1 or bound.optional:
            raise errors.TYPE_OF.error(of.at, expression_text(of))
        return scalar.Literal(bound.types[0])
    raise errors.NO_FUNCTION.error(of.at, of.function.text)


def _has_fraction(value: rq.Value) -> bool:
    """Whether a value is a number with a fraction for sure."""
    if isinstance(value, scalar.Literal):
        return isinstance(value.value, float)
    if isinstance(value, rq.Computed):
        return value.function == "/" or any(map(_has_fraction, value.arguments))
    return False

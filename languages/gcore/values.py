"""Translates the values of conditions from the syntax tree to rules."""

from __future__ import annotations

from collections.abc import Iterator

from ...algebra import scalar
from ..query import regular_query as rq
from ..query.answers import FUNCTIONS
from ..query.atoms import Location, Variable
from ..query.errors import QueryError
from . import errors
from .errors import Fault
from .scope import Scope
from .syntax import Call, Computed, Literal, Name, Node, Property, Value

_ONLY_VERTICES = Fault("E-SYNTAX", "only bound vertices are compared", "write (x) = (y)")


def value_of(value: Node | Value, scope: Scope) -> rq.Value:
    """The value of one side of a comparison in a rule.

    Raises:
        QueryError: E-PATHVAR for properties of paths, E-SAFE for properties of unbound variables,
            E-AGG and E-FUNC for functions other than ``abs``.
    """
    match value:
        case Node():
            return Variable(vertex_of(value).text)
        case Property():
            return property_of(value, scope)
        case Literal():
            return scalar.Literal(value.value)
        case Computed(function, arguments):
            return rq.Computed(function, tuple(value_of(part, scope) for part in arguments))
        case Call(function, (argument,)) if function.text.lower() == "abs":
            if isinstance(argument, Name):
                raise path_fault(argument, scope) or errors.NO_NUMBER.error(
                    argument.at, argument.text
                )
            return rq.Computed("ABS", (value_of(argument, scope),))
        case Call():
            raise call_fault(value, scope, errors.AGGREGATE_INSIDE)


def vertex_of(node: Node) -> Name:
    """The variable of a compared vertex.

    Raises:
        QueryError: E-SYNTAX for a vertex with labels or properties, which is a pattern.
    """
    if node.variable is None or node.labels or node.properties:
        raise _ONLY_VERTICES.error(node.at, "(")
    return node.variable


def property_of(value: Property, scope: Scope) -> rq.Property:
    """A property of an edge or a vertex.

    Raises:
        QueryError: as :func:`value_of`.
    """
    name, text = value.variable, f"{value.variable.text}.{value.key.text}"
    if name.text in scope.edges | scope.vertices:
        return rq.Property(name.text, value.key.text, name.at)
    raise path_fault(value, scope) or errors.NO_EDGE.error(name.at, text)


def referenced(value: Node | Value) -> Iterator[Name]:
    """The variables in a valid value (see :func:`value_of`), with repeats."""
    match value:
        case Node():
            yield vertex_of(value)
        case Property():
            yield value.variable
        case Computed(_, arguments) | Call(_, arguments):
            for part in arguments:
                if not isinstance(part, Name):
                    yield from referenced(part)


def place_of(value: Node | Value) -> Location:
    """The place of a value in the text."""
    match value:
        case Property(variable, _):
            return variable.at
        case Call(function, _):
            return function.at
        case Computed("NEG"):
            return value.at
        case Computed(_, arguments):
            return place_of(arguments[0])
        case Node():
            return value.at if value.variable is None else value.variable.at
        case Literal():
            return value.at


def call_fault(call: Call, scope: Scope, aggregate: Fault) -> QueryError:
    """The error of an invalid function call; ``aggregate`` is the fault of an aggregate."""
    name = call.function.text.lower()
    for argument in call.arguments:
        fault = path_fault(argument, scope)
        if fault is not None:
            return fault
    fault_of_name = aggregate if name in FUNCTIONS else errors.NO_FUNCTION
    return fault_of_name.error(call.function.at, call.function.text)


def path_fault(value: Name | Value, scope: Scope) -> QueryError | None:
    """The error of a value that uses a path."""
    name = value.variable if isinstance(value, Property) else value
    if isinstance(name, Name) and name.text in scope.paths:
        return errors.PATH_AS_VALUE.error(name.at, name.text)
    return None


# --- names ----------------------------------------------------------------------------

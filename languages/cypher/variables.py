"""The values of variables, and of their properties and functions."""

from __future__ import annotations

from ...algebra import scalar
from ..query import regular_query as rq
from ..query.atoms import Variable
from ..query.conditions import named_edges
from ..query.shortest_paths import LENGTH
from . import errors, moments
from .bodies import Body
from .expression_text import expression_text
from .functions import NULL
from .leaves import Name, Property
from .leaves import Variable as VariableText
from .scope import Edge, KnownList, ListColumn, Members, Node, Path, Point, Value
from .syntax import Call, Expression

IDENTITIES = ("id", "elementid")
"""The functions of the identifier of a node."""
_ENDS = {"startnode": 0, "endnode": 1}
_OF_PATTERNS = {*IDENTITIES, LENGTH, "type"}
OF_ONE = frozenset({*IDENTITIES, *_ENDS, "type"})
"""The functions of a node or a relationship."""


def property_of(body: Body, of: Property) -> rq.Value:
    """The value of ``x.key``.

    Raises:
        QueryError: as :func:`value_of`.
    """
    text = expression_text(of)
    if of.more:
        if len(of.more) > 1:
            raise errors.MAPS.error(of.at, text)
        return part_of(body, property_of(body, Property(of.owner, of.key)), of.more[0], text)
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
            if bound.only_ends:
                raise errors.STEP_VALUE.error(of.at, text)
            return rq.Property(name, of.key.text, of.at)
        case Path():
            raise errors.PATH_VALUE.error(of.at, text)
        case Value(value):
            if outer and body.around is not None:
                raise errors.OUTER_VALUE.error(of.at, text)
            return NULL if value == NULL else part_of(body, value, of.key, text)
        case Point():
            raise errors.POINT.error(of.at, text)
        case Members() | ListColumn() | KnownList():
            raise errors.LISTS.error(of.at, text)


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
    if bound.only_ends:
        raise errors.STEP_VALUE.error(of.at, of.name.text)
    return bound.name


def counted_edge(body: Body, of: Expression, *, distinct: bool) -> rq.Value | None:
    """What to count of a relationship, of which all matches count or different ones; None for
    anything else."""
    bound = body.bound(of.name) if isinstance(of, VariableText) else None
    if not isinstance(bound, Edge):
        return None
    if distinct and bound.only_ends:
        raise errors.STEP_VALUE.error(of.at, expression_text(of))
    presence = None if distinct else presence_of(body, of)
    return Variable(bound.name) if presence is None else presence


def presence_of(body: Body, of: Expression) -> rq.Value | None:
    """A value that is null where a relationship of an OPTIONAL MATCH is: a node at its ends that
    this clause binds too, or the relationship itself. A relationship of a shortest path has a node
    at its ends. None for anything else.

    Raises:
        QueryError: E-LATER for a relationship of a clause around.
    """
    bound = body.bound(of.name) if isinstance(of, VariableText) else None
    if isinstance(bound, Edge) and bound.only_ends and bound.ends is not None:
        return Variable(bound.ends[0])
    if not isinstance(bound, Edge) or not bound.optional:
        return None
    if isinstance(of, VariableText) and body.is_outer(of.name):
        raise errors.OUTER_VALUE.error(of.at, of.name.text)
    (own,) = (inside for inside, _ in body.optional if bound.name in named_edges(inside.atoms))
    ends, known = named_edges(own.atoms)[bound.name].terms, own.shared()
    new = (end for end in ends if isinstance(end, Variable) and end.name not in known)
    return next(new, Variable(bound.name))


def variable_value(body: Body, name: Name) -> rq.Value:
    """The value of a variable.

    Raises:
        QueryError: E-SAFE for a variable that is not bound, E-LATER for one that cannot be a
            value yet.
    """
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
        case Point():
            raise errors.POINT.error(name.at, name.text)
        case Members() | ListColumn() | KnownList():
            raise errors.LISTS.error(name.at, name.text)


def function_of(body: Body, of: Call, function: str) -> rq.Value | None:
    """The value of a function of a node, a relationship or a path."""
    (argument,) = of.arguments
    if function in _ENDS:
        return _end_of(body, of, function)
    if function in IDENTITIES and isinstance(argument, Call) and len(argument.arguments) == 1:
        inner = argument.function.text.lower()
        return _end_of(body, argument, inner) if inner in _ENDS else None
    bound = body.bound(argument.name) if isinstance(argument, VariableText) else None
    if function in IDENTITIES and isinstance(bound, Node):
        return Variable(bound.variable)
    if function == LENGTH and isinstance(bound, Path) and bound.steps is not None:
        return scalar.Literal(len(bound.steps.relationships))
    if function == LENGTH and isinstance(bound, Path):
        if not bound.shortest:
            raise errors.PATH_VALUE.error(of.at, expression_text(of))
        return rq.Property(bound.name, LENGTH, of.at)
    if function in _OF_PATTERNS and bound == Value(NULL):
        return NULL
    if function == "type" and isinstance(bound, Edge):
        if len(bound.types) != 1 or bound.optional:
            raise errors.TYPE_OF.error(of.at, expression_text(of))
        return scalar.Literal(bound.types[0])
    return None


def _end_of(body: Body, of: Call, function: str) -> rq.Value | None:
    """The node where a relationship starts or ends; None for the end of anything else."""
    (argument,) = of.arguments
    bound = body.bound(argument.name) if isinstance(argument, VariableText) else None
    if bound == Value(NULL):
        return NULL
    if not isinstance(bound, Edge):
        return None
    if not bound.only_ends:
        _ = edge_of(body, argument)
    if bound.ends is None:
        raise errors.ENDS.error(of.at, expression_text(of))
    return Variable(bound.ends[_ENDS[function]])


def of_end(body: Body, owner: Expression, key: Name, text: str) -> rq.Value | None:
    """``startNode(r).key``; None if the owner is not an end of a relationship."""
    if not isinstance(owner, Call) or len(owner.arguments) != 1:
        return None
    function = owner.function.text.lower()
    end = _end_of(body, owner, function) if function in _ENDS else None
    if not isinstance(end, Variable):
        return end
    body.for_properties(Node(end.name, tuple(body.labels_of(end.name))), owner.at, text)
    return rq.Property(end.name, key.text, owner.at)


def part_of(body: Body, value: rq.Value, key: Name, text: str) -> rq.Value:
    """``value.epochMillis``, ``value.month`` and the like.

    Raises:
        QueryError: E-LATER for other keys.
    """
    part = key.text.lower()
    if part not in moments.KEYS and part not in moments.CALENDAR:
        raise errors.MAPS.error(key.at, text)
    return moments.part_of(value, part, moments.tick(body.program.time_unit, key.at, text))

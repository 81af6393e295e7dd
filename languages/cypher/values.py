"""Translates expressions to values of rules."""

from __future__ import annotations

from ...algebra import functions, scalar
from ...algebra.scalar import DEEPEST_VALUE
from ..parsing.tokens import SIGNS
from ..query import regular_query as rq
from ..query.atoms import Variable
from ..query.regular_query import Comparison
from ..query.shortest_paths import LENGTH
from . import errors, moments
from .bodies import Body
from .expression_text import expression_text
from .functions import NULL, called, computed, depth_of
from .scope import Edge, Node, Path, Point, Value
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Computed,
    Exists,
    Expression,
    HasLabels,
    InList,
    ListOf,
    Literal,
    MapOf,
    Name,
    Not,
    NullTest,
    Or,
    Parameter,
    Property,
    TextComparison,
    TextTest,
)
from .syntax import Comparison as ComparisonText
from .syntax import Variable as VariableText

DISTANCES = ("distance", "point.distance")
_IDENTITIES = {"id", "elementid"}
AGGREGATES = {
    **{name: name for name in ("count", "sum", "avg", "min", "max", "collect", "latest")},
    "stdev": "stddev",
    "stdevp": "stddev_pop",
    "percentilecont": "percentile_cont",
    "percentiledisc": "percentile_disc",
}
"""The aggregate functions of Cypher, in lower case, and their names in RQ."""


def compared_with(body: Body, owner: str, key: Name, value: Expression) -> Comparison:
    """The test ``{key: value}`` of a node or a relationship."""
    return Comparison(rq.Property(owner, key.text, key.at), "=", value_of(body, value), key.at)


def value_of(body: Body, of: Expression) -> rq.Value:
    """The value of an expression.

    Raises:
        QueryError: E-SAFE for a variable that is not bound, E-FUNC for an unknown function, E-SIZE
            for a value nested too deep, E-LATER for values that are not supported yet.
    """
    value = _value(body, of)
    if depth_of(value) > DEEPEST_VALUE:
        raise errors.DEEP_VALUE.error(of.at, expression_text(of)[:60])
    return value


def _value(body: Body, of: Expression) -> rq.Value:
    match of:
        case VariableText(name):
            return _variable(body, name)
        case Property():
            return property_of(body, of)
        case Literal(None):
            return NULL
        case Literal(value):
            assert value is not None
            return scalar.Literal(value)
        case Parameter(name):
            raise errors.NO_VALUE.error(name.at, f"${name.text}")
        case ListOf(_, at):
            raise errors.LISTS.error(at, "[")
        case MapOf(_, at):
            raise errors.MAP_VALUE.error(at, expression_text(of))
        case Computed(function, arguments):
            return computed(function, [_value(body, part) for part in arguments])
        case Call():
            return _called(body, of)
        case Access(owner, key):
            return _part(body, _value(body, owner), key, expression_text(of))
        case Case():
            return _case(body, of)
        case (
            ComparisonText() | InList() | TextComparison() | NullTest() | HasLabels() | Exists()
            | And() | Or() | Not()
        ):  # fmt: skip
            return _test(body, of)


def _part(body: Body, value: rq.Value, key: Name, text: str) -> rq.Value:
    """``value.epochMillis`` and the like."""
    if key.text.lower() not in moments.KEYS:
        raise errors.MAPS.error(key.at, text)
    part = moments.part_of(value, key.text, moments.tick(body.program.time_unit, key.at, text))
    assert part is not None
    return part


def _case(body: Body, of: Case) -> rq.Value:
    parts: list[rq.Value] = []
    subject = None if of.subject is None else _value(body, of.subject)
    for test, value in of.branches:
        found = _value(body, test)
        parts.append(found if subject is None else _call(functions.EQUAL, subject, found))
        parts.append(_value(body, value))
    last = NULL if of.otherwise is None else _value(body, of.otherwise)
    if len(parts) > 2 * functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, "CASE")
    return _call(functions.CASE_WHEN, *parts, last)


def _call(function: str, *arguments: rq.Value) -> rq.Value:
    return rq.Computed(function, arguments)


def _test(body: Body, of: Expression) -> rq.Value:
    """A condition as a truth value, with null for unknown."""
    match of:
        case Not(part):
            return _call(functions.LOGICAL_NOT, _value(body, part))
        case And(parts):
            return _connected(of, functions.ALL_TRUE, [_value(body, part) for part in parts])
        case Or(parts):
            return _connected(of, functions.ANY_TRUE, [_value(body, part) for part in parts])
        case ComparisonText(values, signs):
            sides = [_value(body, value) for value in values]
            pairs = zip(sides, signs, sides[1:], strict=False)
            tests = [_compared(left, sign, right) for left, sign, right in pairs]
            return _connected(of, functions.ALL_TRUE, tests)
        case InList(value, members):
            left = _value(body, value)
            options = [_value(body, member) for member in members_of(members)]
            tests = [_call(functions.EQUAL, left, option) for option in options]
            return _connected(of, functions.ANY_TRUE, tests) if tests else scalar.Literal(False)
        case TextComparison(value, test, part):
            return text_test(test, _value(body, value), _value(body, part))
        case NullTest(value, is_null):
            bound = body.bound(value.name) if isinstance(value, VariableText) else None
            if isinstance(bound, Node | Edge) and not bound.optional:
                return scalar.Literal(not is_null)
            known = _call(functions.IS_NOT_NULL, _value(body, value))
            return _call(functions.LOGICAL_NOT, known) if is_null else known
    raise errors.TRUTH_VALUE.error(of.at, expression_text(of))


def _connected(of: Expression, function: str, tests: list[rq.Value]) -> rq.Value:
    if len(tests) > functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, expression_text(of)[:60])
    return tests[0] if len(tests) == 1 else _call(function, *tests)


def _compared(left: rq.Value, sign: Name, right: rq.Value) -> rq.Value:
    if sign.text == "=~":
        raise errors.REGULAR_TEXT.error(sign.at, sign.text)
    match SIGNS[sign.text]:
        case "=":
            return _call(functions.EQUAL, left, right)
        case "<>":
            return _call(functions.UNEQUAL, left, right)
        case "<":
            return _call(functions.LESS, left, right)
        case "<=":
            return _call(functions.AT_MOST, left, right)
        case ">":
            return _call(functions.LESS, right, left)
        case _:
            return _call(functions.AT_MOST, right, left)


def text_test(test: TextTest, value: rq.Value, part: rq.Value) -> rq.Value:
    """``value STARTS WITH part`` and the like, as a truth value."""
    names = {TextTest.STARTS: "TEXT_STARTS", TextTest.ENDS: "TEXT_ENDS"}
    return _call(names.get(test, "TEXT_CONTAINS"), value, part)


def members_of(members: Expression) -> tuple[Expression, ...]:
    """The members of a list that is written out.

    Raises:
        QueryError: E-LATER for other lists, E-TYPE for what is no list.
    """
    match members:
        case ListOf(items):
            return items
        case Literal(None):
            return (members,)
        case Literal():
            raise errors.NO_MEMBERS.error(members.at, expression_text(members))
    raise errors.LISTS.error(members.at, expression_text(members))


def property_of(body: Body, of: Property) -> rq.Value:
    """The value of ``x.key``.

    Raises:
        QueryError: as :func:`value_of`.
    """
    text = expression_text(of)
    if of.more:
        if len(of.more) > 1:
            raise errors.MAPS.error(of.at, text)
        return _part(body, property_of(body, Property(of.owner, of.key)), of.more[0], text)
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
        case Value(value):
            if outer and body.around is not None:
                raise errors.OUTER_VALUE.error(of.at, text)
            return _part(body, value, of.key, text)
        case Point():
            raise errors.POINT.error(of.at, text)


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
        case Point():
            raise errors.POINT.error(name.at, name.text)


def _called(body: Body, of: Call) -> rq.Value:
    function = of.function.text.lower()
    text = expression_text(of)
    if function in AGGREGATES:
        raise errors.NO_AGGREGATE.error(of.at, of.function.text)
    if of.distinct or of.is_star:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    if function in moments.TIMES or function.startswith("duration"):
        return _moment(body, of, function, text)
    if function in DISTANCES:
        return _distance(body, of)
    if function == "point":
        raise errors.POINT.error(of.at, text)
    if len(of.arguments) == 1 and (found := _of_variable(body, of, function)) is not None:
        return found
    value = called(function, [_value(body, argument) for argument in of.arguments])
    if value is None:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    return value


def _of_variable(body: Body, of: Call, function: str) -> rq.Value | None:
    """The value of a function of a node, a relationship or a path."""
    (argument,) = of.arguments
    bound = body.bound(argument.name) if isinstance(argument, VariableText) else None
    if function in _IDENTITIES and isinstance(bound, Node):
        return Variable(bound.variable)
    if function == LENGTH and isinstance(bound, Path) and bound.steps is not None:
        return scalar.Literal(len(bound.steps.relationships))
    if function == LENGTH and isinstance(bound, Path):
        if not bound.shortest:
            raise errors.PATH_VALUE.error(of.at, expression_text(of))
        return rq.Property(bound.name, LENGTH, of.at)
    if function == "type" and isinstance(bound, Edge):
        if len(bound.types) != 1 or bound.optional:
            raise errors.TYPE_OF.error(of.at, expression_text(of))
        return scalar.Literal(bound.types[0])
    return None


def _moment(body: Body, of: Call, function: str, text: str) -> rq.Value:
    """A time, or a length of time."""
    if function in moments.DIFFERENCES and len(of.arguments) == 2:
        first, last = (_value(body, argument) for argument in of.arguments)
        return _call("-", last, first)
    unit = body.program.time_unit
    if function == "duration" and len(of.arguments) == 1:
        return moments.length_of(of.arguments[0], unit, text)
    if function not in moments.TIMES or len(of.arguments) > 1:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    if not of.arguments:
        raise errors.NOW.error(of.at, text)
    length = moments.tick(unit, of.at, text)
    match of.arguments[0]:
        case Literal(str() as written):
            return moments.time_of(written, length, of.at)
        case MapOf(values) as parts:
            found = {key.text.lower(): _value(body, value) for key, value in values}
            return moments.time_of_map(parts, found, length, text)
        case argument:
            return _call("AS_TIME", _value(body, argument), scalar.Literal(length))


def point_of(body: Body, of: Expression) -> Point | None:
    """The point that an expression is; None if it is none.

    Raises:
        QueryError: E-TYPE for other coordinates than x and y, or latitude and longitude.
    """
    if isinstance(of, VariableText):
        bound = body.bound(of.name)
        return bound if isinstance(bound, Point) and not body.is_outer(of.name) else None
    if not isinstance(of, Call) or of.function.text.lower() != "point" or len(of.arguments) != 1:
        return None
    match of.arguments[0]:
        case MapOf(values):
            found = {key.text.lower(): _value(body, value) for key, value in values}
        case VariableText(name):
            keys = ("latitude", "longitude")
            found = {key: property_of(body, Property(name, Name(key, name.at))) for key in keys}
        case _:
            raise errors.NO_POINT.error(of.at, expression_text(of))
    for on_earth, keys in ((False, ("x", "y")), (True, ("latitude", "longitude"))):
        if found.keys() == set(keys):
            return Point(on_earth, (found[keys[0]], found[keys[1]]))
    raise errors.NO_POINT.error(of.at, expression_text(of))


def _distance(body: Body, of: Call) -> rq.Value:
    points = [point_of(body, argument) for argument in of.arguments]
    for point, argument in zip(points, of.arguments, strict=True):
        if point is None:
            raise errors.NO_POINT.error(argument.at, expression_text(argument))
    if len(points) != 2:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    one, other = points
    assert one is not None
    assert other is not None
    if one.on_earth != other.on_earth:
        raise errors.OTHER_POINTS.error(of.at, expression_text(of))
    function = "EARTH_DISTANCE" if one.on_earth else "PLANE_DISTANCE"
    return _call(function, *one.coordinates, *other.coordinates)

"""Translates expressions to values of rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra import functions, regular_texts, scalar
from ...algebra.scalar import DEEPEST_VALUE
from ..parsing.tokens import SIGNS
from ..query import regular_query as rq
from ..query.atoms import Location, Variable
from ..query.regular_query import Comparison
from . import errors, moments
from .bodies import Body
from .constant_lists import written_out
from .expression_text import expression_text
from .functions import NULL, called, computed, depth_of
from .members import of_members, on_path
from .path_tests import is_of_nodes, path_of
from .scope import Bound, Edge, Node, Path, Point, Value
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Computed,
    Exists,
    Expression,
    Filtered,
    HasLabels,
    InList,
    ListOf,
    Literal,
    MapOf,
    Mapped,
    Name,
    Not,
    NullTest,
    Or,
    Parameter,
    Property,
    Quantified,
    TextComparison,
    TextTest,
)
from .syntax import Comparison as ComparisonText
from .syntax import Variable as VariableText
from .variables import edge_of, function_of, of_end, part_of, property_of, variable_value

DISTANCES = ("distance", "point.distance")
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
            return variable_value(body, name)
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
        case Mapped(_, _, _, at):
            raise errors.LISTS.error(at, expression_text(of))
        case Filtered(_, _, _, at):
            raise errors.FILTERED_LIST.error(at, expression_text(of))
        case MapOf(_, at):
            raise errors.MAP_VALUE.error(at, expression_text(of))
        case Computed(function, arguments):
            return computed(function, [_value(body, part) for part in arguments])
        case Call():
            return _called(body, of)
        case Access(owner, key):
            if (property_ := of_end(body, owner, key, expression_text(of))) is not None:
                return property_
            return part_of(body, _value(body, owner), key, expression_text(of))
        case Case():
            return _case(body, of)
        case (
            ComparisonText() | InList() | TextComparison() | NullTest() | HasLabels() | Exists()
            | And() | Or() | Not() | Quantified()
        ):  # fmt: skip
            return _test(body, of)


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
        case InList(value):
            if (edge := edge_of(body, value)) is not None:
                raise errors.EDGE_COLUMN.error(value.at, edge)
            tests = [_call(functions.EQUAL, *pair) for pair in beside_members(body, of)]
            return _connected(of, functions.ANY_TRUE, tests)
        case Quantified(quantifier):
            tests = [_value(body, of.condition) for _ in in_turn(body, of)]
            return of_members(
                quantifier,
                tests,
                lambda parts: _connected(of, functions.ALL_TRUE, parts),
                lambda parts: _connected(of, functions.ANY_TRUE, parts),
                lambda part: _call(functions.LOGICAL_NOT, part),
            )
        case TextComparison(value, test, part):
            return text_test(test, _value(body, value), _value(body, part))
        case NullTest(value, is_null):
            bound = body.bound(value.name) if isinstance(value, VariableText) else None
            if isinstance(bound, Node | Edge | Path) and not bound.optional:
                return scalar.Literal(not is_null)
            known = _call(functions.IS_NOT_NULL, _value(body, value))
            return _call(functions.LOGICAL_NOT, known) if is_null else known
    raise errors.TRUTH_VALUE.error(of.at, expression_text(of))


def _connected(of: Expression, function: str, tests: Sequence[rq.Value]) -> rq.Value:
    if not tests:
        return scalar.Literal(function == functions.ALL_TRUE)
    if len(tests) > functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, expression_text(of)[:60])
    return tests[0] if len(tests) == 1 else _call(function, *tests)


def _compared(left: rq.Value, sign: Name, right: rq.Value) -> rq.Value:
    match SIGNS.get(sign.text):
        case None:
            return matched(left, right, sign.at)
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


def matched(value: rq.Value, expression: rq.Value, at: Location) -> rq.Value:
    """``value =~ expression``, as a truth value.

    Raises:
        QueryError: E-TYPE for a text that is not a valid regular expression.
    """
    if isinstance(expression, scalar.Literal) and isinstance(expression.value, str):
        reason = regular_texts.fault(expression.value)
        if reason is not None:
            fault = errors.NO_EXPRESSION
            raise fault.because(f"{fault.reason}: {reason}", "").error(at, expression.value)
    return _call("TEXT_MATCHES", value, expression)


def members_of(members: Expression) -> tuple[Expression, ...]:
    """The members of a list that is written out.

    Raises:
        QueryError: E-LATER for other lists, E-TYPE for a value that is not a list.
    """
    match written_out(members):
        case ListOf(items):
            return items
        case Literal(None):
            return (members,)
        case Literal():
            raise errors.NO_MEMBERS.error(members.at, expression_text(members))
    raise errors.LISTS.error(members.at, expression_text(members))


def beside_members(body: Body, of: InList) -> list[tuple[rq.Value, rq.Value]]:
    """The value of ``value IN members`` beside each member; they are equal if it is that member."""
    of_path = on_path(body, of.members)
    if of_path is None:
        left = value_of(body, of.value)
        return [(left, value_of(body, member)) for member in members_of(of.members)]
    if is_of_nodes(of.members):
        left = value_of(body, of.value)
        return [(left, Variable(node.variable)) for node in of_path if isinstance(node, Node)]
    edge = edge_of(body, of.value)
    if edge is None:
        raise errors.OTHER_MEMBER.error(of.value.at, expression_text(of.value))
    return [(Variable(edge), Variable(one.name)) for one in of_path if isinstance(one, Edge)]


def members(body: Body, list_: Expression) -> Sequence[Bound]:
    """What the members of a list are, which is written out or those of a path.

    Raises:
        QueryError: E-LATER for other lists, E-TYPE for a value that is not a list.
    """
    if isinstance(list_, Literal):
        raise errors.NO_MEMBERS.error(list_.at, expression_text(list_))
    of_path = on_path(body, list_)
    if of_path is not None:
        return of_path
    return [Value(value_of(body, member)) for member in members_of(list_)]


def in_turn(body: Body, of: Quantified) -> Iterator[int]:
    """Binds the variable of ``all`` and its like to each member of the list in turn."""
    for place, member in enumerate(members(body, of.members)):
        with body.naming(of.variable, member):
            yield place


def _called(body: Body, of: Call) -> rq.Value:
    function = of.function.text.lower()
    text = expression_text(of)
    if function in AGGREGATES:
        raise errors.NO_AGGREGATE.error(of.at, of.function.text)
    if of.distinct or of.is_star:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    if function in (*moments.TIMES, *moments.STARTS) or function.startswith("duration"):
        return _moment(body, of, function, text)
    if function == "timestamp" and not of.arguments:
        raise errors.NOW.error(of.at, text)
    if function in DISTANCES:
        return _distance(body, of)
    if function == "point":
        raise errors.POINT.error(of.at, text)
    if path_of(of) is not None:
        raise errors.LISTS.error(of.at, text)
    if function == "size" and len(of.arguments) == 1:
        of_path = on_path(body, of.arguments[0])
        if of_path is not None:
            return scalar.Literal(len(of_path))
    if len(of.arguments) == 1 and (found := function_of(body, of, function)) is not None:
        return found
    value = called(function, [_value(body, argument) for argument in of.arguments])
    if value is None:
        raise errors.NO_FUNCTION.error(of.at, of.function.text)
    return value


def _moment(body: Body, of: Call, function: str, text: str) -> rq.Value:
    """A time, or a length of time."""
    if function in moments.DIFFERENCES and len(of.arguments) == 2:
        first, last = (_value(body, argument) for argument in of.arguments)
        return _call("-", last, first)
    unit = body.program.time_unit
    if function in moments.STARTS and len(of.arguments) == 2:
        period, time = of.arguments
        start = moments.start_of(period, _value(body, time), moments.tick(unit, of.at, text), text)
        return start
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

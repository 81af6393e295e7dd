"""Translates expressions to values of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...algebra import functions, scalar
from ...algebra.scalar import DEEPEST_VALUE
from ..parsing.tokens import SIGNS
from ..query import regular_query as rq
from ..query.atoms import Variable
from ..query.regular_query import Comparison
from . import errors, moments
from .bodies import Body
from .expression_text import expression_text
from .functions import NULL, called, computed, depth_of, matched, text_test
from .known_lists import ELEMENTS, Lists, both, is_list, with_kept
from .leaves import HasLabels, Literal, Name, Parameter, Property
from .leaves import Variable as VariableText
from .members import of_members
from .path_tests import is_of_nodes, path_of
from .points import DISTANCES, distance
from .scope import Edge, Member, Node, Path
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Comprehension,
    Computed,
    Exists,
    Expression,
    Indexed,
    InList,
    Known,
    ListOf,
    MapOf,
    MatchCount,
    MatchList,
    Not,
    NullTest,
    Or,
    Quantified,
    Reduced,
    Sliced,
    TextComparison,
)
from .syntax import Comparison as ComparisonText
from .unsupported import FUNCTIONS
from .variables import (
    OF_ONE,
    edge_of,
    function_of,
    of_end,
    part_of,
    presence_of,
    property_of,
    variable_value,
)

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
        case Comprehension() | Sliced():
            raise errors.LISTS.error(of.at, expression_text(of))
        case Indexed():
            return _chosen(body, of, lambda name: _value(body, name))
        case Reduced():
            return lists_of(body).reduced(of)
        case Known(value):
            return value
        case MatchList(_, _, _, at):
            raise errors.MATCH_LIST.error(at, expression_text(of))
        case MapOf(_, at):
            raise errors.MAP_VALUE.error(at, expression_text(of))
        case Computed(function, arguments):
            if is_list(of):
                raise errors.LISTS.error(of.at, expression_text(of))
            return computed(function, [_value(body, part) for part in arguments])
        case Call():
            return _called(body, of)
        case Access(owner, key):
            if (property_ := of_end(body, owner, key, expression_text(of))) is not None:
                return property_
            if lists_of(body).choices(owner) is not None:
                return _chosen(body, owner, lambda n: property_of(body, Property(n.name, key)))
            return part_of(body, _value(body, owner), key, expression_text(of))
        case Case():
            return _case(body, of)
        case (
            ComparisonText() | InList() | TextComparison() | NullTest() | HasLabels() | Exists()
            | MatchCount() | And() | Or() | Not() | Quantified()
        ):  # fmt: skip
            return _test(body, of)


def lists_of(body: Body) -> Lists:
    """The lists of a body."""
    return Lists(body, value_of)


def _chosen(body: Body, of: Expression, value: Callable[[VariableText], rq.Value]) -> rq.Value:
    """A value of a member of a list."""
    lists = lists_of(body)
    choices = lists.choices(of)
    assert choices is not None
    return lists.of_choices(of, choices, value)


def _case(body: Body, of: Case) -> rq.Value:
    parts: list[rq.Value] = []
    subject = None if of.subject is None else _subject(body, of.subject, of)
    for test, value in of.branches:
        found = _value(body, test)
        parts.append(found if subject is None else _call(functions.EQUAL, subject, found))
        parts.append(_value(body, value))
    last = NULL if of.otherwise is None else _value(body, of.otherwise)
    if len(parts) > 2 * functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, "CASE")
    return _call(functions.CASE_WHEN, *parts, last)


def _subject(body: Body, subject: Expression, of: Case) -> rq.Value:
    """The value that CASE compares; of a relationship that is compared with nulls alone, null."""
    bound = body.bound(subject.name) if isinstance(subject, VariableText) else None
    is_null = all(isinstance(test, Literal) and test.value is None for test, _ in of.branches)
    return NULL if isinstance(bound, Edge) and is_null else _value(body, subject)


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
            pairs = zip(values, signs, values[1:], strict=False)
            tests = [_compared(body, left, sign, right) for left, sign, right in pairs]
            return _connected(of, functions.ALL_TRUE, tests)
        case InList(value):
            if (edge := edge_of(body, value)) is not None:
                raise errors.EDGE_COLUMN.error(value.at, edge)
            tests = [
                both(kept, _call(functions.EQUAL, left, right))
                for left, right, kept in beside_members(body, of)
            ]
            return _connected(of, functions.ANY_TRUE, tests)
        case Quantified(quantifier):
            tests = [
                with_kept(quantifier, member, _value(body, of.condition))
                for _, member in in_turn(body, of)
            ]
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
            is_there = isinstance(bound, Node | Edge | Path) and not bound.optional
            if is_there or lists_of(body).named(value) is not None:
                return scalar.Literal(not is_null)
            known = _call(functions.IS_NOT_NULL, presence_of(body, value) or _value(body, value))
            return _call(functions.LOGICAL_NOT, known) if is_null else known
    raise errors.TRUTH_VALUE.error(of.at, expression_text(of))


def _connected(of: Expression, function: str, tests: Sequence[rq.Value]) -> rq.Value:
    if not tests:
        return scalar.Literal(function == functions.ALL_TRUE)
    if len(tests) > functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, expression_text(of)[:60])
    return tests[0] if len(tests) == 1 else _call(function, *tests)


def _compared(body: Body, one: Expression, sign: Name, other: Expression) -> rq.Value:
    if (alike := lists_alike(body, one, sign, other)) is not None:
        return alike
    left, right = _value(body, one), _value(body, other)
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


def lists_alike(body: Body, one: Expression, sign: Name, other: Expression) -> rq.Value | None:
    """Whether two lists are equal, or different; None if either is not a list.

    Raises:
        QueryError: E-LATER for other comparisons of lists.
    """
    lists = lists_of(body)
    sides = lists.named(one), lists.named(other)
    if sides[0] is None or sides[1] is None:
        return None
    if SIGNS.get(sign.text) not in ("=", "<>"):
        raise errors.ORDER_OF_LISTS.error(sign.at, sign.text)
    equal = lists.equal(lists.known(one), lists.known(other), one)
    return equal if SIGNS[sign.text] == "=" else _call(functions.LOGICAL_NOT, equal)


def beside_members(body: Body, of: InList) -> list[tuple[rq.Value, rq.Value, rq.Value | None]]:
    """The value of ``value IN members`` beside each member, and whether the list has that member.

    Raises:
        QueryError: E-LATER for other lists, E-TYPE for a value that is not a list.
    """
    lists = lists_of(body)
    if of.members == Literal(None, of.at):
        return [(_value(body, of.value), NULL, None)]
    members = lists.known(of.members).members
    edge = edge_of(body, of.value)
    edges = [member for member in members if isinstance(member.bound, Edge)]
    is_of_edges = bool(edges) or _is_of_relationships(of.members)
    if is_of_edges != (edge is not None) or len(edges) not in (0, len(members)):
        if edge is not None:
            raise errors.EDGE_COLUMN.error(of.value.at, edge)
        raise errors.OTHER_MEMBER.error(of.value.at, expression_text(of.value))
    if edge is not None:
        pairs = [(one.bound, one.kept) for one in members]
        return [(Variable(edge), Variable(e.name), k) for e, k in pairs if isinstance(e, Edge)]
    left = _value(body, of.value)
    return [(left, lists.value(one.bound, of.members), one.kept) for one in members]


def _is_of_relationships(list_: Expression) -> bool:
    return path_of(list_) is not None and not is_of_nodes(list_)


def in_turn(body: Body, of: Quantified) -> Iterator[tuple[int, Member]]:
    """Binds the variable of ``all`` and its like to each member of the list in turn; gives their
    numbers.

    Raises:
        QueryError: E-LATER for other lists, E-TYPE for a value that is not a list.
    """
    return lists_of(body).in_turn(of.variable, of.members)


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
        return distance(body, of, _value)
    if function == "point":
        raise errors.POINT.error(of.at, text)
    if path_of(of) is not None:
        raise errors.LISTS.error(of.at, text)
    if len(of.arguments) == 1 and (of_list := _of_list(body, of, function)) is not None:
        return of_list
    if len(of.arguments) == 1 and (found := function_of(body, of, function)) is not None:
        return found
    value = called(function, [_value(body, argument) for argument in of.arguments])
    if value is None:
        fault = FUNCTIONS.get(function, errors.NO_FUNCTION)
        raise fault.error(of.at, of.function.text)
    return value


def _of_list(body: Body, of: Call, function: str) -> rq.Value | None:
    """A function of a list or of one of its members; None for another one."""
    lists, (argument,) = lists_of(body), of.arguments
    if function in ELEMENTS and lists.choices(of) is not None:
        return _chosen(body, of, lambda name: _value(body, name))
    if function in OF_ONE and lists.choices(argument) is not None:
        return _chosen(body, argument, lambda name: _called(body, replace(of, arguments=(name,))))
    list_ = lists.named(argument)
    if list_ is None or function == "count":
        return None
    match function:
        case "size" | "length":
            return lists.size(lists.known(argument), argument)
        case "isempty":
            size = lists.size(lists.known(argument), argument)
            return _call(functions.EQUAL, size, scalar.Literal(0))
    raise errors.LISTS.error(of.at, expression_text(of))


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

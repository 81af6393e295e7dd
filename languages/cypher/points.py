"""Points, which have no value in rules: their coordinates have, and the distance of two of them."""

from __future__ import annotations

from collections.abc import Callable

from ..query import regular_query as rq
from . import errors
from .bodies import Body
from .expression_text import expression_text
from .leaves import Name, Property
from .leaves import Variable as VariableText
from .scope import Point
from .syntax import Call, Expression, MapOf
from .variables import property_of

DISTANCES = ("distance", "point.distance")
"""The functions of two points."""
ValueOf = Callable[[Body, Expression], rq.Value]
"""Returns the value of an expression."""


def point_of(body: Body, of: Expression, value_of: ValueOf) -> Point | None:
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
            found = {key.text.lower(): value_of(body, value) for key, value in values}
        case VariableText(name):
            keys = ("latitude", "longitude")
            found = {key: property_of(body, Property(name, Name(key, name.at))) for key in keys}
        case _:
            raise errors.NO_POINT.error(of.at, expression_text(of))
    for on_earth, keys in ((False, ("x", "y")), (True, ("latitude", "longitude"))):
        if found.keys() == set(keys):
            return Point(on_earth, (found[keys[0]], found[keys[1]]))
    raise errors.NO_POINT.error(of.at, expression_text(of))


def distance(body: Body, of: Call, value_of: ValueOf) -> rq.Value:
    """The distance of two points.

    Raises:
        QueryError: E-TYPE for other values, or points of different coordinates, E-FUNC for another
            number of them.
    """
    points = [point_of(body, argument, value_of) for argument in of.arguments]
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
    return rq.Computed(function, (*one.coordinates, *other.coordinates))

"""Lists that RETURN gives: those that are written out, of members of others, and on paths.

No operator reads the members of such a list, and no condition compares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra import functions, scalar
from ..query import regular_query as rq
from . import errors
from .bodies import Body
from .expression_text import expression_text
from .functions import NULL
from .known_lists import Lists, is_list
from .leaves import Literal, Name
from .scope import Bound, Edge, KnownList, ListColumn
from .syntax import Case, Comparison, Expression, MapOf, NullTest
from .values import value_of


def list_value(body: Body, of: Expression) -> rq.Value | None:
    """What rules compute a list by; None for an expression that is not a list.

    Raises:
        QueryError: E-LATER for a list of relationships, and for members of a list that are not
            known.
    """
    list_ = Lists(body, value_of).named(of)
    return None if list_ is None else column_of(body, list_, of)


def column_of(body: Body, list_: KnownList | ListColumn, of: Expression) -> rq.Value:
    """What rules compute a list by, which is the expression ``of``."""
    if isinstance(list_, ListColumn):
        return list_.value
    if any(isinstance(member.bound, KnownList) for member in list_.members):
        inner = [_text_of(body, member.bound, of) for member in list_.members]
        return rq.Computed(functions.NESTED, (_list(list_, inner, of),))
    if any(isinstance(member.bound, Edge) for member in list_.members):
        raise errors.LISTS.error(of.at, expression_text(of))
    values = [Lists(body, value_of).value(member.bound, of) for member in list_.members]
    return _list(list_, values, of)


def _text_of(body: Body, of_list: Bound, of: Expression) -> rq.Value:
    """The text of a list in a list."""
    is_plain = isinstance(of_list, KnownList) and not any(
        isinstance(member.bound, KnownList) for member in of_list.members
    )
    if not is_plain or not isinstance(of_list, KnownList):
        raise errors.MIXED_LIST.error(of.at, expression_text(of))
    return column_of(body, of_list, of)


def _list(list_: KnownList, values: Sequence[rq.Value], of: Expression) -> rq.Value:
    """The list of values of members."""
    if len(values) > functions.MOST_ARGUMENTS:
        raise errors.LONG.error(of.at, expression_text(of)[:60])
    if list_.is_whole:
        return rq.Computed(functions.LIST_OF, tuple(values))
    parts: list[rq.Value] = []
    for member, value in zip(list_.members, values, strict=True):
        parts += [scalar.Literal(True) if member.kept is None else member.kept, value]
    return rq.Computed(functions.LIST_WHERE, tuple(parts))


def is_nested(of: Expression) -> bool:
    """Whether a value that ``collect`` takes is a list or a map, or may be one."""
    match of:
        case Case(_, branches, otherwise):
            return any(is_nested(value) for _, value in branches) or (
                otherwise is not None and is_nested(otherwise)
            )
    return is_list(of) or isinstance(of, MapOf)


def nested_value(body: Body, of: Expression) -> rq.Value:
    """The text of a list or a map that ``collect`` takes.

    Raises:
        QueryError: as :func:`list_value`, and E-LATER for another value.
    """
    match of:
        case MapOf(owner=owner) if owner is not None:
            there, map_ = NullTest(owner, False), replace(of, owner=None)
            is_sure = value_of(body, there) == scalar.Literal(True)
            given = map_ if is_sure else Case(None, ((there, map_),), None, of.at)
            return nested_value(body, given)
        case MapOf(values):
            entries = [(Literal(key.text, key.at), value) for key, value in values]
            parts = [value_of(body, part) for entry in entries for part in entry]
            if not 1 < len(parts) <= functions.MOST_ARGUMENTS:
                raise errors.MAP_VALUE.error(of.at, expression_text(of)[:60])
            return rq.Computed(functions.MAP_OF, tuple(parts))
        case Case(None, branches, otherwise):
            parts = []
            for test, value in branches:
                parts += [value_of(body, test), nested_value(body, value)]
            last = Literal(None, of.at) if otherwise is None else otherwise
            return rq.Computed(functions.CASE_WHEN, (*parts, nested_value(body, last)))
        case Case(subject, branches) if subject is not None:
            name = Name("=", of.at)
            tests = [(Comparison((subject, test), (name,)), value) for test, value in branches]
            return nested_value(body, replace(of, subject=None, branches=tuple(tests)))
        case Literal(None):
            return NULL
    list_ = Lists(body, value_of).named(of)
    is_nest = isinstance(list_, KnownList) and any(
        isinstance(member.bound, KnownList) for member in list_.members
    )
    if list_ is None or is_nest:
        raise errors.LISTS.error(of.at, expression_text(of))
    return column_of(body, list_, of)

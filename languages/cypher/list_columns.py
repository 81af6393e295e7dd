"""Lists that RETURN gives: those that are written out, of members of others, and on paths.

No operator reads the members of such a list, and no condition compares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra import functions
from ..query import regular_query as rq
from ..query.atoms import Location, Variable
from . import errors
from .bodies import Body
from .constant_lists import written_out
from .expression_text import expression_text
from .functions import NULL
from .members import on_path
from .path_tests import LISTS, is_of_nodes, path_of
from .scope import Bound, ListColumn, Node, Path, Value
from .syntax import Call, Case, Comparison, Expression, ListOf, Literal, MapOf, Mapped, Name
from .syntax import Variable as VariableText
from .values import value_of
from .variables import IDENTITIES


def list_column(body: Body, of: Expression) -> ListColumn | None:
    """The list that an expression is; None for an expression that is none.

    Raises:
        QueryError: E-LATER for members of a list that are not known.
    """
    match of := written_out(of):
        case VariableText(name):
            bound = body.bound(name)
            return bound if isinstance(bound, ListColumn) and not body.is_outer(name) else None
        case ListOf(items):
            return _of_values([value_of(body, item) for item in items], of.at, of)
        case Mapped():
            return _mapped(body, of)
        case Call(_, (VariableText(),)) if (path := path_of(of, LISTS)) is not None:
            bound = body.bound(path)
            if bound == Value(NULL):
                raise errors.OPTIONAL_PATH.error(of.at, expression_text(of))
            return _on_path(body, bound, of) if isinstance(bound, Path) else None
    return None


def is_nested(of: Expression) -> bool:
    """Whether a value that ``collect`` takes is a list or a map, or may be one."""
    match of:
        case Case(_, branches, otherwise):
            return any(is_nested(value) for _, value in branches) or (
                otherwise is not None and is_nested(otherwise)
            )
    return isinstance(of, ListOf | Mapped | MapOf)


def nested_value(body: Body, of: Expression) -> rq.Value:
    """The text of a list or a map that ``collect`` takes.

    Raises:
        QueryError: as :func:`list_column`, and E-LATER for another value.
    """
    match of:
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
    list_ = list_column(body, of)
    if list_ is None or list_.value is None:
        raise errors.LISTS.error(of.at, expression_text(of))
    return list_.value


def _on_path(body: Body, path: Path, of: Call) -> ListColumn:
    """The nodes or the relationships of a path."""
    of_nodes = is_of_nodes(of)
    if path.steps is None and path.shortest:
        listed = rq.Property(path.name, of.function.text.lower(), of.at)
        return ListColumn(listed, of_nodes=of_nodes)
    if path.steps is None:
        raise errors.READ_UNBOUNDED.error(of.at, expression_text(of))
    members: Sequence[Bound] = on_path(body, of) or ()
    nodes = [Variable(one.variable) for one in members if isinstance(one, Node)]
    value = _list(nodes, of.at, of) if len(nodes) == len(members) else None
    return ListColumn(value, tuple(members), of_nodes)


def _mapped(body: Body, of: Mapped) -> ListColumn:
    """A value of each member of a list."""
    members = list_column(body, of.members)
    if members is None:
        raise errors.LISTS.error(of.members.at, expression_text(of.members))
    if members.of_nodes and _is_identity(of.value, of.variable.text):
        return members
    if members.members is None:
        raise errors.READ_SHORTEST.error(of.at, expression_text(of))
    values: list[rq.Value] = []
    for member in members.members:
        with body.naming(of.variable, member):
            values.append(value_of(body, of.value))
    return _of_values(values, of.at, of)


def _is_identity(value: Expression, name: str) -> bool:
    """Whether an expression is the identifier of a node."""
    match value:
        case Call(function, (argument,)) if function.text.lower() in IDENTITIES:
            value = argument
    return isinstance(value, VariableText) and value.name.text == name


def _of_values(values: Sequence[rq.Value], at: Location, of: Expression) -> ListColumn:
    return ListColumn(_list(values, at, of), tuple(map(Value, values)))


def _list(values: Sequence[rq.Value], at: Location, of: Expression) -> rq.Value:
    if len(values) > functions.MOST_ARGUMENTS:
        raise errors.LONG.error(at, expression_text(of)[:60])
    return rq.Computed(functions.LIST_OF, tuple(values))

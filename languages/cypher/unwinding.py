"""UNWIND: a variable for each member of a list, of which each makes rules of its own.

The list is written out, or the nodes or relationships of a path that a MATCH before names. The
relationships of such a path are atoms by themselves, for each length of the path in other rules; a
shortest path binds its members by its own atom. A list that a WITH collects is one atom.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra import scalar
from ..query.regular_query import Comparison
from . import errors
from .bodies import Body
from .clauses import Unwind
from .collected import list_of, parts_of_sum, unwind_list
from .conditions import FALSE, hold
from .expression_text import expression_text
from .functions import NULL
from .leaves import Literal
from .leaves import Variable as VariableText
from .path_tests import path_of
from .scope import Path, Value
from .shortest_members import shortest_path_of, unwind_shortest
from .syntax import Comprehension
from .values import lists_of


def unwind(body: Body, clause: Unwind) -> None:
    """Binds the variable of a clause to one member of its list, as the alternative says.

    Raises:
        QueryError: E-SYNTAX for a name that is bound, E-SAFE for an unknown path, E-LATER for other
            lists.
    """
    name, list_ = clause.variable, clause.members
    if name.text in body.scope:
        raise errors.REBOUND.error(name.at, name.text)
    if (parts := parts_of_sum(body, list_)) is not None:
        collected = list_of(body, parts[body.pick(len(parts))])
        assert collected is not None
        unwind_list(body, clause, collected)
        return
    if (shortest := shortest_path_of(body, list_)) is not None:
        unwind_shortest(body, clause, shortest)
        return
    if isinstance(list_, Comprehension):
        shortest = shortest_path_of(body, list_.members)
        if shortest is not None:
            _unwind_chosen(body, clause, list_, shortest)
            return
    path = path_of(list_)
    if path is not None and body.bound(path) == Value(NULL):
        raise errors.UNWOUND_NOTHING.without_rows(list_.at, expression_text(list_))
    is_null = list_ == Literal(None, list_.at)
    members = () if is_null else lists_of(body).known(list_).members
    if not members and path is not None:
        raise errors.UNWOUND_NOTHING.without_rows(list_.at, expression_text(list_))
    if not members:  # null and [] have no members, and give no row
        body.conditions.append(FALSE)
        body.scope[name.text] = Value(NULL)
        return
    member = members[body.pick(len(members))]
    body.scope[name.text] = member.bound
    if member.kept is not None:
        body.conditions.append(Comparison(member.kept, "=", scalar.Literal(True), list_.at))


def _unwind_chosen(body: Body, clause: Unwind, list_: Comprehension, path: Path) -> None:
    """Binds the variable of a clause to a chosen member of a shortest path, or a value of it."""
    member = list_.variable
    with body.naming(member, Value(NULL)):
        unwind_shortest(body, replace(clause, variable=member, members=list_.members), path)
        if list_.condition is not None:
            hold(body, list_.condition)
        value = VariableText(member) if list_.value is None else list_.value
        bound = lists_of(body).bound(value)
    body.scope[clause.variable.text] = bound

"""UNWIND: a variable for each member of a list, of which each makes rules of its own.

The list is written out, or the nodes or relationships of a path that a MATCH before names. The
relationships of such a path are atoms by themselves, for each length of the path in other rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..query.shortest_paths import NODES, RELATIONSHIPS
from . import errors
from .bodies import Body
from .clauses import Match, Unwind, With
from .conditions import FALSE
from .functions import NULL
from .scope import Edge, Node, Path, Value
from .syntax import Call, Expression, Literal, Name, Variable
from .values import members_of, value_of


def paths_unwound(clauses: Sequence[Match | With | Unwind]) -> frozenset[str]:
    """The names of the paths that an UNWIND reads, also those that they have before a WITH."""
    names: set[str] = set()
    for clause in reversed(clauses):
        if isinstance(clause, Unwind) and (path := _path_of(clause.members)) is not None:
            names.add(path.text)
        elif isinstance(clause, With):
            for item in clause.projection.items:
                renamed = item.alias is not None and item.alias.text in names
                if renamed and isinstance(item.value, Variable):
                    names.add(item.value.name.text)
    return frozenset(names)


def unwind(body: Body, clause: Unwind) -> None:
    """Binds the variable of a clause to one member of its list, as the alternative says.

    Raises:
        QueryError: E-SYNTAX for a name that is bound, E-SAFE for an unknown path, E-LATER for other
            lists.
    """
    name, list_ = clause.variable, clause.members
    if name.text in body.scope:
        raise errors.REBOUND.error(name.at, name.text)
    if (path := _path_of(list_)) is not None:
        on_path = _on_path(body, path, list_)
        body.scope[name.text] = on_path[body.pick(len(on_path), clause.at, "UNWIND")]
        return
    members = members_of(list_)
    if isinstance(list_, Literal) or not members:  # null and [] have no members, and give no row
        body.conditions.append(FALSE)
        body.scope[name.text] = Value(NULL)
        return
    member = members[body.pick(len(members), clause.at, "UNWIND")]
    body.scope[name.text] = Value(value_of(body, member))


def _path_of(list_: Expression) -> Name | None:
    """The path of ``nodes(path)`` and ``relationships(path)``."""
    match list_:
        case Call(function, (Variable(path),)) if function.text.lower() in (NODES, RELATIONSHIPS):
            return path
    return None


def _on_path(body: Body, path: Name, list_: Expression) -> Sequence[Node | Edge]:
    """The nodes or the relationships of a path."""
    bound = body.bound(path)
    if bound is None:
        raise errors.UNBOUND.error(path.at, path.text)
    if not isinstance(bound, Path):
        fault = errors.UNWOUND_BEHIND if isinstance(bound, Value) else errors.NO_PATH
        raise fault.error(path.at, path.text)
    if bound.steps is None:
        raise errors.UNWOUND_SHORTEST.error(path.at, path.text)
    assert isinstance(list_, Call)
    if list_.function.text.lower() == NODES:
        return [Node(of, tuple(body.labels_of(of))) for of in bound.steps.nodes]
    if not bound.steps.relationships:
        raise errors.UNWOUND_NOTHING.without_rows(path.at, path.text)
    return bound.steps.relationships

"""The nodes and the relationships of shortest paths, one by one.

``UNWIND nodes(p) AS n`` lets the atom of a shortest path bind its vertices in turn, and ``UNWIND
relationships(p) AS r`` the ends of its steps: one match becomes one for each. A shortest path has
no node and no relationship twice.

``shortestPath`` has one path for two nodes. So a node is on the path if it is a value of a list by
these two (:mod:`headrace.languages.cypher.collected`), and ``any`` is a rule over the two.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..query.atoms import PathAtom, Variable
from ..query.regular_query import Rule
from . import errors
from .bodies import Body, require_any
from .clauses import Unwind
from .collected import list_of
from .expression_text import expression_text
from .leaves import Name, Quantifier
from .path_tests import is_of_nodes, path_of
from .patterns import Hold
from .program import Choices, alternatives
from .scope import Edge, Members, Node, Path
from .syntax import Expression, Quantified

_OF_ALL: Final = (Quantifier.ALL, Quantifier.NONE)


def shortest_path_of(body: Body, list_: Expression) -> Path | None:
    """The shortest path of whose nodes or relationships a list is; None for another list.

    A path without relationships does not count, since its node is known.
    """
    name = path_of(list_)
    if name is None or body.is_outer(name):
        return None
    bound = body.bound(name)
    is_searched = isinstance(bound, Path) and bound.shortest and bound.steps is None
    return bound if isinstance(bound, Path) and is_searched else None


def unwind_shortest(body: Body, clause: Unwind, path: Path) -> None:
    """Binds the variable of a clause to each node or each relationship of a shortest path.

    A second UNWIND of the path reads it by an atom of its own.

    Raises:
        QueryError: E-LATER for a second UNWIND of all shortest paths.
    """
    number, atom = _atom_of(body, path)
    member, over = _member(body, path, clause.variable, clause.members)
    body.scope[clause.variable.text] = member
    if not atom.over:
        body.atoms[number] = replace(atom, over=over)
    elif atom.shortest == "shortest":
        body.atoms.append(replace(atom, location=clause.at, path=None, over=over))
    else:
        raise errors.UNWOUND_AGAIN.error(clause.members.at, expression_text(clause.members))


def require_some(body: Body, of: Quantified, path: Path, hold: Hold, *, positive: bool) -> None:
    """Requires that a member of a shortest path satisfies the condition of ``any``.

    With ``positive`` False it requires the negation, which is such a condition of ``none`` and
    ``all``. The path with the member is a rule of its own, so that it changes no multiplicity.

    Raises:
        QueryError: E-LATER for a condition of all members, and for all shortest paths.
    """
    _, atom = _atom_of(body, path)
    wanted = of.quantifier is not Quantifier.ALL
    is_of_some = of.quantifier is Quantifier.ANY if positive else of.quantifier in _OF_ALL
    if not is_of_some or atom.shortest != "shortest":
        raise errors.READ_SHORTEST.error(of.members.at, expression_text(of.members))

    def build(choices: Choices) -> Body:
        inside = body.inner(choices, counted=False)
        member, over = _member(inside, path, of.variable, of.members)
        inside.outer.update(path.ends)
        inside.atoms.append(replace(atom, path=None, over=over))
        with inside.naming(of.variable, member):
            hold(inside, of.condition, wanted)
        return inside

    require_any(body, alternatives(build), "on_path", of.members.at)


def _member(
    body: Body, path: Path, name: Name, list_: Expression
) -> tuple[Node | Edge, tuple[Variable, ...]]:
    """What a name of a node or relationship of a path is bound to, and the terms of its atom."""
    own = body.new(name)
    if is_of_nodes(list_):
        return Node(own), (Variable(own),)
    ends = body.new(None), body.new(None)
    return Edge(own, path.types, ends, only_ends=True), tuple(map(Variable, ends))


def is_by_rows(body: Body, list_: Expression) -> bool:
    """Whether the values of a list are rows of a rule: of one that a WITH collects, or that a
    shortest path has."""
    return list_of(body, list_) is not None or shortest_path_of(body, list_) is not None


def by_rows(body: Body, list_: Expression) -> Members | None:
    """A list whose values are rows of a rule; None for another list.

    Raises:
        QueryError: E-LATER for relationships of shortest paths, and for all shortest paths.
    """
    path = shortest_path_of(body, list_)
    if path is None:
        return list_of(body, list_)
    _, atom = _atom_of(body, path)
    if not is_of_nodes(list_) or atom.shortest != "shortest":
        raise errors.READ_SHORTEST.error(list_.at, expression_text(list_))
    head, ends, node = body.program.fresh("on_path"), (Variable("x"), Variable("y")), Variable("n")
    on_path = replace(atom, source=ends[0], target=ends[1], path=None, over=(node,))
    names = tuple(one.name for one in (*ends, node))
    body.program.add(Rule(head, names, (on_path,), list_.at))
    return Members(head, path.ends, (), False)


def _atom_of(body: Body, path: Path) -> tuple[int, PathAtom]:
    """The atom of a path, and its number in the body."""
    return next(
        (number, atom)
        for number, atom in enumerate(body.atoms)
        if isinstance(atom, PathAtom) and atom.path == path.name
    )

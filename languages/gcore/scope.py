"""The kinds of a statement's variables: vertices, edges or paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from . import errors
from .errors import LATER, Fault
from .syntax import (
    And,
    Basic,
    Comparison,
    Condition,
    Edge,
    Macro,
    Name,
    Node,
    Not,
    Or,
    Path,
    Pattern,
    VertexComparison,
)


class Kind(Enum):
    """The kind of thing that a variable is bound to."""

    VERTEX = "a vertex"
    EDGE = "an edge"
    PATH = "a path"


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables by kind; ``bound`` are the vertices in MATCH, without those only in WHERE."""

    vertices: frozenset[str]
    edges: frozenset[str]
    paths: frozenset[str]
    bound: frozenset[str]

    def check_vertex(self, name: Name, unbound: Fault) -> None:
        """Checks that a name is a vertex that MATCH binds; ``unbound`` is the fault otherwise.

        Raises:
            QueryError: E-LATER for edges, E-PATHVAR for paths, or ``unbound``.
        """
        if name.text in self.edges:
            raise LATER["edge value"].error(name.at, name.text)
        if name.text in self.paths:
            raise errors.PATH_AS_VALUE.error(name.at, name.text)
        if name.text not in self.bound:
            raise unbound.error(name.at, name.text)

    def check_path(self, name: Name) -> None:
        """Checks that a name is a path.

        Raises:
            QueryError: E-SYNTAX for vertices and edges, E-SAFE for an unbound name.
        """
        if name.text in self.vertices | self.edges:
            raise errors.NO_STORED_PATH.error(name.at, name.text)
        if name.text not in self.paths:
            raise errors.NO_PATH.error(name.at, name.text)

    def check_edge(self, name: Name) -> None:
        """Checks that a name is an edge.

        Raises:
            QueryError: E-SYNTAX for vertices, E-PATHVAR for paths, E-SAFE for an unbound name.
        """
        if name.text in self.vertices:
            raise errors.BARE_VERTEX.error(name.at, name.text)
        if name.text in self.paths:
            raise errors.PATH_AS_VALUE.error(name.at, name.text)
        if name.text not in self.edges:
            raise errors.NO_EDGE.error(name.at, name.text)


def scope_of(basic: Basic) -> Scope:
    """The variables of the MATCHes of a statement.

    Raises:
        QueryError: as :func:`scope_of_patterns`.
    """
    blocks = [block for match in basic.matches for block in (match.block, *match.optional)]
    matched = [matched.pattern for block in blocks for matched in block.matched]
    tested = [pattern for block in blocks for pattern in _patterns_in(block.condition)]
    whole = scope_of_patterns((*matched, *tested))
    return replace(whole, bound=scope_of_patterns(matched).bound)


def scope_of_macro(macro: Macro) -> Scope:
    """The variables of a PATH.

    Raises:
        QueryError: as :func:`scope_of_patterns`.
    """
    return scope_of_patterns((*macro.patterns, *_patterns_in(macro.condition)))


def scope_of_patterns(patterns: Iterable[Pattern]) -> Scope:
    """The variables of some patterns.

    Raises:
        QueryError: E-SYNTAX for a variable of two kinds, E-PATHVAR if one kind is a path, E-LATER
            for a path in two places.
    """
    kinds: dict[str, Kind] = {}
    for pattern in patterns:
        for name, kind in _variables(pattern):
            earlier = kinds.get(name.text)
            if earlier not in {None, kind}:
                raise _two_kinds(earlier, kind).error(name.at, name.text)
            if earlier is kind is Kind.PATH:
                raise LATER["same path"].error(name.at, name.text)
            kinds[name.text] = kind
    vertices, edges, paths = (
        frozenset(name for name, kind in kinds.items() if kind is requested) for requested in Kind
    )
    return Scope(vertices, edges, paths, bound=vertices)


def _two_kinds(earlier: Kind | None, kind: Kind) -> Fault:
    if Kind.PATH in {earlier, kind}:
        return errors.PATH_AS_VALUE
    assert earlier is not None
    reason = f"it is {earlier.value} elsewhere, and {kind.value} here"
    return Fault("E-SYNTAX", reason, "give one of them another name")


def _variables(pattern: Pattern) -> Iterator[tuple[Name, Kind]]:
    """The variables of a pattern in the order of the text."""
    for node, link in zip(pattern.nodes, (*pattern.links, None), strict=True):
        if node.variable is not None:
            yield node.variable, Kind.VERTEX
        if isinstance(link, Edge | Path) and link.variable is not None:
            yield link.variable, Kind.EDGE if isinstance(link, Edge) else Kind.PATH


def _patterns_in(condition: Condition | None) -> Iterator[Pattern]:
    """The patterns of a condition, in the order of the text."""
    match condition:
        case Pattern():
            yield condition
        case VertexComparison(left, _, right) | Comparison(left, _, right):
            yield from (Pattern((side,), ()) for side in (left, right) if isinstance(side, Node))
        case Not(part):
            yield from _patterns_in(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _patterns_in(part)

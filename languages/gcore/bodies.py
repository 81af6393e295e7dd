"""Builds the body of one rule from patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..query.atoms import Atom, Location, Variable, VertexAtom
from ..query.conditions import with_names
from ..query.disjoint_sets import DisjointSets
from ..query.errors import QueryError
from ..query.regular_query import Condition, Output, Rule
from . import errors
from .conditions import Alternative
from .errors import Fault
from .sources import Source
from .syntax import Edge, Name, Node, Pattern


@dataclass(frozen=True, slots=True)
class Part:
    """One alternative of a block of a MATCH: patterns with their sources, and conditions.

    ``own`` are the variables of vertices and edges in the patterns of the block, ``tested`` those
    in its condition.
    """

    located: tuple[tuple[Pattern, Source], ...]
    holds: Alternative
    own: frozenset[str]
    tested: frozenset[str]

    @staticmethod
    def of(patterns: Sequence[tuple[Pattern, Source]], holds: Alternative) -> Part:
        """The patterns with their conditions; a pattern in a condition has the source of the last
        pattern."""
        source = patterns[-1][1]
        tests = tuple((pattern, source) for pattern in holds.patterns)
        tested = {name for pattern in holds.patterns for name in _names_in(pattern)}
        tested.update(name.text for pair in holds.equal for name in pair)
        tested.update(name.text for name in holds.compared)
        own = frozenset(name for pattern, _ in patterns for name in _names_in(pattern))
        return Part((*patterns, *tests), holds, own, frozenset(tested))

    @property
    def variables(self) -> frozenset[str]:
        """The variables of vertices and edges in patterns and conditions."""
        return self.own | self.tested

    @property
    def edges(self) -> frozenset[str]:
        """The variables of edges in its patterns."""
        return frozenset(name for pattern, _ in self.located for name in _edges_of(pattern))

    @property
    def is_complete(self) -> bool:
        """Whether the patterns bind all variables of the condition."""
        bound = {name for pattern, _ in self.located for name in _names_in(pattern)}
        return self.tested <= bound


def vertices_of(pattern: Pattern) -> Iterator[str]:
    """The variables of the vertices of a pattern, in the order of the text."""
    return (node.variable.text for node in pattern.nodes if node.variable is not None)


def _names_in(pattern: Pattern) -> Iterator[str]:
    yield from vertices_of(pattern)
    yield from _edges_of(pattern)


def _edges_of(pattern: Pattern) -> Iterator[str]:
    for link in pattern.links:
        if isinstance(link, Edge) and link.variable is not None:
            yield link.variable.text


@dataclass(slots=True)
class Body:
    """Atoms, conditions on their variables, and the vertices still to be bound.

    Attributes:
        anonymous: the unused variables for anonymous vertices.
        atoms: the atoms so far.
        conditions: the conditions so far.
        edges: the variables of edges, each with the fault of reading its properties; None if its
            properties can be read.
    """

    anonymous: Iterator[str]
    atoms: list[Atom] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    edges: dict[str, Fault | None] = field(default_factory=dict)
    _equal: list[tuple[Name, Name]] = field(default_factory=list)
    _compared: list[Name] = field(default_factory=list)
    _bound: dict[str, set[Source]] = field(default_factory=dict)
    _lone: list[tuple[Name, Source]] = field(default_factory=list)

    def variable(self, node: Node) -> str:
        """The variable of a node; a fresh one for an anonymous node."""
        return next(self.anonymous) if node.variable is None else node.variable.text

    def bind(self, name: str, *sources: Source) -> None:
        """Records that the atoms bind a variable to a vertex of these sources."""
        self._bound.setdefault(name, set()).update(sources)

    def sources_of(self, name: str) -> set[Source]:
        """The sources of the edges that bind a variable."""
        return self._bound.get(name, set())

    def require(self, node: Node, source: Source) -> None:
        """Requires that some edge of the same source binds a vertex without a label and edges.

        Raises:
            QueryError: E-SAFE for an anonymous vertex, which no edge can bind.
        """
        if node.variable is None:
            raise errors.ANY_VERTEX.error(node.at, "()")
        self._lone.append((node.variable, source))

    def test(self, predicate: str, variable: str, at: Location) -> int:
        """Requires a vertex to be in a vertex relation; returns the position of its atom."""
        place = next(
            (
                place
                for place, atom in enumerate(self.atoms)
                if isinstance(atom, VertexAtom)
                and (atom.predicate, atom.vertex) == (predicate, Variable(variable))
            ),
            len(self.atoms),
        )
        if place == len(self.atoms):
            self.atoms.append(VertexAtom(predicate, Variable(variable), at))
        return place

    def row(self, place: int) -> str:
        """The name of the vertex row of the atom at this position."""
        atom = self.atoms[place]
        assert isinstance(atom, VertexAtom)
        name = atom.edge or next(self.anonymous)
        self.atoms[place] = replace(atom, edge=name)
        return name

    def hold(self, tests: Alternative) -> None:
        """Adds the conditions and equalities of an alternative."""
        self._equal += tests.equal
        self.conditions += tests.conditions
        self._compared += tests.compared

    def finished(
        self,
        predicate: str,
        head: Sequence[str],
        at: Location,
        referenced: Sequence[Name] = (),
        properties: Sequence[tuple[str, Output]] = (),
    ) -> Rule:
        """The rule with these vertices as head, and one variable for all equal vertices.

        ``referenced`` are the edges and vertices in the ``properties`` of the head.

        Raises:
            QueryError: E-SAFE for an unbound variable in a comparison, and for unrestricted
                vertices; E-LATER or E-PROPERTY for an edge that has no properties.
        """
        one = self._representatives(head)
        self._check_bound(referenced)
        sources_by_vertex: dict[str, set[Source]] = {}
        for variable, sources in self._bound.items():
            sources_by_vertex.setdefault(one.get(variable, variable), set()).update(sources)
        for name, source in self._lone:
            if source not in sources_by_vertex.get(one.get(name.text, name.text), ()):
                raise errors.ANY_VERTEX.error(name.at, name.text)

        variables = tuple(one.get(name, name) for name in head)
        body, conditions = tuple(self.atoms), tuple(self.conditions)
        rule = Rule(predicate, variables, body, at, conditions, tuple(properties))
        return with_names(rule, lambda name: one.get(name, name))

    def _check_bound(self, referenced: Sequence[Name]) -> None:
        """Checks that the body binds all compared variables and all edges with properties."""
        lone = {name.text for name, _ in self._lone}
        compared = [*(name for pair in self._equal for name in pair), *self._compared]
        for name in (*compared, *referenced):
            fault = self.edges.get(name.text)
            if fault is not None:
                raise fault.error(name.at, name.text)
            if name.text not in {*self._bound, *self.edges, *lone}:
                raise QueryError(
                    "E-SAFE",
                    "it is compared, and no MATCH binds it"
                    if name in compared
                    else "not every alternative of the query binds it",
                    at=name.at,
                    text=name.text,
                    hint="compare and select what patterns bind that must match",
                )

    def _representatives(self, head: Sequence[str]) -> dict[str, str]:
        """The representative of each variable of an equality; variables of the head are
        preferred."""
        same: DisjointSets[str] = DisjointSets()
        order = {name: place for place, name in enumerate(dict.fromkeys(head))}
        pairs = [(left.text, right.text) for left, right in self._equal]
        for pair in pairs:
            leaders = map(same.leader, pair)
            same.merge(*sorted(leaders, key=lambda name: order.get(name, len(order))))
        return {name: same.leader(name) for pair in pairs for name in pair}

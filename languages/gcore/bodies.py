"""The body of one rule, while it is put together from patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from languages.errors import QueryError
from languages.gcore.conditions import Alternative
from languages.gcore.faults import LATER
from languages.gcore.sources import Source
from languages.gcore.syntax import Name, Node, Pattern
from languages.regular_query import Atom, Term, Variable


@dataclass(frozen=True, slots=True)
class Part:
    """Patterns, each with its source, and vertices that are equal.

    It is one of the alternatives that a block of a MATCH comes down to. ``own`` are the
    variables of the block's patterns, ``tested`` those of its condition.
    """

    located: tuple[tuple[Pattern, Source], ...]
    equal: tuple[tuple[Name, Name], ...]
    own: frozenset[str]
    tested: frozenset[str]

    @staticmethod
    def of(patterns: Sequence[tuple[Pattern, Source]], holds: Alternative) -> Part:
        """The patterns with what must hold of them; a pattern of the condition is looked
        for where the last of the others is."""
        source = patterns[-1][1]
        tests = tuple((pattern, source) for pattern in holds.patterns)
        tested = {name for pattern in holds.patterns for name in vertices_of(pattern)}
        tested.update(name.text for pair in holds.equal for name in pair)
        own = frozenset(name for pattern, _ in patterns for name in vertices_of(pattern))
        return Part((*patterns, *tests), holds.equal, own, frozenset(tested))

    @property
    def variables(self) -> frozenset[str]:
        """All variables of vertices."""
        return self.own | self.tested


def vertices_of(pattern: Pattern) -> Iterator[str]:
    """The variables of the vertices of a pattern, in its order."""
    return (node.variable.text for node in pattern.nodes if node.variable is not None)


@dataclass(slots=True)
class Body:
    """Atoms, the equalities between their variables, and the vertices still to be bound."""

    anonymous: Iterator[str]
    atoms: list[Atom] = field(default_factory=list)
    equal: list[tuple[Name, Name]] = field(default_factory=list)
    _bound: dict[str, set[Source]] = field(default_factory=dict)
    _lone: list[tuple[Name, Source]] = field(default_factory=list)

    def variable(self, node: Node) -> str:
        """The variable of a node, of its own if it is anonymous.

        Raises:
            QueryError: E-LATER for labels and properties.
        """
        if node.labels:
            label = node.labels[0][0]
            raise LATER["vertex label"].error(label.at, label.text)
        if node.properties:
            key = node.properties[0][0]
            raise LATER["properties"].error(key.at, key.text)
        return next(self.anonymous) if node.variable is None else node.variable.text

    def bind(self, name: str, *sources: Source) -> None:
        """Says that the atoms bind a variable to a vertex of these sources."""
        self._bound.setdefault(name, set()).update(sources)

    def sources_of(self, name: str) -> set[Source]:
        """Where a variable is bound to a vertex of an edge."""
        return self._bound.get(name, set())

    def require(self, node: Node, source: Source) -> str:
        """A vertex by itself: some edge of the same source must have it.

        Raises:
            QueryError: E-LATER if it has no name, so that no edge can.
        """
        name = self.variable(node)
        if node.variable is None:
            raise LATER["vertices"].error(node.at, "()")
        self._lone.append((node.variable, source))
        return name

    def finished(self, head: Sequence[str]) -> tuple[tuple[str, ...], tuple[Atom, ...]]:
        """The head and the atoms, with one variable for all that are equal.

        Raises:
            QueryError: E-SAFE for an equality of what nothing binds, E-LATER for vertices
                by themselves.
        """
        one = self._representatives(head)
        for name in (name for pair in self.equal for name in pair):
            if name.text not in self._bound and name not in (lone for lone, _ in self._lone):
                raise QueryError(
                    "E-SAFE",
                    "it is compared, and no MATCH binds it",
                    at=name.at,
                    text=name.text,
                    hint="(x) = (y) takes vertices that patterns bind",
                )
        found: dict[str, set[Source]] = {}
        for variable, sources in self._bound.items():
            found.setdefault(one.get(variable, variable), set()).update(sources)
        for name, source in self._lone:
            if source not in found.get(one.get(name.text, name.text), ()):
                raise LATER["vertices"].error(name.at, name.text)

        def merged(term: Term) -> Term:
            return Variable(one.get(term.name, term.name)) if isinstance(term, Variable) else term

        atoms = (replace(a, source=merged(a.source), target=merged(a.target)) for a in self.atoms)
        return tuple(one.get(name, name) for name in head), tuple(atoms)

    def _representatives(self, head: Sequence[str]) -> dict[str, str]:
        """For each variable of an equality, the one that stands for it; those of the head
        go first."""
        leader: dict[str, str] = {}

        def leader_of(name: str) -> str:
            while leader.setdefault(name, name) != name:
                name = leader[name]
            return name

        order = {name: place for place, name in enumerate(dict.fromkeys(head))}
        for left, right in self.equal:
            first, second = sorted(
                (leader_of(left.text), leader_of(right.text)),
                key=lambda name: order.get(name, len(order)),
            )
            leader[second] = first
        return {name: leader_of(name) for name in leader}

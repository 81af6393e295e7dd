"""The atoms of a rule's body: edges, paths, vertices and rows of derived predicates.

Equality of atoms ignores locations in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeVar

from ...algebra.regex import Ref, Regex, Symbol


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the query text; line and column count from 1.

    For a part of a catalog's ``view``, the place is where the query reads the view.
    """

    line: int
    column: int
    view: str | None = None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; each ``_`` in the text becomes a variable of its own."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant vertex; the translation converts it to the vertex type of the stream."""

    value: str | int


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class EdgeAtom:
    """``label(source, target)``: an edge of one of ``labels``; binds its ends and the edge itself.

    Aggregates count one binding for each edge. A path of one step is therefore not an EdgeAtom: a
    :class:`PathAtom` binds a pair of ends once, however many edges connect it. Stream, label, ends,
    time and properties identify an edge of an input label; the predicate and the ends identify an
    edge of a derived predicate.

    Attributes:
        labels: input labels or derived predicates; an inverse one matches edges from target to
            source.
        source: the vertex at which the atom begins.
        target: the vertex at which the atom ends.
        location: the place in the text.
        edge: the name of the edge in the rule, if any; never also the name of a variable. Only
            edges of input labels have properties.
        alias: the same name, if other rules read the edges under it as a predicate.
        different: atoms of a rule with one number match edges that differ pairwise; None matches
            any edges.
    """

    labels: tuple[Symbol, ...]
    source: Term
    target: Term
    location: Location = field(compare=False)
    edge: str | None = None
    alias: str | None = None
    different: int | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """The source and the target."""
        return self.source, self.target

    @property
    def alternatives(self) -> tuple[Symbol, ...]:
        """The labels that may match, without repeats; a loop has no direction."""
        if self.source != self.target:
            return self.labels
        return tuple(map(Symbol, self.refs))

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The labels and predicates, without directions."""
        return tuple(dict.fromkeys(label.ref for label in self.labels))

    @property
    def is_undirected(self) -> bool:
        """Whether the edge may point in either direction."""
        return len({label.inverse for label in self.alternatives}) > 1

    @staticmethod
    def of(
        label: str, source: Term, target: Term, location: Location, edge: str | None = None
    ) -> EdgeAtom:
        """The atom of one label, from source to target."""
        return EdgeAtom((Symbol(label),), source, target, location, edge)


ShortestPaths = Literal["shortest", "all shortest"]


@dataclass(frozen=True, slots=True)
class PathAtom:
    """A path of at least one edge from source to target whose word is in ``regex``.

    Attributes:
        regex: the regular expression over labels and predicates.
        source: the first vertex.
        target: the last vertex.
        location: the place in the text.
        alias: the name given by ``as``, if any path counts.
        shortest: whether a shortest path counts, or all of them; None if any paths do.
        path: the name of a shortest path in its rule, if it has one.
        different: as of :class:`EdgeAtom`; a path with a number repeats no edge itself.
        over: of a shortest path, one of its vertices, or the two ends of one of its steps as the
            edge points, so that the atom binds each of them in turn; empty for neither.
    """

    regex: Regex
    source: Term
    target: Term
    location: Location = field(compare=False)
    alias: str | None = None
    shortest: ShortestPaths | None = None
    path: str | None = None
    different: int | None = None
    over: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """The first and the last vertex, and those that the atom binds in turn."""
        return self.source, self.target, *self.over


ANY_VERTEX_LABEL: Final = ""
"""In place of a vertex label: a row of any of them. No row has an empty label."""


@dataclass(frozen=True, slots=True)
class VertexAtom:
    """``predicate(vertex)``: a vertex with a vertex label of the input.

    Vertex labels have a name space of their own: an atom with one term names a vertex label, or
    stands for all of them (:data:`ANY_VERTEX_LABEL`).
    ``edge`` is the name of the row of the vertex in the rule, if any.
    """

    predicate: str
    vertex: Term
    location: Location = field(compare=False)
    edge: str | None = None

    @property
    def source(self) -> Term:
        """The vertex; the row of a vertex is an edge from the vertex to itself."""
        return self.vertex

    @property
    def target(self) -> Term:
        """The vertex."""
        return self.vertex

    @property
    def terms(self) -> tuple[Term, ...]:
        """The vertex, as source and as target."""
        return self.vertex, self.vertex


@dataclass(frozen=True, slots=True)
class DerivedAtom:
    """``predicate(terms)``: a row of a derived predicate of one column, or of three or more.

    A derived predicate of two columns is read by an :class:`EdgeAtom`, as a label is.
    """

    predicate: str
    terms: tuple[Term, ...]
    location: Location = field(compare=False)


Row = EdgeAtom | VertexAtom
"""An atom whose match may be a row of an input, with properties."""
BinaryAtom = EdgeAtom | PathAtom
"""An atom between two ends that other rules may read under its name."""
Atom = EdgeAtom | PathAtom | VertexAtom | DerivedAtom


def group_of(atom: Atom) -> int | None:
    """The group of atoms with different edges that an edge or path is of, if any."""
    return atom.different if isinstance(atom, BinaryAtom) else None


def with_terms(atom: Atom, new: Callable[[Term], Term]) -> Atom:
    """The atom with other terms."""
    if isinstance(atom, VertexAtom):
        return replace(atom, vertex=new(atom.vertex))
    if isinstance(atom, DerivedAtom):
        return replace(atom, terms=tuple(map(new, atom.terms)))
    ends = replace(atom, source=new(atom.source), target=new(atom.target))
    return replace(ends, over=tuple(map(new, ends.over))) if isinstance(ends, PathAtom) else ends


def variables_of(atoms: Iterable[Atom]) -> Iterator[str]:
    """The names of the variables of atoms, with repeats."""
    for atom in atoms:
        for term in atom.terms:
            if isinstance(term, Variable):
                yield term.name


LabelledAtom = TypeVar("LabelledAtom", EdgeAtom, VertexAtom)


def with_labels(atom: LabelledAtom, new: Callable[[str], str]) -> LabelledAtom:
    """The atom with other labels and predicates."""
    if isinstance(atom, VertexAtom):
        return replace(atom, predicate=new(atom.predicate))
    labels = tuple(Symbol(new(str(label.ref)), label.inverse) for label in atom.labels)
    return replace(atom, labels=labels)

"""The Regular Query, which every query language is parsed into (thesis Definition 14).

Binary, non-recursive Datalog whose body atoms may be regular paths, with an answer of any
arity and windows over its input labels. Beyond it, a rule may have conditions over its
vertices and the properties of its edges, and an answer columns that hold such properties.
Two queries are equal whatever the places in the text where their parts stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar
from typing import Literal as OneOf

from ...algebra.aggregates import Function, ReportMode
from ...algebra.regex import Ref, Regex, Symbol
from ...algebra.scalar import Literal
from ...algebra.window import Window


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the query text; line and column count from 1.

    A part of a catalog's ``view`` has the place in the query that reads the view.
    """

    line: int
    column: int
    view: str | None = None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; ``_`` in the text becomes one with a name of its own."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A vertex written out; coerced to the vertex type of the stream when translated."""

    value: str | int


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class EdgeAtom:
    """``label(source, target)``: an edge of any one of ``labels``, which binds its ends and itself.

    A label is one of the input or a derived predicate; an inverse one is an edge from target to
    source. Where bindings are counted there is one for each edge, so a path of one step is no
    EdgeAtom: a :class:`PathAtom` binds a pair of ends, however many edges connect it. An edge of
    an input label is told from others by its stream, label, ends, time and properties, one of a
    derived predicate by the predicate and its ends.

    ``edge`` is what the rule calls the edge, if anything; only one of an input label has
    properties. It is another name space than the variables', but one name is not both.
    ``alias`` is that name where other rules read the edges by it, as a predicate.
    """

    labels: tuple[Symbol, ...]
    source: Term
    target: Term
    location: Location = field(compare=False)
    edge: str | None = None
    alias: str | None = None

    @property
    def alternatives(self) -> tuple[Symbol, ...]:
        """The labels that may be matched, each once; a loop has no direction."""
        if self.source != self.target:
            return self.labels
        return tuple(map(Symbol, self.refs))

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The labels and predicates, without directions."""
        return tuple(dict.fromkeys(label.ref for label in self.labels))

    @property
    def is_undirected(self) -> bool:
        """Whether it may lead from source to target, or from target to source."""
        return len({label.inverse for label in self.alternatives}) > 1

    @staticmethod
    def of(
        label: str, source: Term, target: Term, location: Location, edge: str | None = None
    ) -> EdgeAtom:
        """An edge of one label, along its direction."""
        return EdgeAtom((Symbol(label),), source, target, location, edge)


@dataclass(frozen=True, slots=True)
class PathAtom:
    """A path from source to target whose word is in ``regex`` (symbols are predicates).

    ``alias`` is the name given by ``as``, if any. Never matches a path without edges.
    """

    regex: Regex
    source: Term
    target: Term
    location: Location = field(compare=False)
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class VertexAtom:
    """``predicate(vertex)``: a vertex of an input label of vertices.

    These labels have a name space of their own: an atom with one term names a label of vertices.
    ``edge`` is the name of the row of the vertex in the rule, if it has one.
    """

    predicate: str
    vertex: Term
    location: Location = field(compare=False)
    edge: str | None = None

    @property
    def source(self) -> Term:
        """The vertex: its row is an edge from it to itself."""
        return self.vertex

    @property
    def target(self) -> Term:
        """The vertex."""
        return self.vertex


Row = EdgeAtom | VertexAtom
"""An atom that may be a row of an input and have properties."""
Atom = EdgeAtom | PathAtom | VertexAtom


def with_terms(atom: Atom, new: Callable[[Term], Term]) -> Atom:
    """The atom with other terms."""
    if isinstance(atom, VertexAtom):
        return replace(atom, vertex=new(atom.vertex))
    return replace(atom, source=new(atom.source), target=new(atom.target))


def variables_of(atoms: Iterable[Atom]) -> Iterator[str]:
    """The names of the variables at the ends of atoms, with repeats."""
    for atom in atoms:
        for term in (atom.source, atom.target):
            if isinstance(term, Variable):
                yield term.name


LabelledAtom = TypeVar("LabelledAtom", EdgeAtom, VertexAtom)


def with_labels(atom: LabelledAtom, new: Callable[[str], str]) -> LabelledAtom:
    """The atom with other labels and predicates."""
    if isinstance(atom, VertexAtom):
        return replace(atom, predicate=new(atom.predicate))
    labels = tuple(Symbol(new(str(label.ref)), label.inverse) for label in atom.labels)
    return replace(atom, labels=labels)


# -- conditions -----------------------------------------------------------------------------


OWN_LABEL: Final = "label"
"""The property of an edge that tells which of several labels it has. No text can ask for it, and
neither for the next two: no catalog has a property of these names."""
OWN_SOURCE: Final = "src"
"""The property of an edge of either direction that is its source."""
OWN_TARGET: Final = "trg"
"""The property of an edge of either direction that is its target."""


@dataclass(frozen=True, slots=True)
class Property:
    """``edge.name``: a property of an edge of the rule; ``ts`` is the edge's own time.

    ``edge`` may be a variable, and the property then that of the vertex: of the one vertex
    relation of the rule that gives it (:mod:`headrace.languages.translation.vertex_properties`).
    """

    edge: str
    name: str
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Computed:
    """A function of :data:`headrace.algebra.scalar.ARITY` (``+ - * / NEG ABS``) over its
    arguments."""

    function: str
    arguments: tuple[Value, ...]


Value = Variable | Literal | Property | Computed
"""A side of a comparison; a :class:`headrace.algebra.scalar.Literal` may be of any type."""

Sign = OneOf["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left sign right``.

    A variable is a vertex, or, alone on both sides of ``=`` or ``<>``, an edge: two edges are
    one if they have the same label, ends, time and properties.
    """

    left: Value
    sign: Sign
    right: Value
    location: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """``property IS NULL``: the edge has no such property."""

    property: Property


@dataclass(frozen=True, slots=True)
class Both:
    """All of the parts hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of the parts holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """The part does not hold; the negation of unknown is unknown."""

    part: Condition


Condition = Comparison | Missing | Both | Either | Negated

# -- rules ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aggregated:
    """``function(argument)`` over all bindings of the body with equal values in the columns of
    the head that are no aggregates; ``count(*)`` has no argument."""

    function: Function
    argument: Value | None
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A path of the atom of the rule's own body that is called ``path`` by ``as``."""

    path: str
    location: Location | None = field(default=None, compare=False)


Output = Value | Aggregated | Witnessed
"""The content of a column of the answer that is not a vertex."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``head(variables) <- body, conditions``.

    Attributes:
        head: the predicate.
        variables: the columns of the head.
        body: the atoms.
        location: the place in the text.
        conditions: a row counts if all of them are true.
        properties: the columns that are not vertices of the body: for
            ``Answer(x, e.amount as much)`` it is ``("much", Property("e", "amount"))``; in an
            answer any :data:`Output`.
        window: if given, the body is one edge of a derived predicate, and each of its coalesced
            results is valid for at most the window that it begins in.
    """

    head: str
    variables: tuple[str, ...]
    body: tuple[Atom, ...]
    location: Location = field(compare=False)
    conditions: tuple[Condition, ...] = ()
    properties: tuple[tuple[str, Output], ...] = ()
    window: Window | None = None

    @staticmethod
    def renaming(
        head: str, predicate: str, location: Location, window: Window | None = None
    ) -> Rule:
        """``head(x, y) <- predicate(x, y)``, perhaps under a window."""
        edge = EdgeAtom.of(predicate, Variable("x"), Variable("y"), location)
        return Rule(head, ("x", "y"), (edge,), location, window=window)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels but some: the meaning of ``_`` and ``!(a|^b)``.

    ``forward`` are the labels left out of the edges that are walked from source to target,
    ``backward`` of those walked the other way; None: none are walked that way. The labels are
    those of ``stream``, or of all streams.
    """

    forward: tuple[str, ...] | None = ()
    backward: tuple[str, ...] | None = None
    stream: str | None = None

    def among(self, labels: Iterable[str]) -> Iterator[tuple[str, bool]]:
        """The labels that it does not leave out, each with whether it is walked backwards."""
        labels = list(labels)
        for inverse, left_out in ((False, self.forward), (True, self.backward)):
            if left_out is not None:
                yield from ((label, inverse) for label in labels if label not in left_out)


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input label under a window of its own; None: that of the command line."""

    label: str
    window: Window | None


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A window for all labels (``stream`` None), for a stream, or for some of its labels."""

    window: Window
    stream: str | None = None
    labels: tuple[str, ...] = ()
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Emit:
    """``EMIT mode EVERY every``: the answer is reported at the multiples of ``every``, in the
    unit of the windows; None: the greatest common divisor of their slides."""

    mode: ReportMode
    every: int | None = None
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RegularQuery:
    """The result of every query language.

    Attributes:
        rules: in the order of the text.
        answer: the head of the rules that are the answer.
        windows: the window clauses.
        warnings: lines for people.
        time_unit: the unit of the windows; None if all are in bare ticks, of the catalog's unit.
        emit: when the answer is reported; None: each row when it is derived, with its validity.
        label_sets: the predicates that stand for sets of labels, which a catalog expands.
        leaves: the predicates that stand for an input label, or a set, under its own window.
        labels: the labels of constructed edges, with their predicates.
        generated: the predicates, sets and leaves that the text does not name.
    """

    rules: tuple[Rule, ...]
    answer: str
    windows: tuple[WindowClause, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
    time_unit: str | None = None
    emit: Emit | None = None
    label_sets: tuple[tuple[str, LabelSet], ...] = ()
    leaves: tuple[tuple[str, Leaf], ...] = ()
    labels: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    generated: frozenset[str] = field(default=frozenset(), compare=False)

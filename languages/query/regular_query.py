"""The Regular Query, the common result of all query languages (thesis Definition 14).

Binary, non-recursive Datalog whose body atoms may be regular paths, with an answer of any arity and
windows over its input labels. Extensions: a rule may have conditions over its vertices and the
properties of its edges, and an answer may have property columns. Equality of queries ignores
locations in the text.
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
    """

    labels: tuple[Symbol, ...]
    source: Term
    target: Term
    location: Location = field(compare=False)
    edge: str | None = None
    alias: str | None = None

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


@dataclass(frozen=True, slots=True)
class PathAtom:
    """A path of at least one edge from source to target whose word is in ``regex``.

    Attributes:
        regex: the regular expression over labels and predicates.
        source: the first vertex.
        target: the last vertex.
        location: the place in the text.
        alias: the name given by ``as``, if any.
    """

    regex: Regex
    source: Term
    target: Term
    location: Location = field(compare=False)
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class VertexAtom:
    """``predicate(vertex)``: a vertex with a vertex label of the input.

    Vertex labels have a name space of their own: an atom with one term names a vertex label.
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


Row = EdgeAtom | VertexAtom
"""An atom whose match may be a row of an input, with properties."""
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
"""The hidden property with the label of an edge of several labels. No text can name the hidden
properties, since no catalog has a property with the name of a role."""
OWN_SOURCE: Final = "src"
"""The hidden property with the source of an edge of either direction."""
OWN_TARGET: Final = "trg"
"""The hidden property with the target of an edge of either direction."""


@dataclass(frozen=True, slots=True)
class Property:
    """``edge.name``: a property of an edge of the rule; ``ts`` is the time of the edge.

    If ``edge`` is a variable, the property is that of the vertex
    (:mod:`headrace.languages.translation.vertex_properties`).
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

    A variable is a vertex. With a single variable on each side of ``=`` or ``<>``, both may be
    edges: two edges are equal if label, ends, time and properties are equal.
    """

    left: Value
    sign: Sign
    right: Value
    location: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """``property IS NULL``: the edge lacks the property."""

    property: Property


@dataclass(frozen=True, slots=True)
class Both:
    """The conjunction of the parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """The disjunction of the parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """The negation of the part; the negation of unknown is unknown."""

    part: Condition


Condition = Comparison | Missing | Both | Either | Negated

# -- rules ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aggregated:
    """``function(argument)`` over the bindings of each group; ``count(*)`` has no argument.

    The columns of the head without aggregates are the grouping keys.
    """

    function: Function
    argument: Value | None
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A path that matches the atom named ``path`` in the rule's own body."""

    path: str
    location: Location | None = field(default=None, compare=False)


Output = Value | Aggregated | Witnessed
"""The value of a column of the answer that is not a vertex."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``head(variables) <- body, conditions``.

    Attributes:
        head: the predicate.
        variables: the columns of the head.
        body: the atoms.
        location: the place in the text.
        conditions: a binding is in the result if all conditions are true.
        properties: the columns that are not vertices of the body: for
            ``Answer(x, e.amount as much)`` it is ``("much", Property("e", "amount"))``; in an
            answer any :data:`Output`.
        window: a window over a derived predicate, or None; with a window the body is one edge of
            that predicate, and each coalesced result is valid at most until its window ends.
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

    ``forward`` are the labels excluded from forward edges, ``backward`` those excluded from
    backward edges; None excludes all edges of that direction. The labels are those of ``stream``,
    or of all streams.
    """

    forward: tuple[str, ...] | None = ()
    backward: tuple[str, ...] | None = None
    stream: str | None = None

    def among(self, labels: Iterable[str]) -> Iterator[tuple[str, bool]]:
        """The labels in the set, each with whether its edges are walked backwards."""
        labels = list(labels)
        for inverse, left_out in ((False, self.forward), (True, self.backward)):
            if left_out is not None:
                yield from ((label, inverse) for label in labels if label not in left_out)


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input label under a window of its own; a window of None is the default window."""

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
    """``EMIT mode EVERY every``: reports the answer at the multiples of ``every``.

    ``every`` is in the unit of the windows; None is the greatest common divisor of their slides.
    """

    mode: ReportMode
    every: int | None = None
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RegularQuery:
    """The result of every query language.

    Attributes:
        rules: the rules, in the order of the text.
        answer: the head of the rules that are the answer.
        windows: the window clauses.
        warnings: the warnings, as lines to show.
        time_unit: the unit of the windows; None if all are in bare ticks, of the catalog's unit.
        emit: the times of reports; None returns each row when it is derived, with its validity.
        label_sets: the predicates that stand for sets of labels, which a catalog expands.
        leaves: the predicates that stand for an input label or label set under its own window.
        labels: the labels of constructed edges, each with its predicate.
        generated: the names of predicates, sets and leaves that do not occur in the text.
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

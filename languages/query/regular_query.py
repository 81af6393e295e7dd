"""The Regular Query, the common result of all query languages (thesis Definition 14).

Non-recursive Datalog over binary labels, whose body atoms may be regular paths, with windows over
its input labels. Extensions: a rule may have conditions over its vertices and the properties of its
edges, and a head may have any number of columns, which are vertices or values. Equality of queries
ignores locations in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from typing import Literal as OneOf

from ...algebra.aggregates import Function, ReportMode
from ...algebra.orders import Direction
from ...algebra.scalar import Literal
from ...algebra.window import Window
from .atoms import Atom, DerivedAtom, EdgeAtom, Location, Variable

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
    """A function of :data:`headrace.algebra.scalar.ARITY` (``+ - * / NEG ABS``) or of
    :data:`headrace.algebra.functions.FUNCTIONS` over its arguments."""

    function: str
    arguments: tuple[Value, ...]


Value = Variable | Literal | Property | Computed
"""A side of a comparison; a :class:`headrace.algebra.scalar.Literal` may be of any type."""

Sign = OneOf["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left sign right``.

    A variable is a vertex or a value. With a single variable on each side of ``=`` or ``<>``, both
    may be edges: two edges are equal if label, ends, time and properties are equal.
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

    ``latest`` has a time too: it gives the argument of the binding in which the time is greatest. A
    percentile has a number from 0 to 1.
    The columns of the head without aggregates are the grouping keys.
    """

    function: Function
    argument: Value | None
    location: Location | None = field(default=None, compare=False)
    time: Value | None = None
    percentile: float | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """The argument and the time, where it has them."""
        return tuple(value for value in (self.argument, self.time) if value is not None)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A path that matches the atom named ``path`` in the rule's own body."""

    path: str
    location: Location | None = field(default=None, compare=False)


Output = Value | Aggregated | Witnessed
"""The value of a column that is not a variable of the body; aggregates and paths are in an answer
only."""


@dataclass(frozen=True, slots=True)
class Negation:
    """``not predicate(variables)``: a binding of a rule's body counts without a match.

    The predicate is the head of a rule of its own, with the atoms and conditions of the negated
    part: its variables are those that the part shares with the body, its other ones are local.

    Attributes:
        predicate: the head of the rule of the negated part, which nothing else reads.
        variables: the variables of the body that the columns of the head are compared with.
        location: the place of `not` in the text.
    """

    predicate: str
    variables: tuple[str, ...]
    location: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """``optional predicate(columns)``: a binding has the values of each match, or none of them.

    The predicate is the head of a rule of its own, with the atoms and conditions of the optional
    part. Its variables that the body has are the key; the others, and the properties that the rule
    reads, are missing in a binding without a match. A variable of the head may be an edge of the
    part, whose values are equal where the edges are.

    Attributes:
        predicate: the head of the rule of the optional part, which nothing else reads.
        columns: the variables and properties of the rule that the columns of the head are.
        shared: the number of the first columns that are variables of the body, or of an optional
            part before this one.
        location: the place of `optional` in the text.
    """

    predicate: str
    columns: tuple[Variable | Property, ...]
    shared: int
    location: Location = field(compare=False)

    @property
    def key(self) -> tuple[Variable | Property, ...]:
        """The columns that are compared with those of the body."""
        return self.columns[: self.shared]

    @property
    def own(self) -> tuple[Variable | Property, ...]:
        """The columns that may be missing."""
        return self.columns[self.shared :]


@dataclass(frozen=True, slots=True)
class Limit:
    """``ORDER BY column DESC, column LIMIT rows OFFSET offset``: first rows at each instant.

    Attributes:
        order: columns of the head with their directions; the other columns follow, ascending.
        rows: the number of rows.
        location: the place in the text.
        offset: the number of rows that are left out before the first one.
    """

    order: tuple[tuple[str, Direction], ...]
    rows: int
    location: Location = field(compare=False)
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """``head(variables) <- body, optional, conditions, negated``.

    Attributes:
        head: the predicate.
        variables: the columns of the head.
        body: the atoms.
        location: the place in the text.
        conditions: a binding is in the result if all conditions are true.
        properties: the columns that are not variables of the body: for
            ``Answer(x, e.amount as much)`` it is ``("much", Property("e", "amount"))``.
        window: a window over a derived predicate, or None; with a window the body is one atom of
            that predicate, and each coalesced result is valid at most until its window ends.
        negated: a binding is in the result if none of these parts has a match.
        optional: the parts that add values to a binding where they have a match, in the order in
            which they are joined; before conditions that read these values, and before ``negated``.
        limit: which rows of the head there are, of all of its rules together; None for all.
        is_step: whether the rule stands for a step of a path with conditions; its rows are then the
            edges of the body's one atom that satisfy them, and not edges of a derived predicate.
    """

    head: str
    variables: tuple[str, ...]
    body: tuple[Atom, ...]
    location: Location = field(compare=False)
    conditions: tuple[Condition, ...] = ()
    properties: tuple[tuple[str, Output], ...] = ()
    window: Window | None = None
    negated: tuple[Negation, ...] = ()
    optional: tuple[OptionalPart, ...] = ()
    limit: Limit | None = None
    is_step: bool = field(default=False, compare=False)

    @property
    def parts(self) -> tuple[Negation | OptionalPart, ...]:
        """The optional and negated parts, each with a rule of its own."""
        return (*self.optional, *self.negated)

    @property
    def missing(self) -> frozenset[Variable | Property]:
        """The variables and properties that a binding may lack: those of optional parts alone."""
        return frozenset([column for part in self.optional for column in part.own])

    @staticmethod
    def renaming(
        head: str,
        predicate: str,
        location: Location,
        window: Window | None = None,
        columns: int = 2,
    ) -> Rule:
        """``head(x, y) <- predicate(x, y)``, perhaps under a window, and of any width."""
        names = ("x", "y") if columns == 2 else tuple(f"x{i}" for i in range(columns))
        terms = tuple(map(Variable, names))
        atom: Atom = DerivedAtom(predicate, terms, location)
        if columns == 2:
            atom = EdgeAtom.of(predicate, terms[0], terms[1], location)
        return Rule(head, names, (atom,), location, window=window)


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
    """``EMIT mode EVERY every STARTING AT start``: reports the answer at certain instants.

    Attributes:
        mode: the rows to report.
        every: the period in the unit of the windows; None is the greatest common divisor of their
            slides, unless ``events`` is given.
        events: the number of events from one report to the next; None with a period.
        start: the first instant in the unit of the windows, or that from which events count.
        location: the place of the clause.
    """

    mode: ReportMode
    every: int | None = None
    location: Location | None = field(default=None, compare=False)
    events: int | None = None
    start: int = 0

    @property
    def at_multiples(self) -> bool:
        """Whether all instants are certainly multiples of the period."""
        if self.events is not None:
            return False
        return self.start == 0 or (self.every is not None and self.start % self.every == 0)


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

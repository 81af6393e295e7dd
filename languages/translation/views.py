"""Views of a catalog: the edges that another query constructs, read as a stream.

In: a query and a catalog. Out: the query with the rules of all views that it reads, directly or
through other views; the new query reads streams only. A window over a view applies to its coalesced
results; without a window the results keep their own intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeVar

from ...algebra import regex
from ...algebra.deadline import NO_DEADLINE, Deadline
from ...algebra.window import Window
from ...catalog.model import Catalog
from .. import registry
from ..query.atoms import Location, Variable, VertexAtom
from ..query.checks import evaluation_order
from ..query.edge_checks import check_edges
from ..query.errors import QueryError, line_of, listed, suggestion
from ..query.predicates import derived_by, first_free, predicates, with_predicates
from ..query.regular_query import LabelSet, Leaf, RegularQuery, Rule
from ..query.value_columns import value_columns
from .any_vertex_label import with_labels_of_vertices
from .generated_names import labels_of
from .inputs import Inputs
from .label_sets import expanded, with_steps

T = TypeVar("T")
_X, _Y = Variable("x"), Variable("y")
Labels = Mapping[str, str]
"""The predicate of each label that a view constructs."""


def with_views(
    query: RegularQuery,
    catalog: Catalog,
    default_window: Window | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[RegularQuery, tuple[str, ...]]:
    """The query without views, and warnings.

    Raises:
        QueryError: for an error in a view, at the place that reads the view; E-REC for recursive
            views, E-AMBIGUOUS for a label of several views, E-UNKNOWN for a label that a view
            does not construct, E-PROPERTY for properties of edges of views.
    """
    if not catalog.views:
        return query, ()
    taken = set(labels_of(catalog))
    return _Reading(catalog, default_window, deadline, taken=taken).of(query, ())


def queries_of_views(
    catalog: Catalog,
) -> Iterator[tuple[str, tuple[tuple[str, ...], RegularQuery]]]:
    """The valid views of a catalog, each with its constructed labels and its query."""
    reading = _Reading(catalog, None, NO_DEADLINE, taken=set(labels_of(catalog)))
    for view in catalog.views:
        constructed = reading.constructed(view)
        if constructed:
            yield view, (constructed, reading.parsed(view))


@dataclass(slots=True)
class _Reading:
    """Inlines views into a query.

    Attributes:
        catalog: the catalog of the views.
        default_window: the window of streams without a clause, in the catalog's unit.
        deadline: the time limit of parsing the views.
        rules: the rules of the views inlined so far.
        leaves: the labels under windows of their own in these views.
        taken: all names in use.
    """

    catalog: Catalog
    default_window: Window | None
    deadline: Deadline
    rules: list[Rule] = field(default_factory=list)
    leaves: dict[str, Leaf] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    _read: dict[str, RegularQuery] = field(default_factory=dict)
    _predicates: dict[str, Labels] = field(default_factory=dict)
    _windowed: dict[tuple[str, Window], str] = field(default_factory=dict)
    _outside: Location = field(default_factory=lambda: Location(1, 1))

    def of(
        self, query: RegularQuery, inside: tuple[str, ...]
    ) -> tuple[RegularQuery, tuple[str, ...]]:
        """The query with its views inlined; ``inside`` are the views that contain the query."""
        names = _Names(query)
        self.taken |= names.all if inside else names.all - names.read.keys()
        outside = not inside
        clauses = [c for c in query.windows if c.stream not in self.catalog.views]
        own = [c for c in query.windows if c.stream in self.catalog.views]
        used: set[int] = set()
        means: dict[str, tuple[regex.Symbol, ...]] = {}
        for name, at in names.read.items():
            labels, window = names.sets.get(name), None
            leaf = names.leaves.get(name)
            label = name if leaf is None else leaf.label
            labels = names.sets.get(label)
            view = self._view_of(label, labels, at)
            if view is None:
                continue
            constructed = self._labels(view, at, inside)
            for number, clause in enumerate(own):
                if clause.stream == view and leaf is None:
                    own_name = label.rpartition(".")[2]
                    if not clause.labels or own_name in clause.labels:
                        window = clause.window
                        used.add(number)
            window = leaf.window if leaf is not None else window
            if labels is None:
                predicate = self._under(
                    self._predicate_of(constructed, view, label, at), window, at
                )
                means[name] = (regex.Symbol(predicate),)
            else:
                means[name] = self._any_of(labels, constructed, window, at)
        unused = [clause for number, clause in enumerate(own) if number not in used]
        warnings = tuple(
            line_of("W-UNUSED", c.location, f"ON {c.stream}", "no label of the view is read")
            for c in unused
            if outside
        )
        if outside and not means:
            return replace(query, windows=tuple(clauses)), warnings
        rules = tuple(
            with_steps(rule, lambda n, _: means.get(n, (regex.Symbol(n),))) for rule in query.rules
        )
        rules = (*(self.rules if outside else ()), *rules)
        if outside:
            check_edges(rules, derived_by(rules))
        whole = replace(
            query,
            rules=rules,
            windows=tuple(clauses),
            label_sets=tuple(s for s in query.label_sets if s[0] not in means),
            leaves=(
                *(self.leaves.items() if outside else ()),
                *(leaf for leaf in query.leaves if leaf[0] not in means),
            ),
        )
        return whole, warnings

    def _view_of(self, label: str, labels: LabelSet | None, at: Location) -> str | None:
        """The view of a label or label set; None if no view has it."""
        if labels is not None:
            return labels.stream if labels.stream in self.catalog.views else None
        streams = self.catalog.streams.values()
        if any(label in stream.labels for stream in streams if not stream.vertices):
            return None
        name, dot, _ = label.partition(".")
        if dot and name in self.catalog.views and name not in self.catalog.streams:
            return name
        views = [view for view in sorted(self.catalog.views) if label in self.constructed(view)]
        if len(views) > 1:
            raise QueryError(
                "E-AMBIGUOUS",
                f"the label is in the views {listed(views)}",
                at=at,
                text=label,
                hint=f"say which: `{views[0]}.{label}`, in backquotes",
            )
        return views[0] if views else None

    def constructed(self, view: str) -> tuple[str, ...]:
        """The labels that a view constructs; empty for an invalid view."""
        try:
            return tuple(_labels(self.parsed(view)))
        except QueryError:
            return ()

    def parsed(self, view: str) -> RegularQuery:
        if view not in self._read:
            text = self.catalog.views[view]
            self._read[view] = registry.parse_view(
                text.query, text.language, self.catalog.time_unit, self.deadline
            )
        return self._read[view]

    def _labels(self, view: str, at: Location, inside: tuple[str, ...]) -> Labels:
        """The predicates of the labels of a view; adds the rules of the view on first use."""
        if view in inside:
            circle = [*inside[inside.index(view) :], view]
            raise QueryError(
                "E-REC",
                f"the view {view} depends on itself: {' <- '.join(circle)}",
                at=at,
                text=view,
                hint="repetition is written as a closure, as follows+(x, y)",
            )
        if view not in self._predicates:
            if not inside:
                self._outside = at
            try:
                self._predicates[view] = self._added(view, (*inside, view), at)
            except QueryError as error:
                if error.code == "E-REC":
                    raise
                raise QueryError(
                    error.code,
                    f"in the view {view}: {error.message}",
                    at=at,
                    text=error.text,
                    expected=error.expected,
                    hint=error.hint,
                    remedies=error.remedies,
                ) from None
        return self._predicates[view]

    def _added(self, view: str, inside: tuple[str, ...], at: Location) -> Labels:
        parsed = self.parsed(view)
        if parsed.emit is not None:
            raise QueryError(
                "E-SYNTAX",
                "EMIT belongs to the query that reads the view",
                text="EMIT",
                hint="leave EMIT out of it",
            )
        query, _ = self.of(parsed, inside)
        labels = _labels(query)
        query, _ = expanded(query, self.catalog)
        query = with_labels_of_vertices(query, self.catalog)
        names = {name: self._free(f"{view}.{name}") for name in derived_by(query.rules)}
        inputs = Inputs(query, self.catalog, self.default_window)
        ready = self._heads()
        for rule in query.rules:
            for atom in rule.body:
                for name in (atom.predicate,) if isinstance(atom, VertexAtom) else predicates(atom):
                    if name in names or name in ready:
                        continue
                    scan, _ = (
                        inputs.vertex_scan(atom)
                        if isinstance(atom, VertexAtom)
                        else inputs.scan(name)
                    )
                    names[name] = self._free(f"{view}.{name}")
                    self.leaves[names[name]] = Leaf(f"{scan.stream}.{scan.label}", scan.window)
        # Later errors refer to a place in the query, not in the text of the view.
        place = replace(at if len(inside) == 1 else self._outside, view=view)
        rules = [
            with_predicates(rule, lambda n: names.get(n, n), vertices=True) for rule in query.rules
        ]
        self.rules += [_placed(rule, place) for rule in rules]
        return {label: names[predicate] for label, predicate in labels.items()}

    def _heads(self) -> set[str]:
        return {rule.head for rule in self.rules}

    def _predicate_of(self, constructed: Labels, view: str, label: str, at: Location) -> str:
        own = label.removeprefix(f"{view}.")
        if own in constructed:
            return constructed[own]
        raise QueryError(
            "E-UNKNOWN",
            f"the view {view} constructs no such edges",
            at=at,
            text=own,
            hint=suggestion(own, constructed, "it constructs"),
        )

    def _under(self, predicate: str, window: Window | None, at: Location) -> str:
        if window is None:
            return predicate
        if (predicate, window) not in self._windowed:
            name = self._windowed[predicate, window] = self._free(f"{predicate}[{window}]")
            self.rules.append(Rule.renaming(name, predicate, at, window))
        return self._windowed[predicate, window]

    def _any_of(
        self, labels: LabelSet, constructed: Labels, window: Window | None, at: Location
    ) -> tuple[regex.Symbol, ...]:
        """The predicates of a label set over a view."""
        return tuple(
            regex.Symbol(self._under(constructed[label], window, at), inverse)
            for label, inverse in labels.among(constructed)
        )

    def _free(self, name: str) -> str:
        name = first_free(name, self.taken)
        self.taken.add(name)
        return name


class _Names:
    """The names of a query; ``read`` has the first use of each name that no rule derives."""

    def __init__(self, query: RegularQuery) -> None:
        self.sets = dict(query.label_sets)
        self.leaves = dict(query.leaves)
        derived = derived_by(query.rules)
        self.read: dict[str, Location] = {}
        for rule in query.rules:
            for atom in rule.body:
                for name in predicates(atom):
                    if name not in derived:
                        self.read.setdefault(name, atom.location)
        self.all = derived | self.read.keys()


def _labels(query: RegularQuery) -> dict[str, str]:
    """The labels that a query constructs; in RQ, the name of its answer.

    Raises:
        QueryError: E-ARITY if the answer is not binary.
    """
    if query.labels:
        return dict(query.labels)
    head = next(rule for rule in query.rules if rule.head == query.answer)
    columns = value_columns(query.rules, evaluation_order(query.rules))[query.answer]
    if len(columns) != 2 or any(columns) or head.properties:
        what = "values" if len(columns) == 2 else f"{len(columns)} columns"
        raise QueryError(
            "E-ARITY",
            f"a view gives edges, and its answer {query.answer} has {what}",
            at=head.location,
            text=query.answer,
            hint=f"let it be {query.answer}(x, y)",
        )
    return {query.answer: query.answer}


def _placed(part: T, at: Location) -> T:
    """A rule, or part of a rule, with another location."""
    if isinstance(part, Location):
        return at  # type: ignore[return-value]
    if isinstance(part, tuple):
        return tuple(_placed(inner, at) for inner in part)  # type: ignore[return-value]
    if not is_dataclass(part) or isinstance(part, type):
        return part
    parts = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    return replace(part, **{name: _placed(value, at) for name, value in parts.items()})

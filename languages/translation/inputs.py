"""Resolves the input labels of a query to streams and windows of a catalog.

In: a query, a catalog, a default window. Out: a scan for each label. The most specific window wins:
the clause for the label, for its stream, for all streams, then the default. A label of a stored
graph has no window: the clause for all streams does not apply, and a clause that names the graph is
an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...algebra.logical import WScan
from ...algebra.remedy import Remedy
from ...algebra.window import Window
from ...catalog.model import Catalog, PropertyType, Stream, VertexType
from ..query.errors import QueryError, line_of, listed, suggestion
from ..query.predicates import aliases, derived_by, predicates
from ..query.regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    EdgeAtom,
    Leaf,
    Location,
    Property,
    RegularQuery,
    Row,
    VertexAtom,
    WindowClause,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of rows: the stream, the name of the label in the stream, and the properties.

    ``ts``, the time of an edge, is a property, except in a stored graph. Derived edges have no
    stream and no properties.
    """

    stream: str
    label: str
    properties: Mapping[str, PropertyType]
    vertex_type: VertexType | None = None

    @property
    def tag(self) -> str:
        """A text that identifies the origin."""
        return json.dumps([self.stream, self.label], ensure_ascii=False)


@dataclass(slots=True)
class Inputs:
    """The input labels of one query; the constructor checks names against the catalog.

    Attributes:
        query: the query.
        catalog: the catalog of its streams.
        default_window: the window of streams without a clause, in the catalog's unit.
        locations: the place of the first use of each predicate.

    Raises:
        QueryError: E-EDB for a derived predicate that is an input label, E-UNKNOWN for the window
            of an unknown stream or label, E-STORED for the window of a stored graph.
    """

    query: RegularQuery
    catalog: Catalog
    default_window: Window | None = None
    locations: dict[str, Location] = field(init=False)
    _used: set[int] = field(init=False, default_factory=set)
    _leaves: dict[str, Leaf] = field(init=False)
    _derived: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.locations = _first_uses(self.query)
        self._leaves = dict(self.query.leaves)
        self._derived = frozenset(derived_by(self.query.rules))
        for rule in self.query.rules:
            self._check_is_no_label(rule.head, rule.location)
        for name in aliases(self.query.rules):
            self._check_is_no_label(name, self.locations[name])
        for clause in self.query.windows:
            self._check_clause(clause)

    def scan(self, label: str) -> tuple[WScan, VertexType]:
        """The scan of an input label, and the type of its vertices.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS, E-NOWIN.
        """
        return self._scan(label, self.locations[label], False)

    def vertex_scan(self, atom: VertexAtom) -> tuple[WScan, VertexType]:
        """The scan of a vertex label, and the type of its vertices; both columns are the vertex.

        Raises:
            QueryError: as :meth:`scan`.
        """
        return self._scan(atom.predicate, atom.location, True)

    def _scan(self, label: str, at: Location, vertices: bool) -> tuple[WScan, VertexType]:
        stream, own = self._stream(label, at, vertices)
        leaf = self._leaves.get(label)
        if leaf is not None and stream.stored and leaf.window is not None:
            raise QueryError(
                "E-STORED",
                f"{stream.name} is a stored graph, which is valid always and has no window",
                at=at,
                text=own,
                hint="leave its window out",
            )
        if stream.stored:
            window = None
        elif leaf is not None and leaf.window is not None:
            window = leaf.window
        else:
            window = self._window(stream, own, at, by_clause=leaf is None)
        scan = WScan(stream.name, own, window, deletions=stream.deletions)
        return scan, stream.vertex_type

    def origins(self, atom: Row) -> tuple[Origin, ...]:
        """The origins of an atom's rows, one for each label that may match.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS.
        """
        if isinstance(atom, VertexAtom):
            return (self._origin(atom.predicate, atom.location, True),)
        return tuple(self.origin_of(str(ref), atom.location) for ref in atom.refs)

    def origin_of(self, label: str, at: Location) -> Origin:
        """The origin of the edges of a label or derived predicate.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS.
        """
        return Origin("", label, {}) if label in self._derived else self._origin(label, at, False)

    def _origin(self, label: str, at: Location, vertices: bool) -> Origin:
        stream, own = self._stream(label, at, vertices)
        time: dict[str, PropertyType] = {} if stream.stored else {"ts": "integer"}
        return Origin(stream.name, own, {**stream.properties, **time}, stream.vertex_type)

    def identity(self, atom: EdgeAtom) -> tuple[str, ...]:
        """The properties that, with the two ends, identify the edges of an atom."""
        origins = self.origins(atom)
        several = [OWN_LABEL] * (len({origin.tag for origin in origins}) > 1)
        turned = [OWN_SOURCE] * atom.is_undirected
        named = {name for origin in origins for name in origin.properties}
        return (*several, *turned, *sorted(named))

    def column_type(self, atom: Row, name: str) -> PropertyType | None:
        """The type of a property, or of a hidden property, of the rows of an atom.

        None if labels disagree on the type, or a label lacks the property.
        """
        origins = self.origins(atom)
        if name == OWN_LABEL:
            return "string"
        types: set[PropertyType | None]
        if name in (OWN_SOURCE, OWN_TARGET):
            types = {origin.vertex_type for origin in origins}
        else:
            types = {origin.properties.get(name) for origin in origins}
        return types.pop() if len(types) == 1 else None

    def property_types(self, atom: Row, of: Property, at: Location) -> tuple[PropertyType, ...]:
        """The types of a property of the rows of an atom, one for each label that may match.

        Raises:
            QueryError: E-UNKNOWN if a label lacks the property, E-STORED for the time of an
                edge of a stored graph.
        """
        types = [self._property_type(origin, atom, of, at) for origin in self.origins(atom)]
        return tuple(dict.fromkeys(types))

    def _property_type(self, origin: Origin, atom: Row, of: Property, at: Location) -> PropertyType:
        stream, declared = origin.stream, origin.properties
        if of.name in declared:
            return declared[of.name]
        rows = "vertices" if isinstance(atom, VertexAtom) else "edges"
        if of.name == "ts":
            raise QueryError(
                "E-STORED",
                f"{stream} is a stored graph, whose {rows} have no time: they are valid always",
                at=of.location or at,
                text=f"{of.edge}.{of.name}",
                hint="a column of its files that holds a time can be a property of another name",
            )
        raise QueryError(
            "E-UNKNOWN",
            f"the {rows} of stream {stream} have no property {of.name}",
            at=of.location or at,
            text=f"{of.edge}.{of.name}",
            hint=suggestion(of.name, declared, "the properties are"),
        )

    def unused_windows(self) -> Iterator[str]:
        """A warning for each window clause that no label uses."""
        for position, clause in enumerate(self.query.windows):
            if position not in self._used:
                target = "WINDOW" if clause.stream is None else f"ON {clause.stream}"
                reason = "no label of the query takes its window from this clause"
                yield line_of("W-UNUSED", clause.location, target, reason)

    def _stream(self, label: str, at: Location, vertices: bool) -> tuple[Stream, str]:
        """The stream of a label, and the name of the label in the stream."""
        label = self._leaves[label].label if label in self._leaves else label
        streams = self.catalog.streams_of(label, vertices=vertices)
        if not any(label in stream.labels for stream in streams):
            # `stream.label` in backquotes, unless a label has exactly this name.
            name, dot, own = label.partition(".")
            qualified = self.catalog.streams.get(name) if dot and own else None
            if (
                qualified
                and qualified.vertices == vertices
                and (own in qualified.labels or qualified.open_labels)
            ):
                return qualified, own
            if qualified and vertices:
                return self._stored_vertices(label, own, at), own
        if not streams:
            raise self._unknown_label(label, at, vertices)
        meant = [s for s in streams if any(_names(c, s, label) for c in self.query.windows)]
        if len(streams) > 1 and len(meant) != 1:
            names = [stream.name for stream in streams]
            windowed = [stream.name for stream in streams if not stream.stored]
            clause = f", or a clause ON {windowed[0]} ({label}) WINDOW ..." if windowed else ""
            raise QueryError(
                "E-AMBIGUOUS",
                f"the label is in the streams {listed(names)}",
                at=at,
                text=label,
                hint=f"say which: `{names[0]}.{label}`, in backquotes{clause}",
            )
        return (meant or streams)[0], label

    def _stored_vertices(self, label: str, own: str, at: Location) -> Stream:
        """The stored vertices with a label that the named stream lacks."""
        having = [s for s in self.catalog.streams_of(own, vertices=True) if own in s.labels]
        stored = [stream for stream in having if stream.stored]
        if len(stored) == 1:
            return stored[0]
        name = label.partition(".")[0]
        if stored:
            names = [stream.name for stream in stored]
            raise QueryError(
                "E-AMBIGUOUS",
                f"{name} has no such vertices, and several stored graphs have: {listed(names)}",
                at=at,
                text=own,
                hint=f"say which: `{names[0]}.{own}`, in G-CORE (x:{own}) ON {names[0]}",
            )
        raise QueryError(
            "E-UNKNOWN",
            f"{name} has no vertices of this label, and no stored graph has",
            at=at,
            text=own,
            hint=f"it is in {having[0].name}: in G-CORE, write (x:{own}) ON {having[0].name} "
            "WINDOW (24h)"
            if having
            else suggestion(own, self._labels(True), "the labels of vertices are"),
        )

    def _labels(self, vertices: bool) -> set[str]:
        streams = self.catalog.streams.values()
        return {name for s in streams if s.vertices == vertices for name in s.labels}

    def _window(self, stream: Stream, label: str, at: Location, *, by_clause: bool) -> Window:
        clauses = list(enumerate(self.query.windows)) if by_clause else []
        of_label = [i for i, c in clauses if _names(c, stream, label)]
        of_stream = [i for i, c in clauses if c.stream == stream.name and not c.labels]
        of_all = [i for i, c in clauses if c.stream is None]
        for position in (*of_label, *of_stream, *of_all):
            self._used.add(position)
            return self.query.windows[position].window
        if self.default_window is None:
            raise QueryError(
                "E-NOWIN",
                f"the stream {stream.name} has no window, so its edges would never expire",
                at=at,
                text=label,
                hint=f"add WINDOW 24h at its end, in G-CORE ON {stream.name} WINDOW (24h)",
                remedies=(Remedy("window", "give a default window", "24h"),),
            )
        return self.default_window

    def _check_is_no_label(self, name: str, at: Location) -> None:
        for stream in self.catalog.streams.values():
            if name in stream.labels and not stream.vertices:
                raise QueryError(
                    "E-EDB",
                    f"it is an input label, of the stream {stream.name}",
                    at=at,
                    text=name,
                    hint="give the derived predicate another name",
                )

    def _check_clause(self, clause: WindowClause) -> None:
        if clause.stream is None:
            return
        stream = self.catalog.streams.get(clause.stream)
        if stream is None:
            raise QueryError(
                "E-UNKNOWN",
                "there is no such stream",
                at=clause.location,
                text=clause.stream,
                hint=suggestion(clause.stream, self.catalog.streams, "the streams are"),
            )
        if stream.stored:
            raise QueryError(
                "E-STORED",
                f"{stream.name} is a stored graph, which is valid always",
                at=clause.location,
                text=clause.stream,
                hint="leave its window out",
            )
        for label in clause.labels:
            if label not in stream.labels and not stream.open_labels:
                raise QueryError(
                    "E-UNKNOWN",
                    f"the stream {stream.name} has no such label",
                    at=clause.location,
                    text=label,
                    hint=suggestion(label, stream.labels, "its labels are"),
                )

    def _unknown_label(self, label: str, at: Location, vertices: bool) -> QueryError:
        labels = self._labels(vertices)
        remedies: tuple[Remedy, ...] = ()
        derived = {rule.head for rule in self.query.rules}
        if vertices:
            if label in derived:
                hint = f"it is derived, and relates two vertices: write {label}(x, y)"
            elif label in self._labels(False):
                hint = (
                    f"it is a label of edges: write {label}(x, y), with _ for an end that does "
                    "not matter"
                )
            elif labels:
                hint = suggestion(label, labels, "the labels of vertices are")
            else:
                hint = "say vertices: true of their stream in the catalog"
                remedies = (Remedy("vertices", "name their file"),)
            return QueryError(
                "E-UNKNOWN",
                "no stream has vertices of this label",
                at=at,
                text=label,
                hint=hint,
                remedies=remedies,
            )
        if label in self._labels(True):
            return QueryError(
                "E-UNKNOWN",
                "it is a label of vertices, and no stream has such edges",
                at=at,
                text=label,
                hint=f"write {label}(x), in G-CORE (x:{label})",
            )
        return QueryError(
            "E-UNKNOWN",
            "no stream has this label, and no rule derives it",
            at=at,
            text=label,
            hint=suggestion(label, labels, "the labels are", also=derived),
        )


def _names(clause: WindowClause, stream: Stream, label: str) -> bool:
    return clause.stream == stream.name and label in clause.labels


def _first_uses(query: RegularQuery) -> dict[str, Location]:
    """The place of the first use of each predicate, and of the definition of each alias."""
    places: dict[str, Location] = {}
    for rule in query.rules:
        for atom in rule.body:
            for name in predicates(atom):
                places.setdefault(name, atom.location)
            if not isinstance(atom, VertexAtom) and atom.alias is not None:
                places.setdefault(atom.alias, atom.location)
    return places

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
from ..query.atoms import BinaryAtom, DerivedAtom, EdgeAtom, Location, Row, VertexAtom
from ..query.errors import QueryError, line_of, suggestion
from ..query.predicates import aliases, derived_by, predicates
from ..query.regular_query import (
    OWN_LABEL,
    OWN_SOURCE,
    OWN_TARGET,
    Leaf,
    Property,
    RegularQuery,
    WindowClause,
)
from .label_streams import LabelStreams, is_named, labels_of_rows


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of rows: the stream, the name of the label in the stream, and the properties.

    ``ts``, the time of an edge, is a property, except in a stored graph. Derived edges have no
    stream and no properties. Rows of one element are merged if ``merges``.
    """

    stream: str
    label: str
    properties: Mapping[str, PropertyType]
    vertex_type: VertexType | None = None
    merges: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        """The properties that, with the two ends, identify an edge."""
        names = tuple(sorted(self.properties))
        return tuple(name for name in names if name == "id") if self.merges else names

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
        scans: the scans so far, without properties.

    Raises:
        QueryError: E-EDB for a derived predicate that is an input label, E-UNKNOWN for the window
            of an unknown stream or label, E-STORED for the window of a stored graph.
    """

    query: RegularQuery
    catalog: Catalog
    default_window: Window | None = None
    locations: dict[str, Location] = field(init=False)
    scans: set[WScan] = field(init=False, default_factory=set)
    _used: set[int] = field(init=False, default_factory=set)
    _leaves: dict[str, Leaf] = field(init=False)
    _streams: LabelStreams = field(init=False)
    _derived: frozenset[str] = field(init=False)
    _windowed: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.locations = _first_uses(self.query)
        self._leaves = dict(self.query.leaves)
        self._derived = frozenset(derived_by(self.query.rules))
        windows = [rule for rule in self.query.rules if rule.window is not None]
        self._windowed = {rule.head: predicates(rule.body[0])[0] for rule in windows}
        heads = {rule.head for rule in self.query.rules}
        self._streams = LabelStreams(self.catalog, self.query.windows, heads)
        for rule in self.query.rules:
            self._check_is_no_label(rule.head, rule.location)
            for atom in rule.body:
                if isinstance(atom, DerivedAtom) and len(atom.terms) == 1:
                    self._check_is_no_vertex_label(atom)
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
        stream, own = self._stream_of(label, at, vertices)
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
        self.scans.add(scan)
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

        A window over a derived predicate has the edges of the predicate.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS.
        """
        if label not in self._derived:
            return self._origin(label, at, False)
        while label in self._windowed:
            label = self._windowed[label]
        return Origin("", label, {})

    def _origin(self, label: str, at: Location, vertices: bool) -> Origin:
        stream, own = self._stream_of(label, at, vertices)
        time: dict[str, PropertyType] = {} if stream.stored else {"ts": "integer"}
        properties = {**stream.properties, **time}
        return Origin(stream.name, own, properties, stream.vertex_type, stream.merge)

    def labels_beside(self, origin: Origin) -> tuple[str, ...]:
        """The labels of the rows that the elements of an origin's stream may have."""
        return labels_of_rows(self.catalog.streams[origin.stream])

    def identity(self, atom: EdgeAtom) -> tuple[str, ...]:
        """The properties that, with the two ends, identify the edges of an atom."""
        origins = self.origins(atom)
        several = [OWN_LABEL] * (len({origin.tag for origin in origins}) > 1)
        turned = [OWN_SOURCE] * atom.is_undirected
        named = {name for origin in origins for name in origin.identity}
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

    def _stream_of(self, label: str, at: Location, vertices: bool) -> tuple[Stream, str]:
        """The stream of a label or leaf, and the name of the label in the stream."""
        leaf = self._leaves.get(label)
        return self._streams.stream_of(label if leaf is None else leaf.label, at, vertices)

    def _window(self, stream: Stream, label: str, at: Location, *, by_clause: bool) -> Window:
        clauses = list(enumerate(self.query.windows)) if by_clause else []
        of_label = [i for i, c in clauses if is_named(stream, label, c)]
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

    def _check_is_no_vertex_label(self, atom: DerivedAtom) -> None:
        for stream in self.catalog.streams.values():
            if atom.predicate in stream.labels and stream.vertices:
                raise QueryError(
                    "E-EDB",
                    f"it is a rule's head, and a label of vertices of the stream {stream.name}",
                    at=atom.location,
                    text=atom.predicate,
                    hint="give the derived predicate another name",
                )

    def _check_clause(self, clause: WindowClause) -> None:
        if clause.stream is None:
            return
        stream = self.catalog.streams.get(clause.stream)
        if stream is None:
            raise QueryError(
                "E-UNKNOWN",
                "no stream has this name",
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


def _first_uses(query: RegularQuery) -> dict[str, Location]:
    """The place of the first use of each predicate, and of the definition of each alias."""
    places: dict[str, Location] = {}
    for rule in query.rules:
        for atom in rule.body:
            for name in predicates(atom):
                places.setdefault(name, atom.location)
            if isinstance(atom, BinaryAtom) and atom.alias is not None:
                places.setdefault(atom.alias, atom.location)
    return places

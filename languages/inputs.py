"""Which stream and window an input label of a query means, by a catalog.

In: a query, a catalog, a default window. Out: a scan for each label. A clause for the label
wins over one for its stream, this over the clause for all streams, this over the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from algebra.logical import WScan
from algebra.window import Window
from catalog.model import Catalog, PropertyType, Stream, VertexType
from languages.checks import aliases, predicates
from languages.errors import QueryError, line_of, listed
from languages.regular_query import Location, PathAtom, Property, RegularQuery, WindowClause


@dataclass(slots=True)
class Inputs:
    """The input labels of one query; checks its names against the catalog when made.

    Raises:
        QueryError: E-EDB for a derived predicate that is an input label, E-UNKNOWN for a
            window of a stream or label that the catalog does not have.
    """

    query: RegularQuery
    catalog: Catalog
    default_window: Window | None = None
    locations: dict[str, Location] = field(init=False)
    _used: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.locations = _first_uses(self.query)
        for rule in self.query.rules:
            self._check_is_no_label(rule.head, rule.location)
        for name in aliases(self.query.rules):
            self._check_is_no_label(name, self.locations[name])
        for clause in self.query.windows:
            self._check_clause(clause)

    def scan(self, label: str) -> tuple[WScan, VertexType]:
        """The scan of an input label, and the type of the vertices it gives.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS, E-NOWIN, E-STORED.
        """
        at = self.locations[label]
        stream, own = self._stream(label, at)
        if stream.stored:
            raise QueryError(
                "E-STORED",
                f"{stream.name} is a stored graph, and these cannot be read yet",
                at=at,
                text=label,
                hint="give its edges a time, and a window as long as they are to count",
            )
        window = self._window(stream, own, at)
        scan = WScan(stream.name, own, window, deletions=stream.deletions)
        return scan, stream.vertex_type

    def origin(self, label: str) -> tuple[str, str, Mapping[str, PropertyType]]:
        """The stream of an input label, its name there, and its properties with their types.

        ``ts``, the time of an edge, is one of them.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS.
        """
        stream, own = self._stream(label, self.locations[label])
        return stream.name, own, {**stream.properties, "ts": "integer"}

    def property_type(self, label: str, of: Property, at: Location) -> PropertyType:
        """The type of a property of the edges of an input label.

        Raises:
            QueryError: E-UNKNOWN if they have no such property.
        """
        stream, _, known = self.origin(label)
        if of.name in known:
            return known[of.name]
        raise QueryError(
            "E-UNKNOWN",
            f"the edges of stream {stream} have no property {of.name}",
            at=of.location or at,
            text=f"{of.edge}.{of.name}",
            hint=_suggestion(of.name, known, "the properties are"),
        )

    def unused_windows(self) -> Iterator[str]:
        """Warnings of the clauses that no label took its window from."""
        for position, clause in enumerate(self.query.windows):
            if position not in self._used:
                target = "WINDOW" if clause.stream is None else f"ON {clause.stream}"
                reason = "no label of the query takes its window from this clause"
                yield line_of("W-UNUSED", clause.location, target, reason)

    def _stream(self, label: str, at: Location) -> tuple[Stream, str]:
        """The stream that a label is of, and what it is called there."""
        streams = self.catalog.streams_of(label)
        if not any(label in stream.labels for stream in streams):
            # `stream.label`, in backquotes, where no label is called just that.
            name, dot, own = label.partition(".")
            qualified = self.catalog.streams.get(name) if dot and own else None
            if qualified and (own in qualified.labels or qualified.open_labels):
                return qualified, own
        if not streams:
            raise self._unknown_label(label, at)
        meant = [s for s in streams if any(_names(c, s, label) for c in self.query.windows)]
        if len(streams) > 1 and len(meant) != 1:
            names = [stream.name for stream in streams]
            raise QueryError(
                "E-AMBIGUOUS",
                f"the label is in the streams {listed(names)}",
                at=at,
                text=label,
                hint=f"say which: `{names[0]}.{label}`, in backquotes, "
                f"or a clause ON {names[0]} ({label}) WINDOW ...",
            )
        return (meant or streams)[0], label

    def _window(self, stream: Stream, label: str, at: Location) -> Window:
        clauses = list(enumerate(self.query.windows))
        of_label = [i for i, c in clauses if _names(c, stream, label)]
        of_stream = [i for i, c in clauses if c.stream == stream.name and not c.labels]
        of_all = [i for i, c in clauses if c.stream is None]
        for position in (*of_label, *of_stream, *of_all):
            self._used.add(position)
            return self.query.windows[position].window
        if self.default_window is None:
            raise QueryError(
                "E-NOWIN",
                f"the stream {stream.name} has no window, so nothing of it would ever end",
                at=at,
                text=label,
                hint=f"add WINDOW 24h, in G-CORE ON {stream.name} WINDOW (24h), or use --window",
            )
        return self.default_window

    def _check_is_no_label(self, name: str, at: Location) -> None:
        for stream in self.catalog.streams.values():
            if name in stream.labels:
                raise QueryError(
                    "E-EDB",
                    f"it is an input label, of the stream {stream.name}",
                    at=at,
                    text=name,
                    hint="what is derived needs a name of its own",
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
                hint=_suggestion(clause.stream, self.catalog.streams, "the streams are"),
            )
        for label in clause.labels:
            if label not in stream.labels and not stream.open_labels:
                raise QueryError(
                    "E-UNKNOWN",
                    f"the stream {stream.name} has no such label",
                    at=clause.location,
                    text=label,
                    hint=_suggestion(label, stream.labels, "its labels are"),
                )

    def _unknown_label(self, label: str, at: Location) -> QueryError:
        known = {name for stream in self.catalog.streams.values() for name in stream.labels}
        derived = {rule.head for rule in self.query.rules}
        return QueryError(
            "E-UNKNOWN",
            "no stream has this label, and no rule derives it",
            at=at,
            text=label,
            hint=_suggestion(label, known, "the labels are", also=derived),
        )


def _names(clause: WindowClause, stream: Stream, label: str) -> bool:
    return clause.stream == stream.name and label in clause.labels


def _first_uses(query: RegularQuery) -> dict[str, Location]:
    """Where each predicate is first read, and each name of `as` is given."""
    places: dict[str, Location] = {}
    for rule in query.rules:
        for atom in rule.body:
            for name in predicates(atom):
                places.setdefault(name, atom.location)
            if isinstance(atom, PathAtom) and atom.alias is not None:
                places.setdefault(atom.alias, atom.location)
    return places


def _suggestion(
    name: str, known: Iterable[str], introduction: str, also: Iterable[str] = ()
) -> str:
    """What there is; first the name that is most like the wrong one, if any is."""
    names = sorted(known)
    everything = f"{introduction} {listed(names)}" if names else "the catalog has none at all"
    by_folded = {k.casefold(): k for k in (*sorted(also), *names)}
    close = get_close_matches(name.casefold(), by_folded, n=1)
    return f"did you mean {by_folded[close[0]]}? {everything}" if close else everything

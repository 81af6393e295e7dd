"""Finds the stream of a label in a catalog, and explains unknown and ambiguous labels."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from ...algebra.remedy import Remedy
from ...catalog.model import NO_LABEL, Catalog, Stream
from ..query.atoms import Location
from ..query.errors import QueryError, listed, suggestion
from ..query.regular_query import WindowClause


@dataclass(frozen=True, slots=True)
class LabelStreams:
    """The streams of the labels of a query.

    Attributes:
        catalog: the catalog of the streams.
        windows: the window clauses of the query, which may say which of several streams is meant.
        derived: the heads of the query's rules, for messages.
    """

    catalog: Catalog
    windows: tuple[WindowClause, ...]
    derived: Set[str]

    def stream_of(self, label: str, at: Location, vertices: bool) -> tuple[Stream, str]:
        """The stream of a label, and the name of the label in the stream.

        Raises:
            QueryError: E-UNKNOWN, E-AMBIGUOUS.
        """
        streams = self.catalog.streams_of(label, vertices=vertices)
        if not any(label in stream.labels for stream in streams):
            # `stream.label` in backquotes, unless a label has exactly this name.
            name, dot, own = label.partition(".")
            qualified = self.catalog.streams.get(name) if dot and own else None
            if (
                qualified
                and qualified.vertices == vertices
                and (own in labels_of_rows(qualified) or qualified.open_labels)
            ):
                return qualified, own
            if qualified and vertices:
                return self._stored_vertices(label, own, at), own
        if not streams:
            raise self._unknown_label(label, at, vertices)
        meant = [s for s in streams if any(is_named(s, label, c) for c in self.windows)]
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

    def _unknown_label(self, label: str, at: Location, vertices: bool) -> QueryError:
        labels = self._labels(vertices)
        remedies: tuple[Remedy, ...] = ()
        if vertices:
            if label in self.derived:
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
            hint=suggestion(label, labels, "the labels are", also=self.derived),
        )


def labels_of_rows(stream: Stream) -> tuple[str, ...]:
    """The labels of the rows of a stream; a node of a stream of graphs may have none."""
    unlabelled = stream.vertices and stream.source is not None and stream.source.of_graphs
    return (*stream.labels, *([NO_LABEL] if unlabelled else []))


def is_named(stream: Stream, label: str, clause: WindowClause) -> bool:
    """Whether a window clause names the label of the stream."""
    return clause.stream == stream.name and label in clause.labels

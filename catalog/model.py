"""The model of a catalog: streams, their sources, labels and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from ..algebra.values import PropertyType, VertexType

__all__ = [
    "FILE_FORMATS",
    "ROLES",
    "VERTEX_ROLES",
    "Catalog",
    "LabelStatistics",
    "PropertyType",
    "Source",
    "Stream",
    "VertexType",
    "View",
    "roles_of",
]

ROLES = ("src", "trg", "label", "ts", "op")
"""The roles that columns of edges may fill; no property has such a name."""
VERTEX_ROLES = ("id", "label", "ts", "op")
"""The same for a source of vertices."""

FILE_FORMATS: Mapping[str, Literal["csv", "json", "parquet"]] = {
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "parquet",
}
"""The formats of files by their names in a catalog."""

LIVE_FORMATS = (
    "kafka",
    "kinesis",
    "pulsar",
    "delta",
    "iceberg",
    "socket",
    "text",
    "orc",
    "avro",
    "rate",
    "rate-micro-batch",
)
"""The formats of Structured Streaming that a catalog may name. Spark takes any other name for that
of a class, which it loads."""


def roles_of(vertices: bool) -> tuple[str, ...]:
    """The roles that columns of a source of edges, or of vertices, may fill."""
    return VERTEX_ROLES if vertices else ROLES


@dataclass(frozen=True, slots=True)
class LabelStatistics:
    """The statistics of one label of a stream.

    Units: ``rate`` in edges per time unit of the catalog; ``population`` is the number of
    edges of a stored graph (its rate is 0) and None for a stream, where it follows from
    rate and window. Distinct counts are of the domain, not of one window;
    ``distinct_properties`` are those of properties by name, of any or none of them.
    """

    rate: float
    distinct_src: float
    distinct_trg: float
    vertices: float
    distinct_pairs: float | None = None
    degree_skew: float | None = None
    longest_path: int | None = None
    population: float | None = None
    measured_at: str | None = None
    distinct_properties: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )


@dataclass(frozen=True, slots=True)
class Source:
    """The source of rows: a Structured Streaming format, a path, reader options.

    A path is a file, a folder or a glob. ``path_labels`` gives the rows of each path a
    label; it is empty where labels come from elsewhere. ``follow``: the path is a folder into which
    files are put for ever. ``value`` says how the text of a message is laid out, and ``fields``
    what the fields of one of CSV are.
    """

    format: str
    path: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    path_labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    follow: bool = False
    value: Literal["json", "csv"] | None = None
    fields: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        """Whether it never ends: anything but files that are there."""
        return self.follow or self.format not in FILE_FORMATS


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of edges, or a stored graph; or one of ``vertices``.

    A row of vertices is an edge from the vertex to itself, so that all that is said of edges
    and their properties here, and of statistics, holds for it too.
    ``properties`` are the types of its edges' properties; an edge may lack any of them.
    ``columns`` maps ``src``, ``trg``, ``label``, ``ts`` and properties to the source's
    names; ``label`` fixes the label of every row. With ``open_labels`` any other label may
    occur too, and nothing is known of it. Rows may come out of order by ``delay``, in time units;
    after ``idle_ms`` milliseconds of silence other streams no longer wait for this one.
    """

    name: str
    labels: Mapping[str, LabelStatistics]
    source: Source | None = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    label: str | None = None
    open_labels: bool = False
    vertex_type: VertexType = "string"
    delay: int = 0
    idle_ms: int | None = None
    deletions: bool = False
    stored: bool = False
    vertices: bool = False
    properties: Mapping[str, PropertyType] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def live(self) -> bool:
        """Whether its source never ends."""
        return self.source is not None and self.source.live


@dataclass(frozen=True, slots=True)
class View:
    """A query whose results can be read as a stream: its text, the file that it was read from if
    any, and its language (None: what the text looks like)."""

    query: str
    file: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """All streams and views by name; the time unit is that of rates, windows and timestamps."""

    streams: Mapping[str, Stream]
    time_unit: str = "second"
    views: Mapping[str, View] = field(default_factory=lambda: MappingProxyType({}))
    _listing: dict[tuple[str, bool], tuple[Stream, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def streams_of(self, label: str, *, vertices: bool = False) -> tuple[Stream, ...]:
        """The streams in which ``label`` of edges, or of ``vertices``, may occur, in the order of
        their names.

        Streams that list the label win over streams with open labels.
        """
        if not self._listing:
            # Made when it is first needed: there may be very many labels, or streams.
            by_label: dict[tuple[str, bool], list[Stream]] = {}
            for _, stream in sorted(self.streams.items()):
                for listed_label in stream.labels:
                    by_label.setdefault((listed_label, stream.vertices), []).append(stream)
            self._listing.update({key: tuple(streams) for key, streams in by_label.items()})
        if listed := self._listing.get((label, vertices)):
            return listed
        named = (self.streams[name] for name in sorted(self.streams))
        return tuple(s for s in named if s.vertices == vertices and s.open_labels)

"""The model of a catalog: streams, their sources, labels and statistics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ..algebra.values import PropertyType, VertexType
from .sinks import NamedSink

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .figures import FeedbackFile, Measured
    from .raw import Column as Values

    Hashes = NDArray[np.uint64]
    Times = NDArray[np.int64]
    LabelCodes = NDArray[np.int32]

__all__ = [
    "FILE_FORMATS",
    "NO_LABEL",
    "ROLES",
    "VERTEX_ROLES",
    "Catalog",
    "End",
    "Joint",
    "LabelStatistics",
    "Layout",
    "PropertyStatistics",
    "PropertyType",
    "RateHistogram",
    "SampleFile",
    "Source",
    "Stream",
    "StreamSample",
    "VertexType",
    "View",
    "roles_of",
]

ROLES = ("src", "trg", "label", "ts", "op")
"""The roles that columns of edges may fill; a property cannot have the name of a role."""
VERTEX_ROLES = ("id", "label", "ts", "op")
"""The roles that columns of vertices may fill."""

NO_LABEL = "(no label)"
"""The label of the rows of nodes without a label, in events that are graphs. Such a row has newest
properties of a node that gets its labels from other events."""
Layout = Literal["seraph", "neo4j", "neo4j-cdc"]
"""The layouts of events that are graphs."""

FILE_FORMATS: Mapping[str, Literal["csv", "json", "graph", "parquet"]] = {
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "graph": "graph",
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
"""The formats of Structured Streaming that a catalog may name. The catalog refuses any other name,
since Spark would load a class of that name."""


def roles_of(vertices: bool) -> tuple[str, ...]:
    """The roles that columns of a source of edges, or of vertices, may fill."""
    return VERTEX_ROLES if vertices else ROLES


Scalar = str | int | float | bool
Frequency = tuple[Scalar, float]
"""A value and its share of the rows, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class RateHistogram:
    """The rate of a label over time, in parts of equal length.

    Attributes:
        start: the time at which the first part begins, in time units.
        part: the length of a part, in time units.
        rates: the mean rate of each part, in edges per time unit.
    """

    start: int
    part: int
    rates: tuple[float, ...]

    @property
    def peak(self) -> float:
        """The rate of the busiest part."""
        return max(self.rates, default=0.0)

    @property
    def edges(self) -> float:
        """The number of edges in all parts."""
        return sum(self.rates) * self.part


@dataclass(frozen=True, slots=True)
class PropertyStatistics:
    """The distribution of the values of a property.

    Attributes:
        nulls: the share of edges without the property, from 0 to 1.
        common: the most common values, each with its share of all edges, the most common first.
        quantiles: the smallest value, values that split the edges with a value into equal parts,
            and the largest value; empty if unknown. They have one type, and booleans have none.
    """

    nulls: float = 0.0
    common: tuple[Frequency, ...] = ()
    quantiles: tuple[str | int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelStatistics:
    """The statistics of one label of a stream.

    Distinct counts are those of the whole stream, not of one window.

    Attributes:
        rate: edges per time unit of the catalog; 0 for a stored graph.
        distinct_src: the number of distinct sources.
        distinct_trg: the number of distinct targets.
        vertices: the number of distinct vertices at either end.
        distinct_pairs: the number of distinct pairs of source and target.
        degree_skew: the mean squared degree over the squared mean degree; 1 for equal degrees.
        longest_path: the number of edges of the longest path of this label.
        population: the number of edges of a stored graph; None for a stream.
        measured_at: the time of the measurement, ISO-8601.
        distinct_properties: the number of distinct values of each property, by name.
        rates: the rate over time; None for a stored graph, or if unknown.
        frequent_src: the most frequent sources as text, each with its share of the edges.
        frequent_trg: the most frequent targets as text, each with its share of the edges.
        properties: the distribution of each property, by name.
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
    rates: RateHistogram | None = None
    frequent_src: tuple[Frequency, ...] = ()
    frequent_trg: tuple[Frequency, ...] = ()
    properties: Mapping[str, PropertyStatistics] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )


End = tuple[str, str, Literal["src", "trg"]]
"""One end of the edges of a label: stream, label, and source or target."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Joint statistics of two ends, whose vertices have one type.

    With d1(v) and d2(v) edges at the vertex v, and N1 and N2 edges in all, the selectivity is the
    sum of d1(v)·d2(v) over all vertices, divided by N1·N2. It is the probability that two edges,
    chosen at random, meet. It does not depend on the length of a window if the mix of edges is the
    same at all times.

    Attributes:
        left: one end.
        right: the other end; it may be the same one.
        selectivity: the selectivity of the join of the two ends, from 0 to 1.
        shared: the number of distinct vertices that occur at both ends.
    """

    left: End
    right: End
    selectivity: float
    shared: float


@dataclass(frozen=True, slots=True)
class Source:
    """The source of the rows of a stream.

    Attributes:
        format: a format of files, or of Structured Streaming.
        path: files, folders or globs.
        options: options of the reader, by name.
        path_labels: the label of the rows of each path; empty if labels come from elsewhere.
        follow: whether ``path`` is a folder that is followed for new files.
        value: the format of a text message: json, csv or graph.
        fields: the fields of a message of CSV, in order.
        layout: the layout of events that are graphs.
    """

    format: str
    path: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    path_labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    follow: bool = False
    value: Literal["json", "csv", "graph"] | None = None
    fields: tuple[str, ...] = ()
    layout: Layout = "seraph"

    @property
    def live(self) -> bool:
        """Whether the source never ends, as all do except files that are read once."""
        return self.follow or self.format not in FILE_FORMATS

    @property
    def of_graphs(self) -> bool:
        """Whether its rows are in events that are graphs."""
        return "graph" in (self.format, self.value)


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of edges, a stored graph, or a stream of vertices.

    A row of vertices is an edge from the vertex to itself, so a stream of vertices has the labels,
    properties and statistics of edges.

    Attributes:
        name: the name in the catalog.
        labels: the statistics of each label.
        source: the source of its rows; None if queries over it can only be planned.
        columns: the source's names of roles and properties; an absent one has its own name.
        label: the label of every row; None if a column holds it.
        open_labels: whether labels may occur that ``labels`` does not list.
        vertex_type: the type of its vertices.
        delay: the largest delay of a row, in time units.
        idle_ms: the time without rows after which other streams stop waiting, in milliseconds.
        deletions: whether rows may delete edges.
        stored: whether the stream is a stored graph, whose edges never expire.
        vertices: whether the rows are vertices.
        merge: whether the rows of a vertex, or of an edge with its id, are one with the newest
            properties.
        properties: the types of properties by name; each property may be missing.
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
    merge: bool = False
    properties: Mapping[str, PropertyType] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def live(self) -> bool:
        """Whether its source never ends."""
        return self.source is not None and self.source.live


@dataclass(frozen=True, slots=True)
class View:
    """A query whose results other queries read as a stream.

    ``file`` is the file of the text, if any; a ``language`` of None is detected from the text.
    """

    query: str
    file: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StreamSample:
    """All edges of a stream between two instants, sorted by time.

    Attributes:
        labels: the names of the labels.
        src: the hashes of the sources.
        trg: the hashes of the targets.
        label: the positions of the edges' labels in ``labels``.
        ts: the times of the edges, in ticks.
        begin: the first instant of which the sample has all edges.
        end: the last instant of which the sample has all edges.
        stored: whether the edges are those of a stored graph, which has no times.
        properties: the values of properties, as Arrow arrays by name.
        vertices: the hashes of all vertices, sorted.
        sources: the positions of the sources in ``vertices``.
        targets: the positions of the targets in ``vertices``.
    """

    labels: tuple[str, ...]
    src: Hashes
    trg: Hashes
    label: LabelCodes
    ts: Times
    begin: int
    end: int
    stored: bool = False
    properties: Mapping[str, Values] = field(default_factory=lambda: MappingProxyType({}))
    vertices: Hashes = field(init=False, repr=False)
    sources: Times = field(init=False, repr=False)
    targets: Times = field(init=False, repr=False)
    _rows: dict[str, Times] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        import numpy as np

        vertices, places = np.unique(np.concatenate([self.src, self.trg]), return_inverse=True)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "sources", places[: len(self.src)].astype(np.int64))
        object.__setattr__(self, "targets", places[len(self.src) :].astype(np.int64))

    def rows_of(self, label: str) -> Times:
        """The positions of the edges of a label."""
        rows = self._rows.get(label)
        if rows is None:
            import numpy as np

            code = self.labels.index(label) if label in self.labels else -1
            rows = self._rows[label] = np.flatnonzero(self.label == code)
        return rows


@dataclass(frozen=True, slots=True)
class SampleFile:
    """The file of a catalog's samples, and the SHA-256 digest of its content."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """The streams and views of queries by name, with statistics of several streams.

    Attributes:
        streams: the streams.
        time_unit: the unit of rates, windows and timestamps.
        views: the views.
        joint: the joint statistics of the streams' labels.
        sample_file: the file of the samples of streams; None without one.
        samples: the samples of streams in memory.
        sinks: the named sinks; no part of a plan depends on them.
        feedback: the file of figures that runs measured; None if none are kept.
        measured: the figures in memory.
    """

    streams: Mapping[str, Stream]
    time_unit: str = "second"
    views: Mapping[str, View] = field(default_factory=lambda: MappingProxyType({}))
    joint: tuple[Joint, ...] = ()
    sample_file: SampleFile | None = None
    samples: Mapping[str, StreamSample] = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )
    sinks: Mapping[str, NamedSink] = field(
        default_factory=lambda: MappingProxyType({}), compare=False
    )
    feedback: FeedbackFile | None = field(default=None, repr=False, compare=False)
    measured: Measured = field(
        default_factory=lambda: MappingProxyType({}), repr=False, compare=False
    )
    _joint: dict[tuple[End, End], Joint] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _listing: dict[tuple[str, bool], tuple[Stream, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __repr__(self) -> str:
        """The streams with some of their labels; the statistics would fill pages."""
        streams = [f"{name} ({_few(stream.labels)})" for name, stream in self.streams.items()]
        return f"<Catalog of {_few(streams, separator='; ')}>"

    def joint_of(self, left: End, right: End) -> Joint | None:
        """The joint statistics of two ends, in either order; None if unknown."""
        if self.joint and not self._joint:
            for joint in self.joint:
                self._joint[joint.left, joint.right] = self._joint[joint.right, joint.left] = joint
        return self._joint.get((left, right))

    def streams_of(self, label: str, *, vertices: bool = False) -> tuple[Stream, ...]:
        """The streams in which ``label`` of edges, or of ``vertices``, may occur, in the order of
        their names.

        Streams that list the label win over streams with open labels.
        """
        if not self._listing:
            # Build the index on first use: there may be very many labels or streams.
            by_label: dict[tuple[str, bool], list[Stream]] = {}
            for _, stream in sorted(self.streams.items()):
                for listed_label in stream.labels:
                    by_label.setdefault((listed_label, stream.vertices), []).append(stream)
            self._listing.update({key: tuple(streams) for key, streams in by_label.items()})
        if listed := self._listing.get((label, vertices)):
            return listed
        named = (self.streams[name] for name in sorted(self.streams))
        return tuple(s for s in named if s.vertices == vertices and s.open_labels)


def _few(names: Collection[str], *, separator: str = ", ", most: int = 6) -> str:
    """The first names of many, and how many more there are."""
    more = len(names) - most
    shown = separator.join(list(names)[:most])
    return f"{shown} and {more} more" if more > 0 else shown

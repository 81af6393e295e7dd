"""The catalog that a query is planned with: declared, measured, or assumed.

In: a request and its query. Out: a catalog with statistics of every stream that the query reads,
and warnings about the input. Planning opens a stream if the stream has a label of the query. It
opens a stream with labels only in its rows if no other stream has some label of the query. Both the
number of sampled rows and the sampling time are bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from ..algebra.deadline import Deadline
from ..catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED, DEFAULT_STREAM, default_catalog
from ..catalog.layout_hints import Origin, setting
from ..catalog.model import Catalog, LabelStatistics, Stream
from ..languages.query.regular_query import RegularQuery
from ..languages.translation.labels_read import (
    Reads,
    input_labels,
    orders_vertices,
    reads,
    vertex_labels,
)
from .errors import UsageError
from .kept_figures import with_kept_figures
from .requests import PlanRequest

if TYPE_CHECKING:
    from ..catalog import Measurement
    from ..catalog.joint import Ends

T = TypeVar("T")
MEASURING = 0.5
"""The part of a request's time limit for measuring its streams, from 0 to 1."""
SAMPLING_SECONDS = 20.0
"""The longest time to sample the rows of a stream, in seconds."""
LONGEST_SECONDS = 60.0
"""Planning fails after this time without a result of sampling, in seconds."""
_POLL_SECONDS = 0.05


def time_unit_of(request: PlanRequest) -> str:
    """Returns the time unit of a request's catalog, or of its inputs."""
    if request.catalog is not None:
        return request.catalog.time_unit
    return request.inputs[0].time_unit if request.inputs else request.time_unit


def catalog_of(
    request: PlanRequest, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """Returns the catalog to plan with, and warnings about the input.

    Raises:
        UsageError: if a stream of the query cannot be read.
        OutOfTimeError: if the time limit passes before a row of a stream is read.
    """
    if request.catalog is not None:
        catalog, doubts = with_kept_figures(request.catalog, request.options)
        catalog, more_doubts = _with_statistics(catalog, query, deadline)
        return catalog, (*doubts, *more_doubts)
    if not request.inputs and not request.stored:
        return _assumed_catalog(request, query, input_labels(query)), ()
    return _of_inputs(request, query, deadline)


def _assumed_catalog(request: PlanRequest, query: RegularQuery, labels: Iterable[str]) -> Catalog:
    streams = [clause.stream for clause in query.windows if clause.stream is not None]
    catalog = default_catalog(labels, streams, vertex_labels(query))
    typed = {n: replace(s, vertex_type=request.vertex_type) for n, s in catalog.streams.items()}
    return replace(catalog, streams=typed, time_unit=time_unit_of(request))


def _of_inputs(
    request: PlanRequest, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """Measures the input files of a request without a catalog."""
    from ..catalog import measured_catalog
    from ..catalog.schema_inference import files_with_times

    labels = input_labels(query)
    wanted = {*labels, *vertex_labels(query)}
    (catalog, measurements), timed = _in_time(
        "",
        deadline,
        lambda enough: (
            measured_catalog(
                request.inputs,
                request.stored,
                labels=wanted,
                enough=enough,
                sample=request.options.sample,
            ),
            files_with_times(request.stored),
        ),
    )
    doubts = [
        f"{file.path}: the column ts is not read, since a stored graph is always valid"
        for file in timed
    ]
    described = [file.origin for file in (*request.inputs, *request.stored)]
    for measurement in measurements:
        doubts += doubts_of(measurement, query, origin=described[0])
    unseen = tuple(label for label in labels if not _has(catalog, label))
    if not request.inputs:
        assumed = _assumed_catalog(request, query, unseen)
        return replace(catalog, streams={**assumed.streams, **catalog.streams}), tuple(doubts)
    labelled = all(file.label is not None for file in request.inputs)
    any_label = bool(query.label_sets) and not labelled
    whole = measurements[0].complete and not (any_label and measurements[0].more_labels)
    if whole or not (unseen or any_label):
        # The sample has every label of the input.
        named = {n: replace(s, open_labels=False) for n, s in catalog.streams.items()}
        return replace(catalog, streams=named), tuple(doubts)
    # The input may have labels that the sample does not show.
    open_stream = replace(catalog.streams[DEFAULT_STREAM], open_labels=True)
    if unseen:
        doubts.append(f"not among the first {measurements[0].rows:,} edges: {', '.join(unseen)}")
    open_streams = {**catalog.streams, DEFAULT_STREAM: open_stream}
    return replace(catalog, streams=open_streams), tuple(doubts)


def doubts_of(measurement: Measurement, query: RegularQuery, *, origin: Origin) -> list[str]:
    """Returns warnings about the measured files of a query.

    ``origin`` is what describes the files.
    """
    doubts = list(measurement.warnings)
    if measurement.numeric and orders_vertices(query):
        integers = setting(origin, "vertex_type", "integer")
        doubts.append(
            "the query orders vertices as text, but all sampled vertices are whole numbers: "
            f"10 comes before 9; for numeric order set {integers}"
        )
    if measurement.rejected and not measurement.rows:
        first = measurement.rejected[0]
        doubts.append(f"no sampled row is an edge; the first row: {first}")
    return doubts


def _has(catalog: Catalog, label: str) -> bool:
    """Returns whether a stream has an edge label, perhaps written ``stream.label``."""
    return any(_of(stream, label) in stream.labels for stream in _of_edges(catalog))


def _of_edges(catalog: Catalog) -> list[Stream]:
    return [stream for stream in catalog.streams.values() if not stream.vertices]


def _of(stream: Stream, label: str) -> str:
    """Returns a label without the prefix ``stream.``, unless the stream has it with the prefix."""
    if label in stream.labels:
        return label
    return label.removeprefix(f"{stream.name}.")


def _with_statistics(
    catalog: Catalog, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """Adds statistics to the streams of a catalog that declare none.

    The files that the query reads are measured. Live sources get default statistics.
    """
    catalog = replace(catalog, streams={n: _of_live(s) for n, s in catalog.streams.items()})
    unknown = [stream for stream in catalog.streams.values() if _to_measure(stream)]
    if not unknown:
        return catalog, ()
    read = reads(query, catalog)
    measuring = _Measuring(query, catalog, read, deadline, any_label=bool(read.any_label))
    for stream in unknown:
        fixed = _fixed_labels(stream)
        if _is_named(stream, read) or (fixed and fixed & _wanted(stream, read)):
            measuring.measure(stream)
        elif fixed:
            assumed = DEFAULT_STORED if stream.stored else DEFAULT_STATISTICS
            measuring.declare(stream, dict.fromkeys(sorted(fixed), assumed))
        else:
            measuring.possible.append(stream)
    measuring.find_missing_labels()
    measuring.compare_ends()
    return measuring.catalog, tuple(measuring.doubts)


def _to_measure(stream: Stream) -> bool:
    return stream.source is not None and not stream.labels and not stream.live


def _of_live(stream: Stream) -> Stream:
    """Gives a live stream without declared statistics the default ones."""
    if not stream.live or stream.labels:
        return stream
    if stream.label is None:
        return replace(stream, open_labels=True)
    return replace(stream, labels={stream.label: DEFAULT_STATISTICS})


def _fixed_labels(stream: Stream) -> frozenset[str] | None:
    """Returns the labels of a stream; None if the catalog does not declare all of them."""
    assert stream.source is not None
    if stream.label is not None:
        return frozenset({stream.label, *stream.source.path_labels.values()})
    if stream.source.path and all(p in stream.source.path_labels for p in stream.source.path):
        return frozenset(stream.source.path_labels.values())
    return None


def _wanted(stream: Stream, read: Reads) -> frozenset[str]:
    """Returns the labels that a query may read from a stream."""
    labels = read.vertices if stream.vertices else read.labels
    return frozenset(_of(stream, label) for label in labels)


def _is_named(stream: Stream, read: Reads) -> bool:
    """Returns whether a query reads a stream regardless of the stream's labels."""
    if stream.vertices and read.properties & stream.properties.keys():
        return True
    if not stream.vertices and {None, stream.name} & read.any_label:
        return True
    labels = read.vertices if stream.vertices else read.labels
    qualified = any(label.startswith(f"{stream.name}.") for label in labels)
    return stream.name in read.streams or qualified


@dataclass(slots=True)
class _Measuring:
    """A catalog while its streams are measured.

    Attributes:
        query: the query.
        catalog: the catalog with the statistics measured so far.
        read: the labels, properties and streams that the query reads.
        deadline: the deadline of the request.
        any_label: whether the query reads edges of any label.
        possible: the streams without known labels, to be opened only for missing labels.
        doubts: warnings about the measured streams.
        ends: the sketches of the ends of each measured stream.
    """

    query: RegularQuery
    catalog: Catalog
    read: Reads
    deadline: Deadline
    any_label: bool
    possible: list[Stream] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    ends: dict[str, Ends] = field(default_factory=dict)

    def declare(self, stream: Stream, labels: dict[str, LabelStatistics]) -> None:
        """Sets the labels of a stream."""
        self._put(replace(stream, labels=labels))

    def measure(self, stream: Stream) -> None:
        """Measures a stream.

        Raises:
            UsageError: if the stream cannot be read.
        """
        from ..catalog import files_of_stream, measure_files

        measurement = _in_time(
            f"stream {stream.name}",
            self.deadline,
            lambda enough: measure_files(
                files_of_stream(stream, self.catalog.time_unit),
                labels=_wanted(stream, self.read),
                enough=enough,
            ),
        )
        whole = measurement.complete and not measurement.more_labels
        complete = whole or _fixed_labels(stream) is not None
        open_labels = stream.open_labels or (self.any_label and not complete)
        self._put(replace(stream, labels=measurement.statistics, open_labels=open_labels))
        self.ends[stream.name] = measurement.ends
        if measurement.sample is not None:
            samples = {**self.catalog.samples, stream.name: measurement.sample}
            self.catalog = replace(self.catalog, samples=samples)
        self.doubts += doubts_of(measurement, self.query, origin="catalog")

    def compare_ends(self) -> None:
        """Adds the joint statistics of the measured streams to those of the catalog."""
        if not self.ends:
            return
        from ..catalog.joint import joint_of

        measured = joint_of([self.catalog.streams[name] for name in self.ends], self.ends)
        self.catalog = replace(self.catalog, joint=(*self.catalog.joint, *measured))

    def find_missing_labels(self) -> None:
        """Measures the streams that may have a label of the query that no other stream has.

        Raises:
            UsageError: if a stream cannot be read, and no other stream has the missing label.
        """
        # Choose all streams first: a label of several streams is ambiguous in any order.
        candidates = [stream for stream in self.possible if self._missing(stream)]
        failed: list[tuple[Stream, UsageError]] = []
        for stream in candidates:
            try:
                self.measure(stream)
            except UsageError as error:
                failed.append((stream, error))
        for stream, reason in failed:
            missing = self._missing(stream)
            if missing:
                raise UsageError(
                    reason.message,
                    code=reason.code,
                    hint=f"no other stream has {', '.join(missing)}, which the query reads; "
                    "to plan without opening this stream, declare its labels in the catalog",
                )
            self.doubts.append(f"{reason.message} (planning looked for labels of the query there)")

    def _missing(self, like: Stream) -> Sequence[str]:
        """Returns the missing labels of the query, of vertices if ``like`` has vertices."""
        wanted = self.read.vertices if like.vertices else self.read.labels
        streams = [s for s in self.catalog.streams.values() if s.vertices == like.vertices]
        constructed = self._constructed() if not like.vertices else frozenset()
        return [
            label
            for label in sorted(wanted - constructed)
            if not any(_of(stream, label) in stream.labels for stream in streams)
        ]

    def _constructed(self) -> frozenset[str]:
        """Returns the labels that views construct."""
        from ..languages.translation.views import queries_of_views

        return frozenset(
            name
            for view, (labels, _) in queries_of_views(self.catalog)
            for label in labels
            for name in (label, f"{view}.{label}")
        )

    def _put(self, stream: Stream) -> None:
        streams = {**self.catalog.streams, stream.name: stream}
        self.catalog = replace(self.catalog, streams=streams)


def _in_time(what: str, deadline: Deadline, work: Callable[[Callable[[], bool]], T]) -> T:
    """Runs ``work`` in a thread within the time of the request, and returns its result.

    A thread that waits for a file system cannot be ended: after the time limit it is abandoned.

    Args:
        what: the name of the work in messages.
        deadline: the deadline of the request.
        work: the work; its argument returns whether sampling has to stop now.

    Raises:
        UsageError: if the work fails, or takes longer than :data:`LONGEST_SECONDS`.
        OutOfTimeError: if the time limit of the request passes first.
    """
    from ..catalog import EdgeFileError

    where = f"{what}: " if what else ""
    begun = monotonic()
    results: list[T] = []
    errors: list[BaseException] = []

    def has_enough() -> bool:
        return monotonic() - begun > SAMPLING_SECONDS or deadline.passed(MEASURING) is not None

    def run_work() -> None:
        try:
            results.append(work(has_enough))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run_work, name=f"measuring {what}", daemon=True)
    thread.start()
    while thread.is_alive() and monotonic() - begun < LONGEST_SECONDS:
        deadline.check("statistics were measured")
        thread.join(_POLL_SECONDS)
    if results:
        return results[0]
    if not errors:
        raise UsageError(
            f"{where}its files could not be read within {LONGEST_SECONDS:.0f} s",
            code="E-FILE",
            hint="check that the file system answers; planning does not read streams with labels "
            "declared in the catalog",
        )
    if isinstance(errors[0], EdgeFileError):
        raise UsageError(f"{where}{errors[0]}", code="E-FILE") from errors[0]
    raise errors[0]
